"""The topics that a report shows: all of a model, or the largest leaves of a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.evaluation.coherence import top_word_indices
from stickbreak.exceptions import InputError
from stickbreak.prediction.fitted import FittedTopics

Float = NDArray[np.float64]
WeightSource = Callable[[NDArray[np.int64]], tuple[Float, Float]]

_MOST_LEAVES = 300
_MOST_NUMBERS = 1 << 24  # of the words of leaves, held at once: 128 MiB


@dataclass(frozen=True, slots=True)
class ShownTopics:
    """What the report needs to know of K topics.

    Attributes
    ----------
    numbers : tuple of int
        What each is called: its row in ``topic_word_``, its leaf in a tree; its column in the result of ``transform``.
    topic_word : ndarray of shape (K, W)
    weights : ndarray of shape (K,)
        Expected corpus weights; shares of the tokens of the fit, of a tree.
    words : list of lists of (str, float)
        Top words, with their probabilities, in the order that the model ranks them by.
    of_documents : callable
        From rows of the corpus to their weights, (n, K), and the largest weight of any topic, (n,).
    """

    numbers: tuple[int, ...]
    topic_word: Float
    weights: Float
    words: list[list[tuple[str, float]]]
    of_documents: WeightSource


def all_topics(model: FittedTopics, corpus: Corpus, given: ArrayLike | None, n_words: int) -> ShownTopics:
    """Show every topic of a model.

    Parameters
    ----------
    model : fitted model
        Any family but a tree.
    corpus : Corpus
    given : array-like of shape (D, K) or (D, K + 1), optional
        Weights of the documents, if already known.
    n_words : int
        Top words of each topic, by their probability.

    Raises
    ------
    InputError
        If the weights do not fit.
    """
    phi = np.asarray(model.topic_word_, dtype=np.float64)
    words = [
        [(model.vocabulary_[w], float(phi[k, w])) for w in row] for k, row in enumerate(top_word_indices(phi, n_words))
    ]
    known = None if given is None else _checked(np.asarray(given), corpus, (phi.shape[0], phi.shape[0] + 1))

    def of_documents(rows: NDArray[np.int64]) -> tuple[Float, Float]:
        if known is None:
            found = np.asarray(model.transform(corpus[rows]), dtype=np.float64)
        else:
            active = known[rows, : phi.shape[0]].astype(np.float64)
            found = active / active.sum(axis=1, keepdims=True)
        return found, found.max(axis=1)

    weights = np.asarray(model.topic_weights_, dtype=np.float64)
    return ShownTopics(tuple(range(phi.shape[0])), phi, weights, words, of_documents)


def largest_leaves(model: Any, corpus: Corpus, given: Any, n_words: int) -> ShownTopics:
    """Show the leaves of a tree that have the most tokens, at most 300.

    Parameters
    ----------
    model : fitted model
        A tree.
    corpus : Corpus
    given : sparse matrix of shape (D, L), optional
        Weights of the documents, if already known.
    n_words : int
        Top words of each leaf, as the tree ranks them.

    Raises
    ------
    InputError
        If the weights do not fit.
    """
    most = max(1, min(_MOST_LEAVES, _MOST_NUMBERS // corpus.n_words))
    order = np.argsort(-model.leaf_tokens_, kind="stable")[:most]
    leaves = model.leaves_[order]
    known = None if given is None else _checked(sparse.csr_array(given), corpus, (model.n_leaves_,))
    root = model.tree_

    def of_documents(rows: NDArray[np.int64]) -> tuple[Float, Float]:
        found = sparse.csr_array(model.transform(corpus[rows]) if known is None else known[rows])
        return found[:, leaves].toarray(), found.max(axis=1).toarray().ravel()

    return ShownTopics(
        numbers=tuple(leaves.tolist()),
        topic_word=model.word_distributions(leaves),
        weights=model.topic_weights_[order],
        words=[root.leaf(z).words(n_words) for z in leaves.tolist()],
        of_documents=of_documents,
    )


def _checked(given: Any, corpus: Corpus, n_columns: tuple[int, ...]) -> Any:
    """Refuse weights that are not those of the documents and the topics."""
    if given.ndim != 2 or given.shape[0] != corpus.n_documents or given.shape[1] not in n_columns:
        raise InputError(
            f"weights have shape {given.shape} but there are {corpus.n_documents} documents and {n_columns[0]} "
            "topics; give the result of transform on the same corpus."
        )
    return given
