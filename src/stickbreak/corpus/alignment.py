"""Counts in the words of a model: columns matched by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.corpus import Corpus
from stickbreak.exceptions import InputError

__all__ = ["align"]


def align(corpus: Corpus, vocabulary: Sequence[str]) -> tuple[Corpus, int | float]:
    """Count documents in the words of a model: other words are left out.

    Parameters
    ----------
    corpus : Corpus
        Any documents. Where the words of either side are only numbered, columns are taken as they stand.
    vocabulary : sequence of str
        The words of the model.

    Returns
    -------
    corpus : Corpus
        With the columns of the model.
    n_outside : int or float
        Tokens left out.

    Raises
    ------
    InputError
        If no word is common to both, or numbered columns differ in number.

    Examples
    --------
    >>> from stickbreak.corpus import Corpus
    >>> corpus = Corpus.from_counts([[1, 2, 4]], vocabulary=["c", "x", "a"])
    >>> aligned, n_outside = align(corpus, ["a", "b", "c"])
    >>> aligned.counts.toarray(), n_outside
    (array([[4, 0, 1]], dtype=int32), 2)
    """
    words = tuple(vocabulary)
    numbered = words == tuple(f"w{column}" for column in range(len(words)))
    if corpus.vocabulary is None or numbered:
        if corpus.n_words != len(words):
            raise InputError(
                f"the documents have {corpus.n_words} columns but the model has {len(words)} words, and not "
                "both name their words; give the vocabulary of the documents, or counts with the same columns"
            )
        return Corpus.from_counts(corpus.counts, words, corpus.names), 0
    if corpus.vocabulary == words:
        return corpus, 0
    aligned = _in_columns(corpus, words)
    return aligned, corpus.n_tokens - aligned.n_tokens


def _in_columns(corpus: Corpus, words: tuple[str, ...]) -> Corpus:
    """Take the columns of some words, in their order; columns of zeros for those that do not occur."""
    column_of = {word: column for column, word in enumerate(words)}
    new_column = np.array([column_of.get(word, -1) for word in corpus.words], dtype=np.int64)
    entries = corpus.counts.tocoo()
    column = new_column[entries.col]
    inside = column >= 0
    if corpus.n_tokens and not inside.any():
        raise InputError(
            "none of the words of these documents is in the vocabulary of the model; is it a model of other "
            "documents, or another language?"
        )
    counts = sp.csr_matrix(
        (entries.data[inside], (entries.row[inside], column[inside])),
        shape=(corpus.n_documents, len(words)),
    )
    return Corpus.from_counts(counts, words, corpus.names)
