"""Documents that a question is about, with a column, and their topic weights, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.text_columns import as_frame, is_frame, kept_columns
from stickbreak.fitting.loop import logger
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import document_blocks

_STORED_IF_SPARSE = 200  # leaves that a document has, at most but for the longest


def documents_with(model: FlatTopics, X: Any, column: Any) -> Corpus:
    """Return documents; of a data frame the column that is named is with those of the model, with None all columns."""
    X = as_frame(X)
    corpus = model._corpus(X)
    if is_frame(X) and model.text_column_ is not None and (column is None or isinstance(column, str | Integral)):
        own = [] if corpus.metadata is None else corpus.metadata.column_names
        keep = "all" if column is None else [column, *own]
        corpus = replace(corpus, metadata=kept_columns(X, keep, model.text_column_))
    return corpus


def warn_of_gaps(lacking: np.ndarray, what: str) -> None:
    """Log how many documents have no value of a kind."""
    n = int(lacking.sum())
    if n:
        number = "1 document has" if n == 1 else f"{n:,} documents have"
        logger.warning("%s no %s and %s left out", number, what, "is" if n == 1 else "are")


def weight_blocks(
    topics: FlatTopics, corpus: Corpus, numbers: Int, rows: Int | None = None
) -> Iterator[tuple[Int, Float]]:
    """Yield rows and their weights of some topics, (b, n), in blocks that need little memory; all rows by default."""
    bare = topics._bare_documents(corpus)
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
