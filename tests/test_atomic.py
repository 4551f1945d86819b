import errno
import os

import pytest

from stickbreak.atomic import replace_file, replace_folder
from stickbreak.exceptions import WriteError


def write_file_and_raise(path, error):
    with replace_file(path) as temporary:
        temporary.write_text("half")
        raise error


def test_file_appears_complete(tmp_path):
    with replace_file(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        assert not (tmp_path / "a.txt").exists()
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_failed_file_leaves_the_old_one_and_nothing_else(tmp_path, failure):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(failure):
        write_file_and_raise(tmp_path / "a.txt", failure())
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_full_disk_is_a_write_error(tmp_path):
    with pytest.raises(WriteError, match="the disk is full"):
        write_file_and_raise(tmp_path / "a.txt", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert os.listdir(tmp_path) == []


def test_partial_write_without_a_number_is_a_write_error(tmp_path):
    with pytest.raises(WriteError, match="disk is probably full"):
        write_file_and_raise(tmp_path / "a.txt", OSError("353160 requested and 65504 written"))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("replace", [replace_file, replace_folder])
def test_missing_parent_is_a_write_error(tmp_path, replace):
    with (
        pytest.raises(WriteError, match="parent folder does not exist"),
        replace(tmp_path / "no" / "a") as temporary,
    ):
        temporary.write_text("never")


def test_file_does_not_replace_a_folder(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(WriteError, match="it is a folder"), replace_file(tmp_path / "a"):
        pass
    assert os.listdir(tmp_path) == ["a"]


def test_folder_appears_complete(tmp_path):
    with replace_folder(tmp_path / "m") as temporary:
        (temporary / "inner").mkdir()
        (temporary / "inner" / "x").write_text("1")
        assert not (tmp_path / "m").exists()
    assert os.listdir(tmp_path) == ["m"]
    assert (tmp_path / "m" / "inner" / "x").read_text() == "1"


def test_folder_refuses_an_existing_one(tmp_path):
    (tmp_path / "m").mkdir()
    with pytest.raises(WriteError, match="already exists"), replace_folder(tmp_path / "m"):
        pass
    assert os.listdir(tmp_path) == ["m"]


def test_folder_that_appears_meanwhile_is_not_lost(tmp_path):
    def write_while_another_does():
        with replace_folder(tmp_path / "m"):
            (tmp_path / "m").mkdir()
            (tmp_path / "m" / "theirs").write_text("1")

    with pytest.raises(WriteError, match="already exists"):
        write_while_another_does()
    assert os.listdir(tmp_path) == ["m"]
    assert os.listdir(tmp_path / "m") == ["theirs"]


def test_overwritten_folder_is_replaced_whole(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "old").write_text("1")
    with replace_folder(tmp_path / "m", overwrite=True) as temporary:
        (temporary / "new").write_text("2")
        assert os.listdir(tmp_path / "m") == ["old"]
    assert os.listdir(tmp_path) == ["m"]
    assert os.listdir(tmp_path / "m") == ["new"]


def test_failed_folder_leaves_the_old_one_and_nothing_else(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "old").write_text("1")

    def write_until_interrupted():
        with replace_folder(tmp_path / "m", overwrite=True) as temporary:
            (temporary / "new").write_text("2")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_until_interrupted()
    assert os.listdir(tmp_path) == ["m"]
    assert os.listdir(tmp_path / "m") == ["old"]


def test_old_folder_comes_back_when_the_last_rename_fails(tmp_path, monkeypatch):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "old").write_text("1")
    rename, calls = os.rename, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == 2:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(WriteError, match="permission denied"), replace_folder(tmp_path / "m", overwrite=True):
        pass
    assert os.listdir(tmp_path) == ["m"]
    assert os.listdir(tmp_path / "m") == ["old"]
