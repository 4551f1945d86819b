import errno
import os
import signal
import sys
from pathlib import Path

import pytest

from stickbreak.exceptions import WriteError
from stickbreak.storage.atomic import bring_back, replace_file, replace_folder


def write(path, kind):
    if kind == "file":
        with replace_file(path) as temporary:
            temporary.write_text("whole")
    else:
        with replace_folder(path, overwrite=True) as temporary:
            (temporary / "x").write_text("whole")


def content(path):
    return (path / "x" if path.is_dir() else path).read_text()


def write_file_and_raise(path, error):
    with replace_file(path) as temporary:
        temporary.write_text("half")
        raise error


@pytest.mark.parametrize("lasting", [True, False])
def test_file_is_waited_for_unless_it_need_not_last(tmp_path, monkeypatch, lasting):
    waits = []
    monkeypatch.setattr(os, "fsync", waits.append)
    with replace_file(tmp_path / "a.txt", lasting=lasting) as temporary:
        temporary.write_text("new")
    assert bool(waits) == lasting
    assert (tmp_path / "a.txt").read_text() == "new"


def test_full_disk_is_a_write_error(tmp_path):
    with pytest.raises(WriteError, match="the disk is full"):
        write_file_and_raise(tmp_path / "a.txt", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert os.listdir(tmp_path) == []


def test_file_does_not_replace_a_folder(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(WriteError, match="it is a folder"), replace_file(tmp_path / "a"):
        pass
    assert os.listdir(tmp_path) == ["a"]


def test_folder_that_appears_meanwhile_is_not_lost(tmp_path):
    def write_while_another_does():
        with replace_folder(tmp_path / "m"):
            (tmp_path / "m").mkdir()
            (tmp_path / "m" / "theirs").write_text("1")

    with pytest.raises(WriteError, match="already exists"):
        write_while_another_does()
    assert os.listdir(tmp_path) == ["m"]
    assert os.listdir(tmp_path / "m") == ["theirs"]


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


unix = pytest.mark.skipif(sys.platform == "win32", reason="links as Unix has them")


@unix
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_symbolic_link_is_followed(tmp_path, kind):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "run3", tmp_path / "latest"
    link.symlink_to(Path("elsewhere") / "run3")
    for _ in range(2):  # a link that leads nowhere yet, then one to something
        write(link, kind)
        assert content(target) == "whole"
        assert link.is_symlink()
        assert os.listdir(tmp_path / "elsewhere") == ["run3"]
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "latest"]


def test_folder_that_appears_in_the_last_moment_is_replaced_or_refused(tmp_path, monkeypatch):
    target, rename, calls = tmp_path / "m", os.rename, []

    def overtaken(source, goal):
        if not calls:
            calls.append(goal)
            target.mkdir()
            (target / "theirs").write_text("1")
        rename(source, goal)

    monkeypatch.setattr(os, "rename", overtaken)
    with pytest.raises(WriteError, match="already exists"), replace_folder(target) as temporary:
        (temporary / "x").write_text("whole")
    assert os.listdir(target) == ["theirs"]
    (target / "theirs").unlink()
    target.rmdir()
    calls.clear()
    write(target, "folder")
    assert content(target) == "whole"
    assert os.listdir(tmp_path) == ["m"]


def refused(target):
    with pytest.raises(WriteError, match="already exists"), replace_folder(target):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process")
@pytest.mark.parametrize(
    "repair", [bring_back, lambda path: write(path, "folder"), refused], ids=["read", "write", "refuse"]
)
def test_kill_between_the_two_renames_loses_nothing(tmp_path, repair):
    target = tmp_path / "m"
    write(target, "folder")
    child = os.fork()
    if child == 0:
        rename = os.rename

        def killed(source, goal):
            rename(source, goal)
            os.kill(os.getpid(), signal.SIGKILL)

        os.rename = killed
        write(target, "folder")
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert not target.exists(), "the kill came too late to be a test"
    repair(target)
    assert content(target) == "whole"
    assert all(name.endswith(".tmp") for name in os.listdir(tmp_path) if name != "m")
