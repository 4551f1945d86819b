"""The topics that a report shows, and their weights in documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import log_word_shares

_MOST_TOPICS = 300  # of a tree
_MOST_NUMBERS = 1 << 24  # of the words of these, held at once: 128 MiB


@dataclass(frozen=True, slots=True)
class ReportTopics:
    """What the report needs to know of n topics that it shows.

    Attributes
    ----------
    numbers : tuple of int
        What each is called (`ShownTopics`); its column in the result of ``transform``.
    topic_word : ndarray of shape (n, W)
    shares : ndarray of shape (n,)
        Shares of the tokens of the fit.
    log_word_shares : ndarray of shape (W,)
        Of the words in the tokens of the fit, as `log_word_shares` returns them.
    words : list of lists of (str, float)
        Top words, with their probabilities, in the order that the model ranks them by.
    model : FlatTopics
        Whose they are.
    corpus : Corpus
        The documents.
    given : ndarray or csr_array, optional
        Weights of the documents, if already known, a column for each of `transform`.
    """

    numbers: tuple[int, ...]
    topic_word: Float
    shares: Float
    log_word_shares: Float
    words: list[list[tuple[str, float]]]
    model: FlatTopics
    corpus: Corpus
    given: Any

    def of_documents(self, rows: NDArray[np.int64]) -> tuple[Float, Float]:
        """Return the weights of these topics in some documents, (D, n), and the largest weight of any there, (D,)."""
        found = self.model.active_weights(self.corpus[rows]) if self.given is None else self.given[rows]
        columns = np.array(self.numbers)
        if isinstance(found, sparse.csr_array):
            return found[:, columns].toarray(), found.max(axis=1).toarray().ravel()
        found = np.asarray(found, dtype=np.float64)
        if self.given is not None:  # rest of the weight left out
            total = found.sum(axis=1, keepdims=True)
            found = found / np.where(total > 0, total, 1.0)
        return found[:, columns], found.max(axis=1)


def report_topics(model: FlatTopics, corpus: Corpus, given: Any, n_words: int) -> ReportTopics:
    """Gather the topics that a report shows: all, or of a tree the largest 300 at most.

    Parameters
    ----------
    model : FlatTopics
    corpus : Corpus
    given : array-like of shape (D, n_columns_) or (D, n_columns_ + 1), or sparse of shape (D, n_columns_), optional
        Weights of the documents, if already known.
    n_words : int
        Top words of each topic, as the model ranks them.

    Raises
    ------
    InputError
        If the weights do not fit.
    """
    shown = model.shown_topics(n_words, most=max(1, min(_MOST_TOPICS, _MOST_NUMBERS // corpus.n_words)))
    known = None if given is None else _checked(given, corpus, model.n_columns_)
    phi = model.word_distributions(shown.numbers)
    log_shares, numbers = log_word_shares(model), tuple(shown.numbers.tolist())
    return ReportTopics(numbers, phi, shown.shares, log_shares, shown.words, model, corpus, known)


def _checked(given: ArrayLike, corpus: Corpus, n_columns: int) -> Any:
    """Return weights without that of the rest, refuse those that are not of the documents and the topics."""
    table: Any = sparse.csr_array(given) if sparse.issparse(given) else np.asarray(given)
    widths = (n_columns,) if sparse.issparse(given) else (n_columns, n_columns + 1)
    if table.ndim != 2 or table.shape[0] != corpus.n_documents or table.shape[1] not in widths:
        raise InputError(
            f"weights have shape {table.shape} but there are {corpus.n_documents} documents and {n_columns} "
            "topics; give the result of transform on the same corpus."
        )
    return table[:, :n_columns]
