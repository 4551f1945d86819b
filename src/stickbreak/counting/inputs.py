"""The files that were meant: names, patterns of names, folders of files."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stickbreak.corpus.arguments import checked_path
from stickbreak.corpus.reading.files import reading
from stickbreak.exceptions import InputError, ReadError

__all__ = ["files_of"]

_ENDINGS = frozenset((".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".parquet", ".pq"))
_PATTERN = "*?["
_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def files_of(inputs: Any) -> list[Path]:
    """Return the files and folders of texts that were asked for, each once.

    Parameters
    ----------
    inputs : path-like or sequence of path-like
        Files; patterns such as "part-*.jsonl.gz" (** stands for any folders); folders. A folder of which every file is
        a collection (JSON lines, CSV, TSV, Parquet) stands for its files; any other is one collection of a file for
        each document.

    Returns
    -------
    list of Path
        Absolute paths: what was asked for in its order, files of a pattern or folder by their names.

    Raises
    ------
    InputError
        If one of them is not a path, or there is none.
    ReadError
        If there is no such file.
    """
    given: Sequence[Any] = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    for one in given:
        if isinstance(one, str) and _URL.match(one):
            raise InputError(f"{one!r:.100} is a URL; count_files reads files: mount the storage, or fetch them first")
    found = [file for one in given for path in _matching(checked_path(one, "count_files")) for file in _inside(path)]
    if not found:
        raise InputError("there is nothing to count; name at least one file")
    return list(dict.fromkeys(path.absolute() for path in found))


def _matching(path: Path) -> Iterator[Path]:
    """Give the files that a pattern matches; a file may also be named as a pattern is."""
    with reading(path):
        exists = path.exists()
    if exists or not any(sign in str(path) for sign in _PATTERN):
        yield path
        return
    names = sorted(glob.glob(str(path), recursive=True))
    if not names:
        raise ReadError(f"no file matches {path}; check the pattern")
    yield from map(Path, names)


def _inside(path: Path) -> Iterator[Path]:
    """Give the files of a folder of collections; else the path itself."""
    with reading(path):
        names = sorted(file for file in path.iterdir() if file.name[0] not in "._") if path.is_dir() else []
    if names and all(_is_collection(file) for file in names):
        yield from names
    else:
        yield path


def _is_collection(path: Path) -> bool:
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    return ending in _ENDINGS and path.is_file()
