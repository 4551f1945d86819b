"""What a writer that was killed leaves behind goes with the next write; what another needs stays."""

import errno
import multiprocessing
import os
import signal
import sys
import warnings

import pytest

from stickbreak.exceptions import WriteError
from stickbreak.storage import atomic, locks
from stickbreak.storage.atomic import clear_up, replace_file, replace_folder

from .writing import content, write

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks a process that uses locks")
FORK = multiprocessing.get_context("fork") if sys.platform != "win32" else None


def in_child(work, *given):
    """Run a function in a process of its own; return how it ended."""
    child = FORK.Process(target=work, args=given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that threads of ours may have locks: it only writes files
        child.start()
    child.join(60)
    return child.exitcode


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def write_and_die(path, kind, *, exchange=True):
    """Write, and be killed in the middle, or (without exchange) after the old one was set aside."""
    if not exchange:
        rename = os.rename
        atomic._exchange = lambda one, other: False

        def renamed(source, target):
            rename(source, target)
            die()

        os.rename = renamed
    if kind == "file":
        with replace_file(path) as temporary:
            temporary.write_text("half")
            die()
    with replace_folder(path, overwrite=True) as temporary:
        (temporary / "x").write_text("new")
        if exchange:
            die()


@linux
@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize(
    "name", ["m", "m" * 255, "\u4e00" * 85, os.fsdecode(b"\xff\xfe")], ids=["short", "long", "wide", "not UTF-8"]
)
def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path, kind, name):
    target = tmp_path / name
    write(target, kind)
    assert in_child(write_and_die, target, kind) == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2, "the kill left nothing, so nothing is tested"
    (tmp_path / ".mm.0123abcd.tmp").mkdir()  # of another target
    write(target, kind)
    assert sorted(os.listdir(tmp_path)) == sorted([name, ".mm.0123abcd.tmp"])
    assert content(target) == "whole"


@linux
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_living_writer_has_begun_is_left_alone(tmp_path, kind):
    target = tmp_path / "m"
    write(target, kind)
    replace = replace_file(target) if kind == "file" else replace_folder(target, overwrite=True)
    with replace as temporary:
        (temporary if kind == "file" else temporary / "x").write_text("of the first")
        assert in_child(write, target, kind) == 0
        assert content(target) == "whole"
        write(target, kind)  # a second one of the same process
        assert temporary.exists()
    assert content(target) == "of the first"
    assert os.listdir(tmp_path) == ["m"]


@linux
def test_kill_between_the_two_renames_loses_nothing(tmp_path):
    """Where two folders cannot be exchanged in one step."""
    target = tmp_path / "m"
    for repair in (clear_up, lambda path: write(path, "folder")):
        write(target, "folder")
        assert in_child(lambda: write_and_die(target, "folder", exchange=False)) == -signal.SIGKILL
        assert not target.exists(), "the kill came too late to be a test"
        repair(target)
        assert content(target) == "whole"
        assert os.listdir(tmp_path) == ["m"]


def test_what_was_set_aside_stays_if_it_cannot_be_brought_back(tmp_path, monkeypatch, without_exchange):
    target, rename, calls = tmp_path / "m", os.rename, []
    write(target, "folder")

    def failing(source, goal):
        calls.append(goal)
        if len(calls) > 1:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        rename(source, goal)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", failing)
        with pytest.raises(WriteError, match="permission denied"):
            write(target, "folder")
    assert not target.exists()
    clear_up(target)
    assert content(target) == "whole"
    assert os.listdir(tmp_path) == ["m"]


@linux
def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    assert in_child(write_and_die, tmp_path / "m", "folder") == -signal.SIGKILL
    left = os.listdir(tmp_path)

    def refused(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(locks.fcntl, "flock", refused)
    write(tmp_path / "m", "folder")
    assert sorted(os.listdir(tmp_path)) == sorted([*left, "m"])
