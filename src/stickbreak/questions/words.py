"""The words of a topic by their relevance, the topics of words, and the topic of each word of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from fnmatch import translate
from re import compile as pattern_of
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus, TextOptions
from stickbreak.corpus.metadata import in_tables
from stickbreak.corpus.preparing import preparation
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import RELEVANCE, log_word_shares, relevant_words
from stickbreak.prediction.words import relevance as relevance_of
from stickbreak.questions.labels import with_labels
from stickbreak.questions.weights import whole_blocks

if TYPE_CHECKING:
    import pandas as pd

_CHANCE = 1 - 1e-9  # the lift of a topic that has its share of the words and no more, but for rounding


def words_of(model: FlatTopics, topic: int, relevance: float = RELEVANCE, n: int = 20) -> pd.DataFrame:
    """Return the words of a topic by relevance (Sievert and Shirley 2014).                     docs/math (Q5)

    Parameters
    ----------
    topic : int
        Number of the topic; of a tree a leaf.
    relevance : float, default=0.6
        From 0 (words that other topics do not have first) to 1 (frequent words first).
    n : int, default=20
        Number of words.

    Returns
    -------
    DataFrame
        A row for each word: word, relevance, probability (in the topic), lift (by how many times the word is more
        frequent in the topic than in all), share_of_word (of the tokens of the word that belong to the topic).
    """
    import pandas as pd

    if isinstance(relevance, bool) or not isinstance(relevance, int | float | np.number) or not 0 <= relevance <= 1:
        raise InputError(f"relevance is {relevance!r}; give a number from 0 to 1.")
    check_whole("n", n, 1)
    (phi,), log_shares = model.word_distributions([topic]), log_word_shares(model)
    (best,) = relevant_words(model, np.array([topic]), n, float(relevance))
    numbers, _, joint = model.topics_of_words(best)
    return pd.DataFrame(
        {
            "word": in_tables([model.vocabulary_[w] for w in best]),
            "relevance": relevance_of(phi, log_shares, float(relevance))[best],
            "probability": phi[best],
            "lift": phi[best] / np.exp(log_shares[best]),
            "share_of_word": (joint[numbers == topic].sum(axis=0) / joint.sum(axis=0)) if best.size else np.empty(0),
        }
    )


def search(model: FlatTopics, words: str | Iterable[str]) -> pd.DataFrame:
    """Find the topics of words.                                                                docs/math (Q6)

    Parameters
    ----------
    words : str or iterable of str
        Words of the model, in a list or in one string with spaces between them; * stands for any characters. Words
        that it does not know as they are given are made lower case, and lose accents, if the texts of the fit did.

    Returns
    -------
    DataFrame
        A row for each topic with a lift of 1 or more, the largest share first: topic, label, share_of_word
        (mean over the words of the share of their tokens that the topic has), lift (by how many times they are
        more frequent in the topic than in all).

    Raises
    ------
    InputError
        If the model does not know a word; the message names similar ones.
    """
    import pandas as pd

    check_is_fitted(model)
    as_counted = preparation(model.text_options_ or TextOptions())
    asked = words.split() if isinstance(words, str) else list(words) if isinstance(words, Iterable) else [words]
    wrong = next((word for word in asked if not isinstance(word, str)), None)
    if wrong is not None or None in asked:
        raise InputError(f'words holds {wrong!r:.40}, which is no text; give words, such as words="engine".')
    if not asked:
        raise InputError('words is empty: a search needs at least one word, such as words="engine".')
    columns = [_matching(model.vocabulary_, word, as_counted) for word in asked]
    numbers, sizes, joint = model.topics_of_words(np.concatenate(columns))
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
    table = pd.DataFrame({"topic": numbers[order], "share_of_word": shares[order], "lift": lift[order]})
    return with_labels(model, table)


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


def word_topics(model: FlatTopics, X: Any, n: int = 1) -> pd.DataFrame:
    """Return the topics of each word of each document: exact expectations given the fitted topics.    docs/math (Q8)

    Parameters
    ----------
    X : Corpus, sparse matrix or array of shape (D, W)
    n : int, default=1
        Number of topics of each word, the most probable first.

    Returns
    -------
    DataFrame
        A row for each document, word and topic: document (its name), row, word, count (in the document), topic,
        label, probability.
    """
    import pandas as pd

    corpus = model._corpus(X)
    check_whole("n", n, 1)
    names, counts = corpus.names_in_tables, corpus.counts
    entry, topic, probability = (np.concatenate(column) for column in zip(*best_topics(model, corpus, n), strict=True))
    row = np.repeat(np.arange(len(corpus)), np.diff(counts.indptr))[entry]
    table = pd.DataFrame(
        {
            "document": [names[d] for d in row],
            "row": row,
            "word": in_tables([model.vocabulary_[w] for w in counts.indices[entry]]),
            "count": counts.data[entry],
            "topic": topic,
            "probability": probability,
        }
    )
    return with_labels(model, table)


def best_topics(topics: FlatTopics, corpus: Corpus, n: int) -> Iterator[tuple[Int, Int, Float]]:
    """Yield numbers of stored counts, their n most probable topics, probabilities, in blocks.        docs/math (Q8)"""
    yield np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    for d, (numbers, joint) in enumerate(joint_of_documents(topics, corpus)):
        yield _ranked(int(corpus.counts.indptr[d]), numbers, joint, n)


def joint_of_documents(topics: FlatTopics, corpus: Corpus, known: Any = None) -> Iterator[tuple[Int, Float]]:
    """Yield for each document the numbers of its m topics, and theta_dk phi_kw of its stored words, (n, m).

    `known` are the weights of all topics, (D, K), if they are there already.
    """
    bare, indptr = topics._bare_documents(corpus), corpus.counts.indptr
    phi: Float | None = None
    for block in whole_blocks(topics, bare):
        weights = topics.active_weights(bare[block]) if known is None else known[block]
        is_sparse = sparse.issparse(weights)
        if not is_sparse and phi is None:
            phi = np.ascontiguousarray(topics.topic_word_.T)
        for d in range(block.start, block.stop):
            words, at = corpus.counts.indices[indptr[d] : indptr[d + 1]], d - block.start
            if is_sparse:
                part = weights[[at]]
                numbers, theta = part.indices.astype(np.int64), part.data
                of_words = topics.word_distributions(numbers)[:, words].T if numbers.size else np.empty((words.size, 0))
            else:
                assert phi is not None
                numbers, theta, of_words = np.arange(weights.shape[1]), weights[at], phi[words]
            yield numbers, theta * of_words


def _ranked(begin: int, numbers: Int, joint: Float, n: int) -> tuple[Int, Int, Float]:
    """Normalise theta_dk phi_kw over the topics, and return the largest of each word."""
    r = joint / joint.sum(axis=1, keepdims=True)
    chosen = np.argsort(-r, axis=1, kind="stable")[:, :n]
    best = np.take_along_axis(r, chosen, axis=1)
    shown = best > 0
    entry = np.repeat(begin + np.arange(len(r)), chosen.shape[1])[shown.ravel()]
    return entry, numbers[chosen[shown]], best[shown]
