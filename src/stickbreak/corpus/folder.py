"""The corpus folder: plain arrays that open memory-mapped, and the words and names as JSON lines."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stickbreak.atomic import replace_folder
from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.csr import assemble_csr
from stickbreak.corpus.files import reading
from stickbreak.exceptions import ReadError, WriteError

__all__ = ["is_corpus_folder", "open_corpus", "write_corpus"]

_KIND = "stickbreak corpus"
_VERSION = 1
_BLOCK = 1 << 22  # entries of an array that are checked at once
_ARRAYS = ("data", "indices", "indptr")


def write_corpus(corpus: Corpus, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a corpus as a folder, complete or not at all.

    Parameters
    ----------
    corpus : Corpus
        What to write.
    path : str or PathLike
        The folder to make.
    overwrite : bool
        Replace a corpus folder that is there already; anything else is never replaced.

    Raises
    ------
    WriteError
        When the folder exists (and may not be replaced) or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "corpus"
    >>> write_corpus(Corpus.from_counts([[2, 1]], ["bread", "butter"]), path)
    >>> open_corpus(path).words
    ('bread', 'butter')
    """
    target = Path(path)
    if overwrite and target.exists() and not is_corpus_folder(target):
        raise WriteError(f"{target} exists and is no corpus folder, so it is not replaced; choose another name")
    counts = corpus.counts
    wide = max(counts.nnz, corpus.n_words) >= 2**31
    dtype = np.int64 if wide else np.int32
    meta = {
        "kind": _KIND,
        "version": _VERSION,
        "n_documents": corpus.n_documents,
        "n_words": corpus.n_words,
        "n_entries": int(counts.nnz),
        "n_tokens": corpus.n_tokens,
        "vocabulary": corpus.vocabulary is not None,
        "names": corpus.names is not None,
    }
    with replace_folder(target, overwrite=overwrite) as folder:
        np.save(folder / "data.npy", counts.data)
        np.save(folder / "indices.npy", counts.indices.astype(dtype, copy=False))
        np.save(folder / "indptr.npy", counts.indptr.astype(dtype, copy=False))
        _write_strings(folder / "vocabulary.jsonl", corpus.vocabulary)
        _write_strings(folder / "names.jsonl", corpus.names)
        (folder / "corpus.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")


def open_corpus(path: str | os.PathLike[str]) -> Corpus:
    """Open a corpus folder; the counts stay on disk and are read as they are used.

    Parameters
    ----------
    path : str or PathLike
        A folder written by `write_corpus`.

    Returns
    -------
    Corpus
        Its arrays are read-only and memory-mapped. They are read through once, to check that they are the counts
        of a corpus.

    Raises
    ------
    ReadError
        When the folder is no corpus folder, of a newer version, incomplete or damaged.
    """
    folder = Path(path)
    meta = _read_meta(folder)
    D, W, nnz = meta["n_documents"], meta["n_words"], meta["n_entries"]
    data, indices, indptr = (_open_array(folder / f"{name}.npy") for name in _ARRAYS)
    fits = D >= 0 and W >= 1 and data.shape == indices.shape == (nnz,) and indptr.shape == (D + 1,)
    plain = indices.dtype == indptr.dtype and indices.dtype in (np.int32, np.int64)
    if not fits or not plain or indptr[0] != 0 or indptr[-1] != nnz or data.dtype not in (np.int32, np.float64):
        raise ReadError(f"{folder} is damaged: its arrays do not fit to corpus.json; write the corpus anew")
    problem = _problem(data, indices, indptr, W)
    if problem:
        raise ReadError(f"{folder} is damaged: {problem}; write the corpus anew")
    vocabulary = _read_strings(folder / "vocabulary.jsonl", W) if meta["vocabulary"] else None
    names = _read_strings(folder / "names.jsonl", D) if meta["names"] else None
    return Corpus(assemble_csr(data, indices, indptr, W), vocabulary, names)


def _problem(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_words: int) -> str | None:
    """Look through arrays that may be larger than memory, in blocks; say what no corpus can hold."""
    for start in range(0, indptr.size - 1, _BLOCK):
        if (np.diff(indptr[start : start + _BLOCK + 1]) < 0).any():
            return "indptr.npy decreases"
    for start in range(0, indices.size, _BLOCK):
        block, values = indices[start : start + _BLOCK + 1], data[start : start + _BLOCK]  # one of the next block
        if block.min() < 0 or block.max() >= n_words:
            return f"indices.npy names a word outside 0 to {n_words - 1}"
        turns = start + 1 + np.flatnonzero(block[1:] <= block[:-1])  # allowed only where a document begins
        turns = turns.astype(indptr.dtype)  # else searchsorted would copy all of indptr
        if (indptr[np.searchsorted(indptr, turns)] != turns).any():
            return "the words of a document in indices.npy do not ascend"
        if not (values > 0).all() or values.max() == np.inf:
            return "data.npy holds a count that is not positive and finite"
    return None


def is_corpus_folder(path: Path) -> bool:
    """Whether `path` looks like a folder written by `write_corpus`.

    Parameters
    ----------
    path : Path
        Any path.

    Returns
    -------
    bool
    """
    return (path / "corpus.json").is_file() and (path / "indptr.npy").is_file()


def _read_meta(folder: Path) -> dict[str, Any]:
    file = folder / "corpus.json"
    if folder.is_dir() and not file.exists():
        raise ReadError(f"{folder} is no corpus folder: it has no corpus.json; name one made by write_corpus")
    with reading(folder if not folder.exists() else file):
        content = file.read_bytes()
    try:
        meta: dict[str, Any] = json.loads(content)
        kind, version = meta["kind"], meta["version"]
        for field in ("n_documents", "n_words", "n_entries", "vocabulary", "names"):
            meta[field] = int(meta[field])
        if not isinstance(version, int):
            raise TypeError(f"its version is {version!r}")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ReadError(f"{file} is damaged ({error}); write the corpus anew") from error
    if kind != _KIND or version > _VERSION:
        raise ReadError(
            f"{file} is of kind {kind!r}, version {version}; this stickbreak reads {_KIND!r} up to version {_VERSION}"
        )
    return meta


def _open_array(file: Path) -> np.ndarray:
    with reading(file):
        try:
            try:
                return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
            except ValueError:  # an array of no entries cannot be mapped
                return np.asarray(np.load(file, allow_pickle=False))
        except (ValueError, EOFError) as error:
            raise ReadError(f"{file} is damaged ({error}); write the corpus anew") from error


def _write_strings(file: Path, strings: Sequence[str] | None) -> None:
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


def _read_strings(file: Path, expected: int) -> tuple[str, ...]:
    with reading(file), open(file, "rb") as handle:
        try:
            strings = tuple(json.loads(line) for line in handle)
        except (ValueError, RecursionError) as error:
            raise ReadError(f"{file} is damaged ({error}); write the corpus anew") from error
    for number, string in enumerate(strings, start=1):
        if not isinstance(string, str):
            raise ReadError(f"{file}, line {number} is damaged: it holds no string; write the corpus anew")
    if len(strings) != expected:
        raise ReadError(f"{file} is damaged: {len(strings)} lines instead of {expected}; write the corpus anew")
    return strings
