"""The counts of a part of a collection, in a file of their own until all parts are done."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import assemble_csr
from stickbreak.corpus.encoded_words import EncodedWords
from stickbreak.corpus.metadata import Gathered
from stickbreak.exceptions import ReadError
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.plain_files import open_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORM", "Part", "write_part"]

FORM = 2
"""Of the files of parts: those of another one are counted again."""

_DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, MemoryError)


def write_part(
    path: Path, counts: sp.csr_matrix, words: EncodedWords | None, names: tuple[bytes, int], kept: Gathered | None
) -> None:
    """Write counts and what belongs to them.

    Parameters
    ----------
    path : Path
        An .npz file.
    counts : csr_matrix of int32 of shape (D, W)
        No duplicates; the columns of a row in any order.
    words : EncodedWords or None
        The word of each column; None: they are those of a vocabulary.
    names : tuple of (bytes, int)
        Of the documents, each a JSON string on a line, an empty line where there is none; and how many there are.
    kept : Gathered or None
        Columns beside the counts.
    """
    encoded = EncodedWords.of([]) if words is None else words
    n_words = counts.shape[1]
    arrays: dict[str, Any] = {
        "data": counts.data,
        "indices": counts.indices,
        "indptr": counts.indptr,
        "words": encoded.content,
        "word_starts": encoded.starts,
        "documents": np.bincount(counts.indices, minlength=n_words),
        "tokens": np.bincount(counts.indices, weights=counts.data, minlength=n_words).astype(np.int64),
        "names": np.frombuffer(names[0], np.uint8),
        "named": np.array(names[1]),
        "sizes": np.array([counts.shape[0], n_words, counts.nnz], np.int64),
    }
    if kept is not None:
        arrays["kept"] = _as_arrow(kept.table)
        arrays["forms"] = _as_json({name: sorted(forms) for name, forms in kept.forms().items()})
    with replace_file(path, lasting=False) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def _as_json(value: Any) -> np.ndarray:
    return np.frombuffer(json.dumps(value).encode("ascii"), np.uint8)


def _as_arrow(table: pa.Table) -> np.ndarray:
    import pyarrow as pa

    content = io.BytesIO()
    with pa.ipc.new_stream(content, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(content.getvalue(), np.uint8)


@dataclass(frozen=True, slots=True)
class Part:
    """A file that `write_part` wrote; only what is asked for is read."""

    path: Path

    @classmethod
    def sound(cls, path: Path) -> Self | None:
        """Return a part if all of its file can be read, and is what was written (by its sums of control)."""
        part = cls(path)
        try:
            with zipfile.ZipFile(path) as file:
                if file.testzip() is not None:
                    return None
            part.counts()
            part.words()
        except (ReadError, *_DAMAGED):
            return None
        return part

    def _read(self, *names: str) -> list[Any]:
        try:
            with open_file(self.path) as handle, np.load(handle, allow_pickle=False) as file:
                return [file[name] for name in names]
        except _DAMAGED as error:
            raise ReadError(
                f"{self.path} was damaged while the collection was counted ({error!s:.80}); start again: what is sound "
                "is not counted twice"
            ) from error

    def counts(self) -> sp.csr_matrix:
        """Return the counts; the columns of a row in any order, but those of a vocabulary ascend."""
        data, indices, indptr, sizes = self._read("data", "indices", "indptr", "sizes")
        return assemble_csr(data, indices, indptr, int(sizes[1]))

    def n_documents(self) -> int:
        """Return the number of documents."""
        (sizes,) = self._read("sizes")
        return int(sizes[0])

    def n_entries(self) -> int:
        """Return the number of pairs of a document and a word."""
        (sizes,) = self._read("sizes")
        return int(sizes[2])

    def words(self) -> pa.Table:
        """Return the words, in bytes, with the documents and the tokens of each."""
        import pyarrow as pa

        content, starts, documents, tokens = self._read("words", "word_starts", "documents", "tokens")
        words = EncodedWords(content, starts).arrow()
        return pa.table({"word": words, "documents": documents[: len(words)], "tokens": tokens[: len(words)]})

    def has_names(self) -> bool:
        """Return whether a document has a name."""
        (n_named,) = self._read("named")
        return bool(n_named)

    def name_lines(self, first: int) -> bytes:
        """Return a JSON string on a line for each document; one without a name is called by its number.

        Parameters
        ----------
        first : int
            Number of the first document of the part.
        """
        content, n_named, sizes = self._read("names", "named", "sizes")
        lines = bytes(content.tobytes())
        if n_named == sizes[0]:
            return lines
        named = enumerate(lines.split(b"\n")[:-1], start=first)
        return b"".join(b"%b\n" % (line or b'"%d"' % row) for row, line in named)

    def forms(self) -> dict[str, frozenset[str]]:
        """Return what the values of the columns are that are kept."""
        (content,) = self._read("forms")
        return {name: frozenset(forms) for name, forms in json.loads(content.tobytes()).items()}

    def kept(self, n_documents: int) -> Gathered:
        """Return the columns that are kept."""
        import pyarrow as pa

        (content,) = self._read("kept")
        return Gathered(pa.ipc.open_stream(pa.py_buffer(content)).read_all(), n_documents)
