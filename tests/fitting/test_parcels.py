"""Parcels: what is large travels in a file, and arrives as it was."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stickbreak.exceptions import WriteError
from stickbreak.fitting import block_files
from stickbreak.fitting.parcels import LARGE, Parcel, Unseen

WIDE = np.arange(LARGE, dtype=np.float64).reshape(256, -1)
THING: dict[str, Any] = {
    "rows": WIDE,
    "columns": np.asfortranarray(WIDE),
    "part": WIDE[::3, 1:],
    "none": np.zeros((0, 5)),
    "name": "a name",
    "odd": np.arange(7, dtype=np.uint8),
    "last": np.zeros(0, np.int32),
}


def same(found: dict[str, Any]) -> bool:
    return all(np.array_equal(found[name], thing) for name, thing in THING.items())


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("machine", ["this", "another"])
def test_a_large_parcel_arrives_as_it_was(tmp_path: Path, machine: str, lasting: bool) -> None:
    path = tmp_path / "parcel"
    parcel = Parcel.of(THING, str(path))
    assert not parcel.content
    assert parcel.size <= path.stat().st_size < parcel.size + 64 * len(THING)
    if machine == "another":
        parcel = dataclasses.replace(parcel, machine="another")
    first, second = parcel.opened(lasting=lasting), parcel.opened(lasting=lasting)
    path.unlink()
    assert same(first)
    assert all(first[name].ctypes.data % 64 == 0 for name in ("rows", "columns", "odd"))
    for name in ("rows", "columns", "odd"):
        first[name] += 1  # kernels are compiled for arrays that can be written into
    assert same(second)


def test_a_small_parcel_has_no_file(tmp_path: Path) -> None:
    small = {"few": np.arange(10)}
    for parcel in (Parcel.of(small, str(tmp_path / "parcel")), Parcel.of(THING)):
        assert parcel.size == len(parcel.content)
    np.testing.assert_array_equal(Parcel.of(small, str(tmp_path / "parcel")).opened()["few"], small["few"])
    assert same(Parcel.of(THING).opened())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("machine", ["this", "another"])
def test_a_file_that_is_not_all_there_is_not_seen(tmp_path: Path, machine: str) -> None:
    path = tmp_path / "parcel"
    parcel = Parcel.of(THING, str(path))
    if machine == "another":
        parcel = dataclasses.replace(parcel, machine="another")
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(Unseen):
        parcel.opened()
    path.unlink()
    with pytest.raises(Unseen):
        parcel.opened()


def test_a_full_disk_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(block_files.os, "replace", full)
    with pytest.raises(WriteError, match="disk is full"):
        Parcel.of(THING, str(tmp_path / "parcel"))
    assert not list(tmp_path.iterdir())
