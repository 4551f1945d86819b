"""The topic of each word of documents: exact expectations given the fitted topics and the weights of the document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.tables import in_tables
from stickbreak.fitting.requirements import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.weights import whole_blocks

if TYPE_CHECKING:
    import pandas as pd


def word_topics(topics: FlatTopics, corpus: Corpus, n: int) -> pd.DataFrame:
    """Return the most probable topics of each word of each document.                                math.md (Q8)

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
    n : int
        Topics of each word, the most probable first.

    Returns
    -------
    DataFrame
        A row for each document, word and topic: document, row, word, count, topic, probability.
    """
    import pandas as pd

    check_whole("n", n, 1)
    names, counts = corpus.names_in_tables, corpus.counts
    entry, topic, probability = (np.concatenate(column) for column in zip(*best_topics(topics, corpus, n), strict=True))
    row = np.repeat(np.arange(len(corpus)), np.diff(counts.indptr))[entry]
    return pd.DataFrame(
        {
            "document": [names[d] for d in row],
            "row": row,
            "word": in_tables([topics.vocabulary_[w] for w in counts.indices[entry]]),
            "count": counts.data[entry],
            "topic": topic,
            "probability": probability,
        }
    )


def best_topics(topics: FlatTopics, corpus: Corpus, n: int) -> Iterator[tuple[Int, Int, Float]]:
    """Yield for blocks of documents: numbers of stored counts, topics, probabilities.               math.md (Q8)

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
    n : int
        Topics of each word at most, the most probable first.
    """
    yield np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    bare, indptr = replace(corpus, names=None, metadata=None), corpus.counts.indptr
    phi: Float | None = None
    for block in whole_blocks(topics, bare):
        weights = topics.active_weights(bare[block])
        is_sparse = sparse.issparse(weights)
        if not is_sparse and phi is None:
            phi = np.ascontiguousarray(topics.topic_word_.T)
        for d in range(block.start, block.stop):
            begin, end = int(indptr[d]), int(indptr[d + 1])
            words, at = corpus.counts.indices[begin:end], d - block.start
            if is_sparse:
                part = weights[[at]]
                numbers, theta = part.indices.astype(np.int64), part.data
                of_words = topics.word_distributions(numbers)[:, words].T if numbers.size else np.empty((words.size, 0))
            else:
                assert phi is not None
                numbers, theta, of_words = np.arange(weights.shape[1]), weights[at], phi[words]
            yield _ranked(begin, numbers, theta * of_words, n)


def _ranked(begin: int, numbers: Int, joint: Float, n: int) -> tuple[Int, Int, Float]:
    """Normalise theta_dk phi_kw over the topics, and return the largest of each word."""
    r = joint / joint.sum(axis=1, keepdims=True)
    chosen = np.argsort(-r, axis=1, kind="stable")[:, :n]
    best = np.take_along_axis(r, chosen, axis=1)
    shown = best > 0
    entry = np.repeat(begin + np.arange(len(r)), chosen.shape[1])[shown.ravel()]
    return entry, numbers[chosen[shown]], best[shown]
