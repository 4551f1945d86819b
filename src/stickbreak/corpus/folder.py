"""The corpus folder: plain arrays that open memory-mapped, and the words and names as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.arguments import checked_path, kind_of
from stickbreak.corpus.array_files import append_strings, open_array, read_meta, read_strings
from stickbreak.corpus.corpus import Corpus, Place
from stickbreak.corpus.csr import assemble_csr
from stickbreak.corpus.reading.files import DEFAULT_LIMITS, ReadLimits, reading
from stickbreak.corpus.reading.parquet import open_parquet, read_table
from stickbreak.corpus.remote_folder import META, fetched
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.exceptions import InputError, ReadError, WriteError
from stickbreak.storage.atomic import replace_folder
from stickbreak.storage.places import PathLike
from stickbreak.storage.plain_files import read_json
from stickbreak.storage.urls import Location, UrlPath, location_of

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
METADATA, TEXT = "metadata.parquet", "text_options.json"
_ROWS = 1 << 16  # of a row group of the metadata


@contextmanager
def corpus_writer(
    path: PathLike,
    n_words: int,
    *,
    vocabulary: Sequence[str] | None,
    most_entries: int,
    dtype: Any = np.int32,
    text_options: TextOptions | None = None,
    left_out: Sequence[str] = (),
    overwrite: bool = False,
) -> Iterator[CorpusWriter]:
    """Write a corpus folder, completely or not at all."""
    target = checked_path(path, "write_corpus")
    if overwrite and target.exists() and not is_corpus_folder(target):
        raise WriteError(f"{target} exists and is not a corpus folder, so it is not replaced; choose another name")
    wide = max(most_entries, n_words) >= 2**31
    with replace_folder(target, overwrite=overwrite) as folder, ExitStack() as files:
        writer = CorpusWriter(folder, n_words, np.dtype(dtype), np.dtype(np.int64 if wide else np.int32), files)
        if vocabulary is not None:
            with open(folder / "vocabulary.jsonl", "wb") as file:
                append_strings(file, vocabulary)
        if text_options is not None:
            (folder / TEXT).write_text(json.dumps(text_options.as_plain(), indent=1) + "\n", encoding="ascii")
        yield writer
        writer.finish(vocabulary=vocabulary is not None, text_options=text_options is not None, left_out=left_out)


class CorpusWriter:
    """The folder that `corpus_writer` writes."""

    def __init__(self, folder: Path, n_words: int, data: np.dtype, indices: np.dtype, files: ExitStack) -> None:
        self._folder, self._n_words, self._files = folder, n_words, files
        self._data = _ArrayFile(folder / "data.npy", data, files)
        self._indices = _ArrayFile(folder / "indices.npy", indices, files)
        self._indptr = _ArrayFile(folder / "indptr.npy", indices, files)
        self._indptr.append(np.zeros(1))
        self.n_tokens: int | float = 0
        self._names: Any = None
        self._metadata: _MetadataFile | None = None

    def add(self, counts: sp.csr_matrix, names: Any = None, metadata: pa.Table | None = None) -> None:
        """Add documents."""
        self._indptr.append(counts.indptr[1:] + (self._data.size - int(counts.indptr[0])))
        self._data.append(counts.data)
        self._indices.append(counts.indices)
        total = counts.data.sum(dtype=np.int64 if counts.data.dtype.kind == "i" else np.float64)
        self.n_tokens += total.item()
        if names is not None:
            if self._names is None:
                self._names = self._files.enter_context(open(self._folder / "names.jsonl", "wb"))
            append_strings(self._names, names)
        if metadata is not None:
            if self._metadata is None:
                self._metadata = _MetadataFile(self._folder / METADATA, metadata.schema, self._files)
            self._metadata.append(metadata)

    def finish(self, *, vocabulary: bool, text_options: bool, left_out: Sequence[str]) -> None:
        """Complete the files."""
        for array in (self._data, self._indices, self._indptr):
            array.finish()
        if self._metadata is not None:
            self._metadata.finish()
        self._files.close()
        meta = {
            "kind": "stickbreak corpus",
            "version": VERSION,
            "n_documents": self._indptr.size - 1,
            "n_words": self._n_words,
            "n_entries": self._data.size,
            "n_tokens": self.n_tokens,
            "vocabulary": vocabulary,
            "names": self._names is not None,
            "metadata": self._metadata is not None,
            "text_options": text_options,
            "left_out": list(left_out),
        }
        (self._folder / META).write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")


class _ArrayFile:
    """An array in NumPy's .npy format that grows."""

    def __init__(self, path: Path, dtype: np.dtype, files: ExitStack) -> None:
        self._file = files.enter_context(open(path, "wb"))
        self._dtype, self.size = dtype, 0
        self._write_header()

    def _write_header(self) -> None:
        """Write what comes before the numbers; it has room for any size."""
        descr = np.lib.format.dtype_to_descr(self._dtype)
        header = {"descr": descr, "fortran_order": False, "shape": (self.size,)}
        np.lib.format.write_array_header_1_0(self._file, header)

    def append(self, values: np.ndarray) -> None:
        self._file.write(np.ascontiguousarray(values, self._dtype).data)
        self.size += values.size

    def finish(self) -> None:
        begin = self._file.tell() - self.size * self._dtype.itemsize
        self._file.seek(0)
        self._write_header()
        if self._file.tell() != begin:
            raise WriteError(f"NumPy writes headers of several lengths, so that {self._file.name} cannot be completed")


class _MetadataFile:
    """A Parquet file with row groups of one size, however the rows come."""

    def __init__(self, path: Path, schema: pa.Schema, files: ExitStack) -> None:
        import pyarrow.parquet as pq

        self._writer = files.enter_context(pq.ParquetWriter(path, schema))
        self._waiting = schema.empty_table()

    def append(self, rows: pa.Table) -> None:
        import pyarrow as pa

        self._waiting = pa.concat_tables([self._waiting, rows])
        while self._waiting.num_rows >= _ROWS:
            self._writer.write_table(self._waiting.slice(0, _ROWS), row_group_size=_ROWS)
            self._waiting = self._waiting.slice(_ROWS)

    def finish(self) -> None:
        if self._waiting.num_rows:
            self._writer.write_table(self._waiting)


def is_corpus_folder(path: Location) -> bool:
    """Whether `path` looks like a corpus folder."""
    return (path / META).is_file() and (path / "indptr.npy").is_file()


_LARGEST_COUNT = np.iinfo(np.int32).max
_MOST_OPTIONS = 1 << 26  # bytes of a file of options, which may hold lists of words
_BLOCK = 1 << 22  # entries of an array that are checked at once
_ARRAYS = ("data", "indices", "indptr")
_FILES = (META, *(f"{name}.npy" for name in _ARRAYS), "vocabulary.jsonl", "names.jsonl", METADATA, TEXT)
_FIELDS = ("n_documents", "n_words", "n_entries", "vocabulary", "names")


def write_corpus(corpus: Corpus, path: PathLike, overwrite: bool = False) -> None:
    """Write a corpus to a folder, completely or not at all.

    Parameters
    ----------
    corpus : Corpus
        What to write.
    path : str or PathLike
        The folder to make.
    overwrite : bool
        Whether an existing corpus folder may be replaced. Anything else is never replaced.

    Raises
    ------
    WriteError
        If the folder exists and may not be replaced, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "corpus"
    >>> write_corpus(Corpus.from_counts([[2, 1]], ["bread", "butter"]), path)
    >>> open_corpus(path).words
    ('bread', 'butter')
    """
    if not isinstance(corpus, Corpus):
        raise InputError(f"write_corpus writes a Corpus, not {kind_of(corpus)}; make one with Corpus.from_counts")
    if corpus.vectors is not None:
        raise InputError(
            "the corpus has vectors, which a corpus folder does not hold; write replace(corpus, vectors=None), and the "
            "vectors to a file of their own (numpy.save)"
        )
    counts = corpus.counts
    with corpus_writer(
        path,
        corpus.n_words,
        vocabulary=corpus.vocabulary,
        most_entries=int(counts.nnz),
        dtype=counts.data.dtype,
        text_options=corpus.text_options,
        left_out=corpus.left_out,
        overwrite=overwrite,
    ) as writer:
        writer.add(counts, corpus.names, corpus.metadata)


def open_corpus(path: PathLike | UrlPath, limits: ReadLimits = DEFAULT_LIMITS) -> Corpus:
    """Open a corpus folder; the counts stay on disk and are read as they are used.

    Parameters
    ----------
    path : str or PathLike
        A folder written by `write_corpus`, or its URL (s3://bucket/counts): its files are then fetched to the folder of
        the system for temporary files, where they take room as long as the corpus is in use. Jobs of a cluster fetch
        their own rows.
    limits : ReadLimits
        How long a word or a name may be.

    Returns
    -------
    Corpus
        Its arrays are read-only and memory-mapped. They are read through once, to check that they are the counts
        of a corpus.

    Raises
    ------
    ReadError
        If the folder is not a corpus folder, of a newer version, incomplete or damaged, or a URL does not answer.
    InputError
        If the path is none, or what reads a URL is not installed.
    """
    location = location_of(path)
    if not isinstance(location, UrlPath):
        return _open_folder(location, limits)
    with fetched(location, _FILES) as (folder, mark):
        corpus = _open_folder(folder, limits)
    return replace(corpus, place=Place(location.url, mark, corpus.n_words, 0, corpus.n_documents))


def _open_folder(folder: Path, limits: ReadLimits) -> Corpus:
    meta = read_meta(folder, META, _FIELDS, what="corpus", version=VERSION)
    D, W, nnz = meta["n_documents"], meta["n_words"], meta["n_entries"]
    data, indices, indptr = _map_counts(folder)
    fits = (
        D >= 0
        and 1 <= W <= np.iinfo(np.int64).max
        and data.shape == indices.shape == (nnz,)
        and indptr.shape == (D + 1,)
    )
    plain = indices.dtype == indptr.dtype and indices.dtype in (np.int32, np.int64)
    if not fits or not plain or indptr[0] != 0 or indptr[-1] != nnz or data.dtype not in (np.int32, np.float64):
        raise ReadError(f"{folder} is damaged: its arrays do not match corpus.json; write the corpus again")
    problem = _problem(data, indices, indptr, W)
    if problem:
        raise ReadError(f"{folder} is damaged: {problem}; write the corpus again")
    vocabulary = read_strings(folder / "vocabulary.jsonl", W, "corpus", limits) if meta["vocabulary"] else None
    if vocabulary is not None and len(set(vocabulary)) < W:
        raise ReadError(f"{folder} is damaged: vocabulary.jsonl holds a word twice; write the corpus again")
    names = read_strings(folder / "names.jsonl", D, "corpus", limits) if meta["names"] else None
    metadata = _read_metadata(folder, D, limits) if meta.get("metadata") else None
    options = _read_text_options(folder) if meta.get("text_options") else None
    place = place_of_folder(folder, W, D)
    left_out = meta.get("left_out", [])
    if not isinstance(left_out, list) or not all(isinstance(sentence, str) for sentence in left_out):
        raise ReadError(f"{folder / META} is damaged (left_out holds no sentences); write the corpus again")
    return Corpus(assemble_csr(data, indices, indptr, W), vocabulary, names, metadata, place, options, tuple(left_out))


def _read_text_options(folder: Path) -> TextOptions:
    """Read how texts became the counts."""
    file = folder / TEXT
    with reading(file):
        try:
            return TextOptions.from_plain(read_json(file, _MOST_OPTIONS))
        except (ValueError, TypeError) as error:
            raise ReadError(f"{file} is damaged ({error!s:.80}); write the corpus again") from error


def _read_metadata(folder: Path, n_documents: int, limits: ReadLimits) -> Any:
    """Read the columns beside the counts."""
    file = folder / METADATA
    with open_parquet(file, limits) as parquet:
        table = read_table(parquet, file, limits)
    if table.num_rows != n_documents:
        raise ReadError(
            f"{file} is damaged: it has {table.num_rows} rows for {n_documents} documents; write the corpus again"
        )
    return table


def place_of_folder(folder: Path, n_words: int, n_documents: int) -> Place:
    """Return the place of all documents of a corpus folder."""
    return Place(str(folder.resolve()), _written_at(folder), n_words, 0, n_documents)


@lru_cache(maxsize=4)
def open_counts(folder: str, written: int, n_words: int) -> Corpus:
    """Open the counts of a folder, without words and names; whoever made the place has checked them."""
    if _written_at(Path(folder)) != written:
        raise ReadError(f"{folder} is not there, or was written again while it was in use; start again")
    return Corpus(assemble_csr(*_map_counts(Path(folder)), n_words))


def _map_counts(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Open the arrays of a corpus folder, memory-mapped."""
    data, indices, indptr = (open_array(folder / f"{name}.npy", "corpus") for name in _ARRAYS)
    return data, indices, indptr


def _written_at(folder: Path) -> int:
    """Return when a corpus folder was written, in nanoseconds; 0 if there is none."""
    try:
        return (folder / META).stat().st_mtime_ns
    except OSError:
        return 0


def _problem(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_words: int) -> str | None:
    """Look through arrays that may be larger than memory, in blocks; say what no corpus can hold."""
    for start in range(0, indptr.size - 1, _BLOCK):
        block = indptr[start : start + _BLOCK + 1]
        if (block[1:] < block[:-1]).any():  # a difference could wrap around
            return "indptr.npy decreases"
    for start in range(0, indices.size, _BLOCK):
        block, values = indices[start : start + _BLOCK + 1], data[start : start + _BLOCK]  # one of the next block
        if block.min() < 0 or block.max() >= n_words:
            return f"indices.npy names a word outside 0 to {n_words - 1}"
        turns = start + 1 + np.flatnonzero(block[1:] <= block[:-1])  # allowed only where a document begins
        turns = turns.astype(indptr.dtype)  # else searchsorted would copy all of indptr
        if (indptr[np.searchsorted(indptr, turns)] != turns).any():
            return "the words of a document in indices.npy do not ascend"
        if not (values > 0).all() or values.max() > _LARGEST_COUNT:
            return f"data.npy holds a count that is not between 0 and {_LARGEST_COUNT}"
    return None
