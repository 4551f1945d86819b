"""Counts in the words of a model: columns matched by name."""

from __future__ import annotations

from collections.abc import Sequence, Sized

import numpy as np

from stickbreak.corpus import csr
from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.validation import checked_vocabulary
from stickbreak.exceptions import InputError


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
    words = checked_vocabulary(vocabulary, (1, len(vocabulary) if isinstance(vocabulary, Sized) else 0)) or ()
    if only_numbered(corpus, words):
        if corpus.n_words != len(words):
            raise InputError(
                f"the documents have {corpus.n_words} columns, but the model has {len(words)} words, and at least one "
                "of them does not name its words; give the vocabulary of the documents, or counts with the same columns"
            )
        return Corpus.from_counts(corpus, words), 0
    if corpus.vocabulary == words:
        return corpus, 0
    column_of = {word: column for column, word in enumerate(words)}
    aligned = in_columns(corpus, np.array([column_of.get(word, -1) for word in corpus.words]), words)
    if corpus.n_tokens and not aligned.n_tokens:
        raise InputError(
            "none of the words of these documents is in the vocabulary of the model; use a model of similar documents "
            "in the same language"
        )
    return aligned, corpus.n_tokens - aligned.n_tokens


def only_numbered(corpus: Corpus, words: tuple[str, ...]) -> bool:
    """Tell whether columns match by their place alone: the documents, or the model, only number their words."""
    if corpus.vocabulary is None:
        return True
    numbered = all(word == f"w{column}" for column, word in enumerate(words))  # most often the first is none
    return numbered and set(words).isdisjoint(corpus.vocabulary)


def in_columns(corpus: Corpus, column: np.ndarray, words: tuple[str, ...]) -> Corpus:
    """Count documents in other columns."""
    counts = csr.in_columns(corpus.counts, column, len(words))
    options, vectors = corpus.text_options, corpus.vectors
    return Corpus(counts, words, corpus.names, corpus.metadata, text_options=options, vectors=vectors)
