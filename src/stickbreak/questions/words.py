"""The words of a topic by their relevance, and the topics of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from fnmatch import translate
from re import compile as pattern_of
from typing import TYPE_CHECKING

import numpy as np

from stickbreak.corpus.tables import in_tables
from stickbreak.exceptions import InputError
from stickbreak.fitting.requirements import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.relevance import RELEVANCE, log_word_shares, relevance, relevant_words
from stickbreak.prediction.topics import FlatTopics

if TYPE_CHECKING:
    import pandas as pd

_CHANCE = 1 - 1e-9  # the lift of a topic that has its share of the words and no more, but for rounding


def words_of(topics: FlatTopics, topic: int, weight: float = RELEVANCE, n: int = 20) -> pd.DataFrame:
    """Return the most relevant words of a topic.                                                   math.md (Q5)

    Parameters
    ----------
    topics : fitted model
    topic : int
    weight : float
        From 0 (words that are in no other topic first) to 1 (frequent words first).
    n : int

    Returns
    -------
    DataFrame
        A row for each word: word, relevance, probability (in the topic), lift (by how many times it is more frequent
        there than in all), share_of_word (of the tokens of this word that belong to the topic).
    """
    import pandas as pd

    if isinstance(weight, bool) or not isinstance(weight, int | float | np.number) or not 0 <= weight <= 1:
        raise InputError(f"relevance is {weight!r}; give a number from 0 to 1.")
    check_whole("n", n, 1)
    (phi,), log_shares = topics.word_distributions([topic]), log_word_shares(topics)
    (best,) = relevant_words(topics, np.array([topic]), n, float(weight))
    numbers, _, joint = topics.topics_of_words(best)
    return pd.DataFrame(
        {
            "word": in_tables([topics.vocabulary_[w] for w in best]),
            "relevance": relevance(phi, log_shares, float(weight))[best],
            "probability": phi[best],
            "lift": phi[best] / np.exp(log_shares[best]),
            "share_of_word": (joint[numbers == topic].sum(axis=0) / joint.sum(axis=0)) if best.size else np.empty(0),
        }
    )


def search(
    topics: FlatTopics, words: str | Iterable[str], as_counted: Callable[[str], str] = str
) -> tuple[Int, Float, Float]:
    """Find topics by words: where the tokens of these words are.                                   math.md (Q6)

    Parameters
    ----------
    topics : fitted model
    words : str or iterable of str
        Words of the model; * stands for any characters.
    as_counted : callable, optional
        Makes a word, where the model does not know it as it is given, what the texts of the fit were counted as.

    Returns
    -------
    numbers : ndarray of int, of shape (m,)
        The topics that have more of these words than by chance, that of the largest share first.
    shares : ndarray of shape (m,)
        Mean over the words of the share of their tokens that the topic has.
    lift : ndarray of shape (m,)
        By how many times the words are more frequent in the topic than in all, together.

    Raises
    ------
    InputError
        If the model does not know a word; the message names similar ones.
    """
    asked = words.split() if isinstance(words, str) else [str(word) for word in words]
    if not asked:
        raise InputError('words is empty: a search needs at least one word, such as words="engine".')
    columns = [_matching(topics.vocabulary_, word, as_counted) for word in asked]
    numbers, sizes, joint = topics.topics_of_words(np.concatenate(columns))
    first = np.append(0, np.cumsum([found.size for found in columns])[:-1])
    by_word = np.add.reduceat(joint, first, axis=1)
    totals = by_word.sum(axis=0)
    if not (totals > 0).all():
        raise InputError(f"no topic has {asked[int(np.argmin(totals))]!r}; give another word.")
    shares = (by_word / totals).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = by_word.sum(axis=1) / totals.sum() / sizes
    order = np.argsort(-shares, kind="stable")
    order = order[lift[order] >= _CHANCE]
    return numbers[order], shares[order], lift[order]


def _matching(vocabulary: tuple[str, ...], word: str, as_counted: Callable[[str], str]) -> Int:
    """Return the columns of the words that a word, or one with *, stands for."""
    counted = as_counted(word)
    found = _columns(vocabulary, word)
    if not found.size and counted != word:
        found = _columns(vocabulary, counted)
    if not found.size:
        near = get_close_matches(counted.replace("*", ""), vocabulary, 3)
        advice = f"did you mean {' or '.join(map(repr, near))}?" if near else "give another word."
        raise InputError(f"the model has no word {word!r}; {advice}")
    return found


def _columns(vocabulary: tuple[str, ...], word: str) -> Int:
    """Return the columns of a word, or of those that one with * stands for."""
    if "*" in word:
        fits = pattern_of(translate(word)).match
        return np.array([column for column, known in enumerate(vocabulary) if fits(known)], dtype=np.int64)
    return np.array([vocabulary.index(word)] if word in vocabulary else [], dtype=np.int64)
