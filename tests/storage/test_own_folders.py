"""A folder of one user alone goes with it; one whose user was killed goes with the next user, and no other does."""

import os
import shutil
from pathlib import Path

import pytest

from stickbreak.exceptions import InputError, WriteError
from stickbreak.storage import own_folders
from stickbreak.storage.own_folders import OwnFolder
from stickbreak.storage.places import place_of

from .test_killed_writers import die, in_child, linux


def make(parent: Path, kind: str = "mine") -> OwnFolder:
    made = OwnFolder(parent, kind)
    Path(made.path, "content").write_text("1")
    return made


def make_and_die(parent: Path) -> None:
    made = make(parent)
    Path(made.path, "of the dead").write_text("")
    die()


def test_a_folder_goes_with_its_user(tmp_path: Path) -> None:
    made = make(tmp_path / "deep")
    assert os.path.isabs(made.path)
    assert [str(folder) for folder in (tmp_path / "deep").iterdir()] == [made.path]
    del made
    assert not list((tmp_path / "deep").iterdir())


@linux
def test_a_folder_of_a_killed_process_goes_with_the_next_and_those_in_use_stay(tmp_path: Path) -> None:
    first = make(tmp_path)
    assert in_child(make_and_die, tmp_path) == -9
    assert len(list(tmp_path.glob("*/of the dead"))) == 1
    other = make(tmp_path, kind="another")
    assert len(list(tmp_path.glob("*/of the dead"))) == 1  # another kind
    second = make(tmp_path)
    assert sorted(map(str, tmp_path.iterdir())) == sorted([first.path, second.path, other.path])
    assert in_child(make, tmp_path) == 0  # also not from another process
    assert sorted(map(str, tmp_path.iterdir())) == sorted([first.path, second.path, other.path])


@linux
def test_folders_of_other_machines_and_of_nobody_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_folders.socket, "gethostname", lambda: "a-b")
    assert in_child(make_and_die, tmp_path) == -9
    (left,) = tmp_path.iterdir()
    (tmp_path / f"{left.name[:-8]}notes").mkdir()  # of the user
    monkeypatch.setattr(own_folders.socket, "gethostname", lambda: "a")
    make(tmp_path).close()
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.setattr(own_folders.socket, "gethostname", lambda: "a-b")
    make(tmp_path).close()
    assert [folder.name[-5:] for folder in tmp_path.iterdir()] == ["notes"]


def test_where_there_are_no_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_folders, "lock_folder", lambda folder: None)
    first, second = make(tmp_path), make(tmp_path)
    assert sorted(map(str, tmp_path.iterdir())) == sorted([first.path, second.path])


def test_a_folder_that_was_taken_for_abandoned_before_its_lock_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = [BlockingIOError(), FileNotFoundError()]
    lock = own_folders.lock_folder

    def taken_before(folder: Path) -> int | None:
        if taken:
            shutil.rmtree(folder)
            raise taken.pop()
        return lock(folder)

    monkeypatch.setattr(own_folders, "lock_folder", taken_before)
    made = make(tmp_path)
    assert [str(folder) for folder in tmp_path.iterdir()] == [made.path]


def test_a_place_where_nothing_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="file"):
        OwnFolder(tmp_path / "file", "mine")


def test_a_url_is_no_place_for_what_is_written() -> None:
    with pytest.raises(InputError, match=r"^s3://bucket/scratch is a URL, .* name a path"):
        place_of("s3://key:secret@bucket/scratch")
    with pytest.raises(InputError, match=r"^s3:/bucket/scratch is a URL, .* name a path"):
        place_of(Path("s3://key:secret@bucket/scratch"))
