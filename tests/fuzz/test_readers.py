"""Files changed by chance, and every file that once failed: read, or refused in one of our own sentences."""

from pathlib import Path

import pytest

BROKEN = Path(__file__).parents[1] / "data" / "broken"
FILES = sorted(folder.name for folder in BROKEN.iterdir() if folder.is_dir() and not (folder / "model").is_dir())


def test_files_changed_by_chance_are_read_or_refused(fuzz):
    code, printed = fuzz("readers", "--inputs", 800, "--seed", 0)
    assert code == 0, printed
    assert "readers, seed 0: 800 inputs" in printed


@pytest.mark.parametrize("name", FILES)
def test_file_that_once_failed_is_read_or_refused(broken, name):
    assert name in broken, f"{name} has no line of its own"
    assert not broken[name].startswith("FAILED"), broken[name]
