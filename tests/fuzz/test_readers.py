"""Files changed by chance, and every file that once failed: read, or refused in one of our own sentences."""

import hashlib
import inspect
from pathlib import Path

import pytest
from fuzz.readers import Readers

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


def made():
    readers = Readers(3)
    inputs = [readers.make(number) for number in range(300)]
    return hashlib.sha256(repr(inputs).encode()).hexdigest(), readers.make(7) == inputs[7]


SAME = f"import hashlib\nfrom fuzz.readers import Readers\n{inspect.getsource(made)}\nprint(*made())"


def test_input_of_a_number_is_the_same_in_every_run(fresh_fuzz):
    found, again = made()
    assert again
    assert fresh_fuzz(SAME) == f"{found} True"


def test_unknown_format_is_refused(fuzz):
    code, printed = fuzz("readers", "--inputs", 1, "--only", "no such format")
    assert code == 1
    assert "no format is called" in printed
