"""A folder of one user alone goes with it."""

import os
from pathlib import Path

import pytest

from stickbreak.exceptions import InputError, WriteError
from stickbreak.storage.places import place_of
from stickbreak.storage.temporary_folders import TemporaryFolder


def make(parent: Path, kind: str = "mine") -> TemporaryFolder:
    made = TemporaryFolder(parent, kind)
    Path(made.path, "content").write_text("1")
    return made


def test_a_folder_goes_with_its_user(tmp_path: Path) -> None:
    made = make(tmp_path / "deep")
    assert os.path.isabs(made.path)
    assert [str(folder) for folder in (tmp_path / "deep").iterdir()] == [made.path]
    del made
    assert not list((tmp_path / "deep").iterdir())


def test_a_place_where_nothing_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="file"):
        TemporaryFolder(tmp_path / "file", "mine")


def test_a_url_is_no_place_for_what_is_written() -> None:
    with pytest.raises(InputError, match=r"^s3://bucket/scratch is a URL, .* name a path"):
        place_of("s3://key:secret@bucket/scratch")
    with pytest.raises(InputError, match=r"^s3:/bucket/scratch is a URL, .* name a path"):
        place_of(Path("s3://key:secret@bucket/scratch"))
