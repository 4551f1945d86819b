"""Topics to start from: a table, or a fitted model of any family over the same words."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.words import check_same_words


def check_initial_topics(init: Any, wanted: str) -> None:
    """Refuse what cannot be topics to start from, whatever the documents.

    Parameters
    ----------
    init : array-like of shape (K, W) or fitted model of topics
    wanted : str
        What else could be given, for the message.

    Raises
    ------
    InputError
    """
    if isinstance(init, TopicEstimator):
        return  # that it is fitted is checked for all kinds of models
    array = _as_numbers(init)
    if array.ndim == 0:
        raise InputError(f"init is {init!r}; give {wanted}, an array of topics (K, W), or a fitted model of topics.")
    if array.ndim == 2:  # another shape is refused with that of the documents
        _check_distributions(array)


def n_initial_topics(init: Any) -> int:
    """Return the number of topics of a table or of a fitted model."""
    return init.n_topics_ if isinstance(init, TopicEstimator) else len(_as_numbers(init))


def initial_counts(init: Any, corpus: Corpus) -> Float:
    """Return the expected counts of words in the topics that are given, (K, W).

    Parameters
    ----------
    init : array-like of shape (K, W) or fitted model of topics
        Of a table, rows that are not negative: word distributions (rows that sum to one; each then stands for an equal
        share of the tokens), shares of all tokens (the whole table sums to one), or expected counts.
    corpus : Corpus

    Raises
    ------
    InputError
        If the shape or the words do not fit the corpus, or a row is negative, not finite or empty.
    """
    if isinstance(init, TopicEstimator):
        check_same_words(init, corpus)
        init = init.token_shares()
    array = _as_numbers(init)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] != corpus.n_words:
        raise InputError(
            f"init has shape {array.shape}; give a row for each topic and {corpus.n_words} columns, one for each word."
        )
    _check_distributions(array)
    mass = array.sum(axis=1)
    if np.allclose(mass, 1.0):
        return array * (corpus.n_tokens / array.shape[0])
    return array * corpus.n_tokens if np.isclose(mass.sum(), 1.0) else array


def _as_numbers(topics: Any) -> Float:
    try:
        return np.asarray(topics, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"init is not a table of numbers ({error}); give a name, an array of topics (K, W) or a fitted model."
        ) from None


def _check_distributions(topics: Float) -> None:
    if not np.isfinite(topics).all() or (topics < 0).any() or (topics.sum(axis=1) <= 0).any():
        raise InputError("init holds a negative, infinite or missing value or an empty row; give word distributions.")
