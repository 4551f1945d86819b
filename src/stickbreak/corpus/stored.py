"""Folders of plain arrays and JSON lines: what every folder of a collection is made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stickbreak.corpus.files import reading
from stickbreak.exceptions import ReadError

__all__ = ["open_array", "read_meta", "read_strings", "write_strings"]


def read_meta(folder: Path, name: str, fields: Sequence[str], *, what: str, version: int) -> dict[str, Any]:
    """Read the JSON file of a folder and check that it is one of ours.

    Parameters
    ----------
    folder : Path
        The folder.
    name : str
        Its JSON file.
    fields : sequence of str
        Numbers that the file must hold.
    what : str
        What the folder holds: "corpus", "vectors".
    version : int
        The newest version that can be read.

    Returns
    -------
    dict
        The fields, as int, and the rest.

    Raises
    ------
    ReadError
        When it is no such folder, of a newer version or damaged.
    """
    file = folder / name
    if folder.is_dir() and not file.exists():
        raise ReadError(f"{folder} is no {what} folder: it has no {name}; name one made by write_{what}")
    with reading(folder if not folder.exists() else file):
        content = file.read_bytes()
    try:
        meta: dict[str, Any] = json.loads(content)
        kind, found = meta["kind"], meta["version"]
        for field in fields:
            meta[field] = int(meta[field])
        if not isinstance(found, int):
            raise TypeError(f"its version is {found!r}")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ReadError(f"{file} is damaged ({error}); write the {what} anew") from error
    wanted = f"stickbreak {what}"
    if kind != wanted or found > version:
        raise ReadError(
            f"{file} is of kind {kind!r}, version {found}; this stickbreak reads {wanted!r} up to version {version}"
        )
    return meta


def open_array(file: Path, what: str) -> np.ndarray:
    """Open an array memory-mapped; `what` says in a message what must be written anew."""
    with reading(file):
        try:
            try:
                return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
            except ValueError:  # an array of no entries cannot be mapped
                return np.asarray(np.load(file, allow_pickle=False))
        except (ValueError, EOFError) as error:
            raise ReadError(f"{file} is damaged ({error}); write the {what} anew") from error


def write_strings(file: Path, strings: Sequence[str] | None) -> None:
    """Write a JSON string on each line; None writes no file."""
    if strings is None:
        return
    with open(file, "wb") as handle:
        for string in strings:
            handle.write(_json_line(string))


def _json_line(string: str) -> bytes:
    try:
        return json.dumps(string, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which no UTF-8 can hold: escaped
        return json.dumps(string).encode() + b"\n"


def read_strings(file: Path, expected: int, what: str) -> tuple[str, ...]:
    """Read what `write_strings` wrote."""
    with reading(file), open(file, "rb") as handle:
        try:
            strings = tuple(json.loads(line) for line in handle)
        except (ValueError, RecursionError) as error:
            raise ReadError(f"{file} is damaged ({error}); write the {what} anew") from error
    for number, string in enumerate(strings, start=1):
        if not isinstance(string, str):
            raise ReadError(f"{file}, line {number} is damaged: it holds no string; write the {what} anew")
    if len(strings) != expected:
        raise ReadError(f"{file} is damaged: {len(strings)} lines instead of {expected}; write the {what} anew")
    return strings
