"""What others name is opened only if it is a file, and JSON and TOML that are nested too deeply are refused."""

import os
import sys

import pytest

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
