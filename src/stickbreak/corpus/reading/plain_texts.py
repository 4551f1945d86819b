"""Texts without fields: a document on each line, or a file for each document."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import numpy as np

from stickbreak.corpus.reading.blocks import Block, arrow_texts, named
from stickbreak.corpus.reading.decoding import Dirt, Span, decoded_file, encoding_of, is_wide, line_blocks
from stickbreak.corpus.reading.files import files_below, start_of, without_packing
from stickbreak.corpus.reading.formats import binary_kind
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.exceptions import ReadError
from stickbreak.storage.urls import Location

__all__ = ["folder_blocks", "line_texts", "text_files"]

_LOG = logging.getLogger("stickbreak")
_OWN = (("model.json", "arrays.safetensors"), ("corpus.json", "indptr.npy"), ("vectors.json", "values.npy"))
_ROWS, _BYTES = 1 << 10, 1 << 20  # files that are put together, and their bytes


def line_texts(
    path: Location, encoding: str, limits: ReadLimits, dirt: Dirt, span: Span | None = None
) -> Iterator[Block]:
    """Read a text file of one document a line; an empty line is an empty document."""
    import pyarrow as pa

    for _, lines in line_blocks(path, encoding, limits, dirt, span):
        content = np.frombuffer(lines, np.uint8)
        ends = np.flatnonzero(content == ord("\n")) + 1
        starts = np.concatenate([[0], ends if lines.endswith(b"\n") else [*ends, content.size]]).astype(np.int64)
        buffers = [None, pa.py_buffer(starts), pa.py_buffer(lines)]
        yield Block(pa.Array.from_buffers(pa.large_string(), starts.size - 1, buffers))


def folder_blocks(
    path: Location, encoding: str, limits: ReadLimits, dirt: Dirt, names: Sequence[str] | None = None
) -> Iterator[Block]:
    """Read a folder of text files, one document each, with all folders in it; a name is the path inside the folder.

    Hidden files and folders are left out, and so are folders that stickbreak wrote and binary files: those that are
    told by their content (images, PDF, office files) or hold a zero byte in their first 8 KB. Files that are named
    *.txt are never left out.

    Parameters
    ----------
    names : sequence of str, optional
        Some of the `text_files` of the folder, of which none need hold text.
    """
    found, left_out = names is not None, ""
    texts: list[str] = []
    paths: list[str] = []
    size = 0
    for name in text_files(path) if names is None else names:
        file = path / name
        if not without_packing(name).endswith(".txt"):
            start = start_of(file, 8192)
            foreign = binary_kind(file, start)
            if foreign is not None or _is_binary(start, encoding):
                left_out = left_out or (f"; {name} is {foreign}" if foreign else "")
                continue
        found = True
        texts.append(decoded_file(file, encoding, limits, dirt))
        paths.append(name)
        size += len(texts[-1])
        if len(texts) >= _ROWS or size >= _BYTES:
            yield Block(arrow_texts(texts), named(paths))
            texts, paths, size = [], [], 0
    if texts:
        yield Block(arrow_texts(texts), named(paths))
    if not found:
        raise ReadError(f"{path} holds no text files; name a folder with one file for each document{left_out}")


def text_files(path: Location) -> list[str]:
    """Return the files of a folder and of all folders in it, as paths inside it; hidden ones are left out."""
    names = sorted(files_below(path))
    own = _own_folders(names)
    if own:
        names = [name for name in names if not name.startswith(own)]
        _LOG.warning("%s holds what stickbreak has written (%s), which is not read as text", path, ", ".join(own))
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
        return not is_wide(encoding_of(start, encoding, ""))
    except ReadError:  # without a byte order mark
        return True
