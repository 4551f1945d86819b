"""Files and folders beside the saved ones: what is opened, what goes with its user, what leaves the memory."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from stickbreak.storage.persistence import read_folder, write_folder
from stickbreak.storage.plain_files import open_file, read_json, read_text, read_toml


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with a name there")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_are_refused_without_waiting(tmp_path, kind):
    path = tmp_path / "model.json"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(OSError, match="neither a file nor a folder"):
        open_file(path)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_json, "[" * 100_000),
        (read_json, "[" * 200 + "]" * 200),
        (read_toml, "a = " + "[" * 5000),
        (read_toml, ".".join("a" * 500) + " = 1"),
    ],
)
def test_deep_files_are_a_value_error(tmp_path, read, text):
    path = tmp_path / "options"
    path.write_text(text)
    with pytest.raises(ValueError, match="nested too deeply"):
        read(path)


def test_a_file_longer_than_memory_is_not_read(tmp_path):
    with open(tmp_path / "model.json", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match="longer than"):
        read_text(tmp_path / "model.json")


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
