"""Files changed by chance, and every file that once failed: read, or refused in one of our own sentences."""

from pathlib import Path

import pytest

BROKEN = Path(__file__).parents[1] / "data" / "broken"
FILES = sorted(folder.name for folder in BROKEN.iterdir() if folder.is_dir() and not (folder / "model").is_dir())


def test_files_changed_by_chance_are_read_or_refused(fuzz):
    code, printed = fuzz("readers", "--inputs", 800, "--seed", 0, "--batch", 200)
    assert code == 0, printed
    assert "readers, seed 0: 800 inputs" in printed


@pytest.mark.parametrize("name", FILES)
def test_file_that_once_failed_is_read_or_refused(broken, name):
    assert name in broken, f"{name} has no line of its own"
    assert not broken[name].startswith("FAILED"), broken[name]


SAME = """
import hashlib, time
from fuzz.readers import Readers
readers = Readers(3)
made = [readers.make(number) for number in range(300)]
print(hashlib.sha256(repr(made).encode()).hexdigest(), readers.make(7) == made[7])
"""


def test_input_of_a_number_is_the_same_in_every_run(fresh_fuzz):
    first, second = fresh_fuzz(SAME), fresh_fuzz(SAME)
    assert first == second
    assert first.endswith("True")


def test_unknown_format_is_refused(fuzz):
    code, printed = fuzz("readers", "--inputs", 1, "--only", "no such format")
    assert code == 1
    assert "no format is called" in printed
