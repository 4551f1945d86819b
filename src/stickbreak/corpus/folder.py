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
        Its arrays are read-only and memory-mapped. They are trusted: only their sizes are checked.

    Raises
    ------
    ReadError
        When the folder is no corpus folder, of a newer version, or incomplete.
    """
    folder = Path(path)
    meta = _read_meta(folder)
    D, W, nnz = meta["n_documents"], meta["n_words"], meta["n_entries"]
    data, indices, indptr = (_open_array(folder / f"{name}.npy") for name in _ARRAYS)
    fits = data.shape == indices.shape == (nnz,) and indptr.shape == (D + 1,) and indices.dtype == indptr.dtype
    if not fits or indptr[0] != 0 or indptr[-1] != nnz or data.dtype not in (np.int32, np.float64):
        raise ReadError(f"{folder} is damaged: its arrays do not fit to corpus.json; write the corpus anew")
    vocabulary = _read_strings(folder / "vocabulary.jsonl", W) if meta["vocabulary"] else None
    names = _read_strings(folder / "names.jsonl", D) if meta["names"] else None
    return Corpus(assemble_csr(data, indices, indptr, W), vocabulary, names)


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
    except (ValueError, KeyError, TypeError) as error:
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
        except ValueError as error:
            raise ReadError(f"{file} is damaged ({error}); write the corpus anew") from error
    if len(strings) != expected:
        raise ReadError(f"{file} is damaged: {len(strings)} lines instead of {expected}; write the corpus anew")
    return strings
