"""Labels of topics: a few words that are distinctive, no two topics alike; the topics that an answer is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stickbreak.corpus.metadata import in_tables
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import most_relevant, relevant_words

if TYPE_CHECKING:
    import pandas as pd

MOST_TOPICS = 100  # of a tree, that a table without a choice of topics is about
LONGEST = 200  # characters of a label
_WORDS, _MOST_WORDS = 3, 8


@dataclass(frozen=True, slots=True)
class LabelledTopics:
    """The topics that an answer is about: all of a table, the largest leaves of a tree.

    Attributes
    ----------
    numbers : ndarray of int, of shape (n,)
        Their columns in `transform`.
    labels : tuple of str
        One for each of them.
    """

    numbers: Int
    labels: tuple[str, ...]


def labelled_topics(model: FlatTopics, topic: int | None = None) -> LabelledTopics:
    """Return the topics that a table is about, with their labels: one, all, or of a tree the largest."""
    labels = model.labels_
    if topic is None:
        numbers = model.shown_topics(1, most=MOST_TOPICS).numbers
    else:
        model.word_distributions([topic])  # refuses a number that is none of a topic
        numbers = np.array([topic], dtype=np.int64)
    return LabelledTopics(numbers, labels_of(model, numbers, labels))


def with_labels(model: FlatTopics, frame: pd.DataFrame) -> pd.DataFrame:
    """Add the labels of the topics of a table behind their numbers."""
    numbers = np.union1d(labelled_topics(model).numbers, frame["topic"].to_numpy(dtype=np.int64))
    label = dict(zip(numbers.tolist(), labels_of(model, numbers, model.labels_), strict=True))
    frame.insert(frame.columns.get_loc("topic") + 1, "label", [label[k] for k in frame["topic"].tolist()])
    return frame


def labels_of(
    topics: FlatTopics, numbers: Int, given: Mapping[int, str], known: tuple[Float, Float] | None = None
) -> tuple[str, ...]:
    """Return a label for each of some topics: the given one, or its most relevant words.           docs/math (Q5)

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
    """Return the labels that stay when topics have changed: those of topics that kept their number.    docs/math (Q7)

    A topic kept its number if the topic that now has this number is nearer to it than any other, by the Hellinger
    distance of their words: `before` (n, W) are those of the labelled topics, `after` (m, W') those of `numbers` now.
    """
    nearest = numbers[np.argmax(np.sqrt(before) @ np.sqrt(after[:, : before.shape[1]]).T, axis=1)]
    return {k: label for (k, label), now in zip(given.items(), nearest, strict=True) if k == now}


def is_label(text: Any) -> bool:
    """Whether a text can be the label of a topic: it is one line, not blank and not too long."""
    return isinstance(text, str) and bool(text.strip()) and len(text) <= LONGEST and text.isprintable()
