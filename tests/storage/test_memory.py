"""Views of files do not stay in memory once they are written."""

import sys
from pathlib import Path

import numpy as np
import pytest

from stickbreak.storage.memory import give_back
from stickbreak.storage.persistence import read_folder, write_folder

SIZE = 1 << 23


def of_files() -> int:
    """Return the bytes of files that are in the memory of this process."""
    values = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(values["RssFile"].split()[0]) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much of the files is in memory")
def test_views_of_files_leave_the_memory_as_they_are_written(tmp_path):
    written = {f"part {i}": np.full(SIZE, i, np.uint8) for i in range(4)}
    for name, array in written.items():
        array.tofile(tmp_path / name)
    views = {name: np.memmap(tmp_path / name, np.uint8, "r") for name in written}
    before = of_files()
    write_folder(tmp_path / "all", kind="test", arrays=views, meta={})
    assert of_files() - before < 2 * SIZE
    found, _ = read_folder(tmp_path / "all", kind="test")
    assert all((found[name] == array).all() for name, array in written.items())
    assert all((views[name] == array).all() for name, array in written.items())  # they are read once more


def test_what_was_changed_in_memory_stays(tmp_path):
    write_folder(tmp_path / "one", kind="test", arrays={"x": np.zeros(5000)}, meta={})
    found, _ = read_folder(tmp_path / "one", kind="test", mapped=True)
    found["x"][:] = 1.0
    write_folder(tmp_path / "two", kind="test", arrays=found, meta={})
    assert found["x"].sum() == read_folder(tmp_path / "two", kind="test")[0]["x"].sum() == 5000


def test_giving_back_leaves_other_arrays_alone():
    array = np.arange(3)
    give_back(array)
    assert array.tolist() == [0, 1, 2]
