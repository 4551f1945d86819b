"""The collection that is modelled: word counts of documents, with the words and the documents' names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import assemble_csr, row_keys, row_sums, rows_of
from stickbreak.corpus.metadata import checked_metadata, in_tables
from stickbreak.corpus.splits import checked_seed, held_out_rows, selected_rows, split_halves
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.corpus.validation import canonical_counts, checked_names, checked_vocabulary
from stickbreak.corpus.vectors import GroupedVectors, vectors_of_documents

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import ArrayLike


FEW = 8  # times as many documents as are chosen, from which on SciPy takes longer


@dataclass(frozen=True, slots=True)
class Place:
    """Consecutive documents of a corpus folder; small, so that it travels where the documents need not.

    Attributes
    ----------
    folder : str
        Absolute path or URL of a corpus folder, on storage that all who load it see.
    written : int
        When the folder was written, in nanoseconds, or a number of its files at a URL: another corpus in its place is
        not taken for it.
    n_words : int
        W.
    first, last : int
        Number of the first document, and of the one after the last.
    """

    folder: str
    written: int
    n_words: int
    first: int
    last: int

    def part(self, rows: slice) -> Place:
        """Return the place of some consecutive documents of these."""
        begin, end, _ = rows.indices(self.last - self.first)
        first = self.first + begin
        return Place(self.folder, self.written, self.n_words, first, first + max(0, end - begin))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Corpus:
    """Word counts of D documents over W words, made by `Corpus.from_counts` or `stickbreak.corpus.read`.

    The constructor does not check its arguments; `from_counts` does.

    Attributes
    ----------
    counts : csr_matrix of shape (D, W)
        How often each word occurs in each document. Canonical: indices sorted, no duplicates, no explicit
        zeros; int32 for whole counts, float64 for fractional weights. Do not change it in place.
    vocabulary : tuple of str or None
        The word of each column; None if the columns are only numbered.
    names : tuple of str or None
        The name of each document.
    metadata : pyarrow.Table or None
        Columns beside the documents, a row for each: dates, categories.
    place : Place or None
        Where the counts are stored, if they are those of a corpus folder.
    text_options : TextOptions or None
        How texts became these counts; None where they were given as counts. A model that is fitted to this corpus
        counts new texts in the same way.
    left_out : tuple of str
        What was passed over as the documents were read, in sentences: rows that cannot be read, bytes that are not of
        the encoding.
    vectors : ndarray of shape (D, dim), GroupedVectors or None
        A vector of each document, such as an embedding of its text, or a group of them: see `VectorTopics`.

    Examples
    --------
    >>> corpus = Corpus.from_counts([[2, 0, 1], [0, 3, 0]], vocabulary=["bar", "foo", "qux"])
    >>> corpus
    Corpus(2 documents, 3 words, 6 tokens)
    >>> corpus[1:].document_names
    ('0',)
    """

    counts: sp.csr_matrix
    vocabulary: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None
    metadata: pa.Table | None = None
    place: Place | None = None
    text_options: TextOptions | None = None
    left_out: tuple[str, ...] = ()
    vectors: np.ndarray | GroupedVectors | None = None

    @classmethod
    def from_counts(
        cls,
        X: Any,
        vocabulary: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        metadata: Any = None,
        vectors: Any = None,
    ) -> Corpus:
        """Check counts of any common kind and return them as a Corpus.

        Parameters
        ----------
        X : Corpus, scipy sparse matrix or array, ndarray, pandas DataFrame or nested sequence, shape (D, W)
            Non-negative counts or weights. A Corpus is returned as it is (with the given vocabulary or
            names, if any). The columns of a DataFrame become the vocabulary and its index the names, unless
            they are only row and column numbers. X is never altered. Its arrays are shared if they are already
            canonical.
        vocabulary : sequence of str of length W, optional
            The words of the columns, without duplicates.
        names : sequence of str of length D, optional
            The names of the documents.
        metadata : pyarrow.Table, pandas or polars DataFrame, or mapping of columns, optional
            Columns beside the documents.
        vectors : array-like of shape (D, dim), sequence of such tables, or GroupedVectors, optional
            A vector, or a group of vectors, of each document.

        Returns
        -------
        Corpus

        Raises
        ------
        InvalidCorpus
            If X is not two-dimensional, has no documents or no words, or holds a negative, infinite or
            missing count, or if the vocabulary, the names or the metadata do not fit.
        """
        options = None
        left_out: tuple[str, ...] = ()
        own: Any = None
        if isinstance(X, Corpus):
            counts, vocabulary, names = X.counts, _first(vocabulary, X.vocabulary), _first(names, X.names)
            metadata = X.metadata if metadata is None else metadata
            options, left_out, own = X.text_options, X.left_out, X.vectors
            if vocabulary is X.vocabulary and names is X.names and metadata is X.metadata and vectors is None:
                return X
        else:
            if hasattr(X, "columns") and hasattr(X, "to_numpy"):
                vocabulary, names = _first(vocabulary, _labels(X.columns)), _first(names, _labels(X.index))
            counts = canonical_counts(X)
        if metadata is not None:
            metadata = checked_metadata(metadata, counts.shape[0])
        words = checked_vocabulary(vocabulary, counts.shape)
        own = own if vectors is None else vectors_of_documents(vectors, counts.shape[0])
        return cls(counts, words, checked_names(names, counts.shape), metadata, None, options, left_out, own)

    @property
    def n_documents(self) -> int:
        """Number of documents D, including empty ones."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Number of different words W: all columns, including words that occur in no document."""
        return int(self.counts.shape[1])

    @property
    def n_tokens(self) -> int | float:
        """Sum of all counts: an int for whole counts, a float for weights."""
        total = self.counts.data.sum(dtype=np.int64 if self.is_integer else np.float64)
        return int(total) if self.is_integer else float(total)

    @property
    def is_integer(self) -> bool:
        """Whether all counts are whole numbers."""
        return bool(self.counts.data.dtype.kind == "i")

    @property
    def document_lengths(self) -> np.ndarray:
        """Tokens of each document: ndarray of shape (D,), int64 for whole counts, float64 for weights."""
        return row_sums(self.counts)

    @property
    def words(self) -> tuple[str, ...]:
        """The vocabulary, or "w0", "w1", ... if the columns are only numbered."""
        return self.vocabulary or tuple(f"w{column}" for column in range(self.n_words))

    @property
    def document_names(self) -> tuple[str, ...]:
        """The names of the documents, or "0", "1", ... if they have none."""
        return self.names or tuple(str(row) for row in range(self.n_documents))

    @property
    def names_in_tables(self) -> tuple[str, ...]:
        """The names as tables hold them (`in_tables`)."""
        return in_tables(self.document_names)

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        tokens = f"{self.n_tokens} tokens" if self.is_integer else f"weights that sum to {self.n_tokens:.6g}"
        return f"Corpus({self.n_documents} documents, {self.n_words} words, {tokens})"

    def __getitem__(self, selection: slice | ArrayLike) -> Corpus:
        """Return some of the documents, with the whole vocabulary.

        Parameters
        ----------
        selection : slice, array of int or array of bool
            A slice of step 1 shares the memory of this corpus (and so stays on disk if this corpus does).

        Returns
        -------
        Corpus
            It may have no documents.
        """
        if isinstance(selection, slice):
            start, stop, step = selection.indices(self.n_documents)
            if step == 1:
                return self._contiguous(start, max(start, stop))
            rows = np.arange(start, stop, step)
        else:
            rows = selected_rows(selection, self.n_documents, "document")
        from_start = np.where(np.less(rows, 0), rows + self.n_documents, rows)
        names = None if self.names is None else tuple(map(self.names.__getitem__, from_start.tolist()))
        metadata = None if self.metadata is None else self.metadata.take(from_start)
        few = from_start.size < self.n_documents // FEW
        counts = rows_of(self.counts, from_start) if few else self.counts[from_start]
        vectors = None if self.vectors is None else self.vectors[from_start]
        return replace(self, counts=counts, names=names, metadata=metadata, place=None, vectors=vectors)

    def _contiguous(self, start: int, stop: int) -> Corpus:
        pointers = self.counts.indptr[start : stop + 1]
        a, b = int(pointers[0]), int(pointers[-1])
        counts = assemble_csr(self.counts.data[a:b], self.counts.indices[a:b], pointers - pointers[0], self.n_words)
        place = None if self.place is None else self.place.part(slice(start, stop))
        names = None if self.names is None else self.names[start:stop]
        metadata = None if self.metadata is None else self.metadata.slice(start, stop - start)
        vectors = None if self.vectors is None else self.vectors[start:stop]
        return replace(self, counts=counts, names=names, metadata=metadata, place=place, vectors=vectors)

    def split(self, held_out: float = 0.1, *, seed: int = 0) -> tuple[Corpus, Corpus]:
        """Split the documents at random into two corpora.

        Parameters
        ----------
        held_out : float or int
            The share of documents to hold out, between 0 and 1, or (from 1 upwards) their number. The result
            is rounded, but at least one document goes to each side.
        seed : int
            The same seed gives the same split.

        Returns
        -------
        train, held : Corpus
            Each in the order of this corpus.

        Raises
        ------
        InputError
            If `held_out` leaves one side without documents.
        """
        held = held_out_rows(self.n_documents, held_out, seed, "document")
        return self[~held], self[held]

    def copy_of(self) -> np.ndarray:
        """Return for each document the row of the first one with the same words as often; of empty ones their own.

        Returns
        -------
        ndarray of int64 of shape (D,)
        """
        rows = np.arange(self.n_documents)
        filled = np.flatnonzero(np.diff(self.counts.indptr))
        _, first, place = np.unique(row_keys(self.counts)[filled], return_index=True, return_inverse=True)
        rows[filled] = filled[first][place]
        return rows

    def first_of_copies(self) -> np.ndarray:
        """Return the rows of the documents of which no earlier one has the same words as often."""
        return np.flatnonzero(self.copy_of() == np.arange(self.n_documents))

    def without_copies(self) -> Corpus:
        """Return the documents of which no earlier one has the same words as often; `left_out` says how many had."""
        rows, n_documents = self.first_of_copies(), self.n_documents
        if rows.size == n_documents:
            return self
        sentence = copies_left_out(n_documents - rows.size, n_documents)
        return replace(self[rows], left_out=(*self.left_out, sentence))

    def halves(self, *, seed: int = 0) -> tuple[Corpus, Corpus]:
        """Split the tokens of every document at random into two halves, for document completion (docs/math (D6)).

        A document of n tokens gives (n + 1) // 2 to the first half. Each document has its own random stream,
        keyed by `seed` and its row, so the other documents do not matter. The whole part of a fractional weight
        is split as tokens, and its fraction goes to one half at random.

        Parameters
        ----------
        seed : int
            The same seed gives the same halves.

        Returns
        -------
        observed, held_out : Corpus
            The same documents and vocabulary. Together the halves sum to this corpus.
        """
        observed, held_out = split_halves(self.counts, checked_seed(seed, negative=True))
        return replace(self, counts=observed, place=None), replace(self, counts=held_out, place=None)


def copies_left_out(n_copies: int, n_documents: int) -> str:
    """Say how many copies were left out."""
    return f"{n_copies:,} of {n_documents:,} documents have the words of an earlier one and are left out"


def _first(given: Sequence[str] | None, otherwise: Sequence[str] | None) -> Sequence[str] | None:
    return otherwise if given is None else given


def _labels(index: Any) -> list[str] | None:
    """Labels of a DataFrame's rows or columns as text; None when they only count 0, 1, 2, ..."""
    labels = list(index)
    return None if labels == list(range(len(labels))) else [str(label) for label in labels]
