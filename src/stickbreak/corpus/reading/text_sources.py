"""Texts without fields: a document on each line, or a file for each document."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stickbreak.corpus.reading.decoding import checked_encoding, encoding_of, line_end_of
from stickbreak.corpus.reading.files import decoded_file, reading, start_of
from stickbreak.corpus.reading.foreign import binary_kind
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.lines import Span, decoded_lines
from stickbreak.corpus.reading.records import Records
from stickbreak.exceptions import ReadError
from stickbreak.storage.urls import Location, UrlPath

__all__ = ["folder_records", "line_records", "text_files"]

_NO_FIELDS: Mapping[str, object] = {}
_log = logging.getLogger(__name__)
_OWN = (("model.json", "arrays.safetensors"), ("corpus.json", "indptr.npy"), ("vectors.json", "values.npy"))
_PARQUET = (".parquet", ".pq")


def line_records(
    path: Location, encoding: str, limits: ReadLimits = DEFAULT_LIMITS, span: Span | None = None
) -> Records:
    """Read a text file of one document a line; an empty line is an empty document.

    Parameters
    ----------
    path : Location
        The file, perhaps gzipped.
    encoding : str
        Of the file.
    limits : ReadLimits
        How long a line may be.
    span : Span, optional
        The lines to read.

    Yields
    ------
    tuple of (None, str, mapping)
    """
    for line in decoded_lines(path, encoding, limits, span):
        yield None, line, _NO_FIELDS


def folder_records(
    path: Location, encoding: str, limits: ReadLimits = DEFAULT_LIMITS, names: Sequence[str] | None = None
) -> Records:
    """Read a folder of text files, one document each, with all folders in it.

    Parameters
    ----------
    path : Location
        The folder. Hidden files and folders are left out, and so are folders that stickbreak wrote (models,
        checkpoints, corpora, vectors; the log names them) and binary files: those that are told by their content
        (images, PDF, office files) or hold a zero byte in their first 8 KB (UTF-16 with a byte order mark is
        text). Files that are named *.txt are never left out.
    encoding : str
        Of the files.
    limits : ReadLimits
        How long a file may be.
    names : sequence of str, optional
        Some of the `text_files` of the folder, of which none need hold text.

    Yields
    ------
    tuple of (str, str, mapping)
        The name is the path inside the folder, with slashes; documents come in the order of these names.

    Raises
    ------
    ReadError
        If there is no text file, or one is not in this encoding.
    """
    found, left_out = names is not None, ""
    for name in text_files(path) if names is None else names:
        file = path / name
        if not name.lower().endswith((".txt", ".txt.gz")):
            start = start_of(file, 8192)
            foreign = binary_kind(file, start)
            if foreign is not None or _is_binary(start, encoding):
                left_out = left_out or (f"; {name} is {foreign}" if foreign else "")
                continue
        found = True
        yield name, decoded_file(file, encoding, limits), _NO_FIELDS
    if not found:
        raise ReadError(f"{path} holds no text files; name a folder with one file for each document{left_out}")


def text_files(path: Location) -> list[str]:
    """Return the files of a folder and of all folders in it, as paths inside it; hidden ones are left out.

    Parameters
    ----------
    path : Location
        The folder.

    Raises
    ------
    ReadError
        If it is a folder of Parquet files.
    """
    names = sorted(_files_below(path))
    own = _own_folders(names)
    if own:
        names = [name for name in names if not name.startswith(own)]
        _log.warning("%s holds what stickbreak has written (%s), which is not read as text", path, ", ".join(own))
    _refuse_parquet(path, names)
    return names


def _own_folders(names: list[str]) -> tuple[str, ...]:
    """Return the folders of models, checkpoints, corpora and vectors, each with a slash at its end."""
    known = set(names)
    found = ((name.removesuffix(mark), other) for name in names for mark, other in _OWN if name.endswith(f"/{mark}"))
    return tuple(folder for folder, other in found if folder + other in known)


def _is_binary(start: bytes, encoding: str) -> bool:
    if b"\0" not in start:
        return False
    try:
        encoding = encoding_of(start, checked_encoding(encoding), "")
    except ReadError:  # without a byte order mark
        return True
    return line_end_of(encoding) == b"\n"


def _refuse_parquet(path: Location, names: list[str]) -> None:
    """Refuse a data set of Parquet parts, whose only other files are notes of its writer (_SUCCESS)."""
    parts = [name for name in names if name.lower().endswith(_PARQUET)]
    others = [
        name for name in names if not name.lower().endswith(_PARQUET) and not os.path.basename(name).startswith("_")
    ]
    if parts and not others:
        raise ReadError(
            f"{path} is a folder of {len(parts)} Parquet files; name one of them ({parts[0]}), or "
            "write them as one file"
        )


def _files_below(path: Location) -> Iterator[str]:
    with reading(path):
        if isinstance(path, UrlPath):
            inside = (name for name, is_file in path.below() if is_file)
            yield from (name for name in inside if not any(part.startswith(".") for part in name.split("/")))
            return
        for folder, folders, files in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                file = Path(folder, name)
                if not name.startswith(".") and file.is_file():
                    yield file.relative_to(path).as_posix()
