"""Labels of topics: a few words that are distinctive, no two topics alike."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stickbreak.corpus.tables import in_tables
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.relevance import most_relevant, relevant_words
from stickbreak.prediction.topics import FlatTopics

_WORDS, _MOST_WORDS = 3, 8


def labels_of(
    topics: FlatTopics, numbers: Int, given: Mapping[int, str], known: tuple[Float, Float] | None = None
) -> tuple[str, ...]:
    """Return a label for each of some topics: the given one, or its most relevant words.           math.md (Q5)

    Where two would be alike they get one more word each, and at last the number of the topic.

    Parameters
    ----------
    topics : fitted model
    numbers : ndarray of int
        Topics.
    given : mapping of int to str
        Labels that stay as they are, none like another.
    known : tuple of ndarray, optional
        The word distributions of these topics, (n, W), and the result of `log_word_shares`. The default asks `topics`.
    """
    ranked = relevant_words(topics, numbers, _MOST_WORDS) if known is None else most_relevant(*known, _MOST_WORDS)
    words = [list(in_tables([topics.vocabulary_[w] for w in row])) for row in ranked]
    return distinct_labels(words, [given.get(int(k)) for k in numbers], numbers, set(given.values()))


def distinct_labels(
    words: list[list[str]], given: list[str | None], numbers: Int, taken: set[str] | frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Return labels of which no two are alike.

    Parameters
    ----------
    words : list of lists of str
        Of each topic, the most telling first.
    given : list of str or None
        Labels that stay.
    numbers : ndarray of int
        Of the topics.
    taken : set of str
        Labels of other topics.

    Examples
    --------
    >>> distinct_labels([["a", "b", "c", "d"], ["a", "b", "c", "e"], ["x"]], [None] * 3, np.arange(3))
    ('a, b, c, d', 'a, b, c, e', 'x')
    """
    length = np.full(len(words), _WORDS)
    while True:
        made = [", ".join(row[:n]) if own is None else own for row, n, own in zip(words, length, given, strict=True)]
        count: dict[str, int] = dict.fromkeys(taken, 1)
        for label, own in zip(made, given, strict=True):
            if own is None:
                count[label] = count.get(label, 0) + 1
        alike = [i for i, label in enumerate(made) if given[i] is None and (not label or count[label] > 1)]
        longer = [i for i in alike if length[i] < len(words[i])]
        if not longer:
            break
        length[longer] += 1
    for i in alike:
        made[i] = f"{made[i]} ({numbers[i]})".strip()
    return tuple(made)


def kept_labels(given: Mapping[int, str], before: Float, after: Float, numbers: Int) -> dict[int, str]:
    """Return the labels that stay when topics have changed: those of topics that kept their number.

    A topic kept its number if the topic that now has this number is nearer to it than any other (Hellinger distance of
    the word distributions, math.md (Q7)).

    Parameters
    ----------
    given : mapping of int to str
        Labels of the topics before, in the order of the rows of `before`.
    before : ndarray of shape (n, W)
        Word distributions of the labelled topics.
    after : ndarray of shape (m, W)
        Word distributions of topics now; new words are the last columns.
    numbers : ndarray of int, of shape (m,)
        Numbers of the topics now.
    """
    nearest = numbers[np.argmax(np.sqrt(before) @ np.sqrt(after[:, : before.shape[1]]).T, axis=1)]
    return {k: label for (k, label), now in zip(given.items(), nearest, strict=True) if k == now}
