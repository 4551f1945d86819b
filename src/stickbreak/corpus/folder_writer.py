"""Writing a corpus folder piece by piece: no more of it is in memory than what is added at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.arguments import checked_path
from stickbreak.corpus.stored import append_strings
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.exceptions import WriteError
from stickbreak.storage.atomic import replace_folder
from stickbreak.storage.places import PathLike
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["META", "METADATA", "TEXT", "VERSION", "CorpusWriter", "corpus_writer", "is_corpus_folder"]

VERSION = 1
META, METADATA, TEXT = "corpus.json", "metadata.parquet", "text_options.json"
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
    """Write a corpus folder, completely or not at all.

    Parameters
    ----------
    path : str or PathLike
        The folder to make.
    n_words : int
        W.
    vocabulary : sequence of str or None
        The words.
    most_entries : int
        Upper bound of the number of entries: indices have 64 bits where 32 would not do for it.
    dtype : dtype
        int32 for counts, float64 for weights.
    text_options : TextOptions, optional
        How texts became these counts.
    left_out : sequence of str
        What was passed over as texts were read.
    overwrite : bool
        Whether an existing corpus folder may be replaced. Anything else is never replaced.

    Yields
    ------
    CorpusWriter
        It takes the documents in their order.

    Raises
    ------
    WriteError
        If the folder exists and may not be replaced, or cannot be written.
    """
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
        """Add documents.

        Parameters
        ----------
        counts : csr_matrix of shape (D, W)
            Canonical.
        names : sequence of str or pyarrow.Array, optional
            Of these documents; all documents have names, or none.
        metadata : pyarrow.Table, optional
            A row for each of them; always with the same columns.
        """
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
    """Whether `path` looks like a corpus folder.

    Parameters
    ----------
    path : Path or UrlPath
        Any path.

    Returns
    -------
    bool
    """
    return (path / META).is_file() and (path / "indptr.npy").is_file()
