"""The files that were meant: names, patterns of names, folders of files."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stickbreak.corpus.arguments import checked_location
from stickbreak.corpus.reading.files import reading
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.urls import Location, UrlPath

__all__ = ["files_of"]

_ENDINGS = frozenset((".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".parquet", ".pq"))
_PATTERN = "*?["


def files_of(inputs: Any) -> list[Location]:
    """Return the files and folders of texts that were asked for, each once.

    Parameters
    ----------
    inputs : path-like or sequence of path-like
        Files; patterns such as "part-*.jsonl.gz" (** stands for any folders); folders; or URLs of these. A folder of
        which every file is a collection (JSON lines, CSV, TSV, Parquet) stands for its files; any other is one
        collection of a file for each document.

    Returns
    -------
    list of Path or UrlPath
        Absolute paths: what was asked for in its order, files of a pattern or folder by their names.

    Raises
    ------
    InputError
        If one of them is not a path, or there is none.
    ReadError
        If there is no such file.
    """
    given: Sequence[Any] = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    asked = [checked_location(one, "count_files") for one in given]
    found = [file for one in asked for path in _matching(one) for file in _inside(path)]
    if not found:
        raise InputError("there is nothing to count; name at least one file")
    return list(dict.fromkeys(path.absolute() for path in found))


def _matching(path: Location) -> Sequence[Location]:
    """Return the files that a pattern matches; a file may also be named as a pattern is."""
    with reading(path):
        if path.exists() or not any(sign in str(path) for sign in _PATTERN):
            return [path]
        files: list[Location] = []
        files += path.matches() if isinstance(path, UrlPath) else map(Path, glob.glob(str(path), recursive=True))
    if not files:
        raise ReadError(f"no file matches {path}; check the pattern")
    return sorted(files, key=str)


def _inside(path: Location) -> Iterator[Location]:
    """Give the files of a folder of collections; else the path itself."""
    with reading(path):
        found = path.iterdir() if path.is_dir() else ()
        names = sorted((file for file in found if file.name[0] not in "._"), key=lambda file: file.name)
    if names and all(_is_collection(file) for file in names):
        yield from names
    else:
        yield path


def _is_collection(path: Location) -> bool:
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    return ending in _ENDINGS and path.is_file()
