import errno
import os

import pytest

from stickbreak import atomic
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


@pytest.fixture
def without_exchange(monkeypatch):
    monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)


@pytest.fixture
def with_exchange(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    able = atomic._exchange(tmp_path / "a", tmp_path / "b")
    for name in "ab":
        (tmp_path / name).rmdir()
    if not able:
        pytest.skip("this system cannot exchange two folders in one step")


@pytest.mark.parametrize("way", ["with_exchange", "without_exchange"])
def test_overwritten_folder_is_replaced_whole(tmp_path, way, request):
    request.getfixturevalue(way)
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


@pytest.mark.parametrize("way", ["with_exchange", "without_exchange"])
def test_overwritten_file_gives_way_to_a_folder(tmp_path, way, request):
    request.getfixturevalue(way)
    (tmp_path / "m").write_text("a file")
    with replace_folder(tmp_path / "m", overwrite=True) as temporary:
        (temporary / "new").write_text("2")
    assert os.listdir(tmp_path) == ["m"]
    assert os.listdir(tmp_path / "m") == ["new"]


def test_exchange_leaves_no_moment_without_the_folder(tmp_path, monkeypatch, with_exchange):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "old").write_text("1")

    def refused(*_):
        raise AssertionError("a rename would leave a moment without the folder")

    def killed(old):
        raise KeyboardInterrupt  # as early as something can go wrong after the exchange

    monkeypatch.setattr(os, "rename", refused)
    monkeypatch.setattr(atomic, "_remove", killed)
    with pytest.raises(KeyboardInterrupt), replace_folder(tmp_path / "m", overwrite=True) as temporary:
        (temporary / "new").write_text("2")
    assert os.listdir(tmp_path) == ["m"]
    assert os.listdir(tmp_path / "m") == ["new"]


def test_exchange_that_the_system_refuses_changes_nothing(tmp_path):
    (tmp_path / "a").mkdir()
    assert not atomic._exchange(tmp_path / "a", tmp_path / "missing")
    assert os.listdir(tmp_path) == ["a"]


def test_old_folder_comes_back_when_the_last_rename_fails(tmp_path, monkeypatch, without_exchange):
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
