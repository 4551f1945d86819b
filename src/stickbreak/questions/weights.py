"""Topic weights of documents, block by block, for the topics that an answer is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.fitted import document_blocks
from stickbreak.prediction.topics import FlatTopics

_STORED_IF_SPARSE = 200  # leaves that a document has, at most but for the longest


@dataclass(frozen=True, slots=True)
class Asked:
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


def weight_blocks(
    topics: FlatTopics, corpus: Corpus, numbers: Int, rows: Int | None = None
) -> Iterator[tuple[Int, Float]]:
    """Yield the weights of some topics in documents, in blocks that need little memory.

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
        D documents.
    numbers : ndarray of int, of shape (n,)
        Columns of `transform`.
    rows : ndarray of int, optional
        Documents in the order in which they are wanted. The default is all in their order.

    Yields
    ------
    rows : ndarray of int, of shape (b,)
    weights : ndarray of shape (b, n)
    """
    bare = replace(corpus, names=None, metadata=None)
    n_documents = len(corpus) if rows is None else rows.size
    n_columns = numbers.size if _is_sparse(topics, corpus) else topics.n_columns_  # that are in memory at a time
    for block in document_blocks(n_documents, n_columns):
        chosen = np.arange(block.start, block.stop) if rows is None else rows[block]
        weights = topics.active_weights(bare[block] if rows is None else bare[chosen])
        every = np.array_equal(numbers, np.arange(weights.shape[1]))
        yield chosen, dense(weights if every else weights[:, numbers])


def whole_blocks(topics: FlatTopics, corpus: Corpus) -> Iterator[slice]:
    """Yield blocks of documents of which all weights need little memory: larger ones where they are sparse."""
    return document_blocks(len(corpus), _STORED_IF_SPARSE if _is_sparse(topics, corpus) else topics.n_columns_)


def _is_sparse(topics: FlatTopics, corpus: Corpus) -> bool:
    """Tell whether the weights of documents are sparse: those of a tree."""
    return bool(sparse.issparse(topics.active_weights(corpus[:0])))


def dense(weights: Any) -> Float:
    """Return weights that may be sparse as an array."""
    is_sparse = sparse.issparse(weights)
    return np.asarray(weights.todense() if is_sparse else weights)
