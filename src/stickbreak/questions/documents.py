"""The documents of a topic, the topics of documents, and documents that are like one (Hellinger distance of weights).

Documents are ranked by the lower end of an interval of their share (Wilson, Probable inference, the law of succession,
and statistical inference, 1927): a long document with 90 % of a topic stands above one of three words with 100 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.labels import with_labels
from stickbreak.questions.weights import dense, weight_blocks, whole_blocks

if TYPE_CHECKING:
    import pandas as pd

_WILSON_Z = 1.96


def wilson_lower_bound(share: Float, n_tokens: Float) -> Float:
    """Return the lower end of the 95 % Wilson interval of a share that was seen over some tokens.

    Parameters
    ----------
    share : ndarray
        Shares between 0 and 1.
    n_tokens : ndarray, broadcastable to share
        Tokens of the documents, positive.

    Returns
    -------
    ndarray
        Lower bounds between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> wilson_lower_bound(np.array([1.0, 0.9]), np.array([3.0, 300.0])).round(2)
    array([0.44, 0.86])
    """
    z2 = _WILSON_Z**2
    centre = share + z2 / (2 * n_tokens)
    spread = _WILSON_Z * np.sqrt(share * (1 - share) / n_tokens + z2 / (4 * n_tokens**2))
    return np.asarray(np.maximum(centre - spread, 0.0) / (1 + z2 / n_tokens))


def keep_best(best: tuple[Int, Float, Float], rows: Int, scores: Float, shares: Float) -> None:
    """Merge a block of documents into the best E documents of each of n topics; ties go to the earlier document.

    Parameters
    ----------
    best : tuple of ndarrays of shape (n, E)
        Rows of the best documents so far, the best first and -1 for none; their scores; their shares. Changed in place.
    rows : ndarray of int, of shape (b,)
        Rows of the documents of the block, in increasing order over all blocks.
    scores, shares : ndarray of shape (b, n)
    """
    best_rows, best_scores, best_shares = best
    n_best = best_rows.shape[1]
    for k in range(best_rows.shape[0]):
        column = scores[:, k]
        new = np.flatnonzero(column > best_scores[k, -1]) if n_best else np.empty(0, int)
        if new.size == 0:
            continue
        score = np.concatenate([best_scores[k], column[new]])
        row = np.concatenate([best_rows[k], rows[new]])
        share = np.concatenate([best_shares[k], shares[new, k]])
        chosen = np.argsort(-score, kind="stable")[:n_best]
        best_scores[k], best_rows[k], best_shares[k] = score[chosen], row[chosen], share[chosen]


def best_documents(topics: FlatTopics, corpus: Corpus, numbers: Int, n: int) -> tuple[Int, Float]:
    """Return the documents that show each of some topics best.

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
        D documents. Those without tokens are left out.
    numbers : ndarray of int, of shape (m,)
    n : int
        Documents of each topic.

    Returns
    -------
    rows : ndarray of int, of shape (m, n)
        The best first; -1 where there are no more.
    weights : ndarray of shape (m, n)
    """
    lengths = np.asarray(corpus.document_lengths, dtype=np.float64)
    shape = numbers.size, min(n, len(corpus))
    best = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf), np.zeros(shape)
    for rows, weights in weight_blocks(topics, corpus, numbers, np.flatnonzero(lengths > 0)):
        keep_best(best, rows, wilson_lower_bound(weights, lengths[rows, None]), weights)
    return best[0], best[2]


def documents_of(model: FlatTopics, topic: int, X: Any, n: int = 10) -> pd.DataFrame:
    """Return the documents that show a topic best.

    Parameters
    ----------
    topic : int
        Number of the topic; of a tree a leaf.
    X : Corpus, sparse matrix or array of shape (D, W)
    n : int, default=10
        Number of documents.

    Returns
    -------
    DataFrame
        A row for each document, the best first: document (its name), row, weight (of the topic), low (the lower end
        of Wilson's 95 % interval of the weight), tokens. The order is that of low, so that three words do not win.
    """
    import pandas as pd

    model.word_distributions([topic])  # refuses a number that is none of a topic
    corpus = model._corpus(X)
    check_whole("n", n, 1)
    (rows,), (weights,) = best_documents(model, corpus, np.array([int(topic)], dtype=np.int64), n)
    found = rows >= 0
    rows, weights, names = rows[found], weights[found], corpus.names_in_tables
    tokens = corpus.document_lengths[rows]
    return pd.DataFrame(
        {
            "document": [names[d] for d in rows],
            "row": rows,
            "weight": weights,
            "low": wilson_lower_bound(weights, np.asarray(tokens, dtype=np.float64)),
            "tokens": tokens,
        }
    )


def topics_of(model: FlatTopics, X: Any, n: int = 5) -> pd.DataFrame:
    """Return the largest topics of each document.

    Parameters
    ----------
    X : Corpus, sparse matrix or array of shape (D, W)
        Documents; ``corpus[[3]]`` is one.
    n : int, default=5
        Number of topics of each document.

    Returns
    -------
    DataFrame
        A row for each document and topic: document (its name), row, topic, label, weight. Documents without a word
        of the model have no row.
    """
    import pandas as pd

    corpus = model._corpus(X)
    check_whole("n", n, 1)
    names, bare = corpus.names_in_tables, model._bare_documents(corpus)
    with_tokens = np.flatnonzero(np.asarray(corpus.document_lengths) > 0)
    parts: list[tuple[Int, Int, Float]] = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for block in whole_blocks(model, bare):
        rows = with_tokens[(with_tokens >= block.start) & (with_tokens < block.stop)]
        weights: Any = model.active_weights(bare[rows])
        is_sparse = sparse.issparse(weights)
        if is_sparse:
            parts += [_largest(rows[[i]], weights[[i]].indices, weights[[i]].data[None], n) for i in range(rows.size)]
        else:
            parts.append(_largest(rows, np.arange(weights.shape[1]), weights, n))
    d, k, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    table = pd.DataFrame({"document": [names[row] for row in d], "row": d, "topic": k, "weight": weight})
    return with_labels(model, table)


def _largest(rows: Int, numbers: Int, weights: Float, n: int) -> tuple[Int, Int, Float]:
    """Return rows, topics and weights of the largest n topics of each row that are not zero."""
    chosen = np.argsort(-weights, axis=1, kind="stable")[:, :n]
    found = np.take_along_axis(weights, chosen, axis=1)
    shown = found > 0
    return np.repeat(rows, shown.sum(axis=1)), numbers[chosen[shown]].astype(np.int64), found[shown]


def similar_documents(model: FlatTopics, X: Any, document: int | str, n: int = 10) -> pd.DataFrame:
    """Return the documents that are most like one document.                                    docs/math (Q7)

    The distance is that of Hellinger between the topic weights.

    Parameters
    ----------
    X : Corpus, sparse matrix or array of shape (D, W)
    document : int or str
        Row or name of the document, which is one of X.
    n : int, default=10
        Number of documents.

    Returns
    -------
    DataFrame
        A row for each document, the nearest first: document (its name), row, distance (0: the same weights; 1: no
        topic in common), tokens.
    """
    import pandas as pd

    corpus = model._corpus(X)
    row = row_of(corpus, document)
    check_whole("n", n, 1)
    lengths, bare = np.asarray(corpus.document_lengths), model._bare_documents(corpus)
    if lengths[row] <= 0:
        raise InputError(f"document {row} has no word of the model; give another document.")
    root = np.sqrt(model.active_weights(bare[row : row + 1]))
    affinity = np.empty(len(corpus))
    for block in whole_blocks(model, bare):
        affinity[block] = dense(np.sqrt(model.active_weights(bare[block])) @ root.T)[:, 0]
    affinity[row] = affinity[lengths <= 0] = -1.0
    nearest = np.argsort(-affinity, kind="stable")[:n]
    nearest = nearest[affinity[nearest] >= 0]
    names = corpus.names_in_tables
    return pd.DataFrame(
        {
            "document": [names[d] for d in nearest],
            "row": nearest,
            "distance": np.sqrt(np.maximum(1.0 - affinity[nearest], 0.0)),
            "tokens": lengths[nearest],
        }
    )


def row_of(corpus: Corpus, document: int | str) -> int:
    """Return the row of a document that is given by its name or its row; digits are a row where no name is so.

    Raises
    ------
    InputError
        If there is no such document, or several have this name.
    """
    if isinstance(document, str):
        names = corpus.document_names
        rows = [d for d, name in enumerate(names) if name == document]
        if not rows and document.isdecimal():
            return row_of(corpus, int(document))
        if not rows:
            raise InputError(
                f"no document of the corpus has the name {document!r}; give a name, or the number of the row, from 0."
            )
        if len(rows) > 1:
            some = ", ".join(map(str, rows[:5])) + (" and more" if len(rows) > 5 else "")
            raise InputError(
                f"{len(rows)} documents have the name {document!r}, in rows {some}; give one of these rows."
            )
        return rows[0]
    row = check_whole("document", document, 0)
    if row >= len(corpus):
        raise InputError(f"document is {row}, but the corpus has {len(corpus)} documents; rows count from 0.")
    return row
