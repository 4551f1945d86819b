"""The most probable words of leaves, found without the probabilities of all words."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stickbreak.backoff_tree.kernels import ranking as ranking_kernels
from stickbreak.backoff_tree.model import TreeModel
from stickbreak.numerics.arrays import Int


def ranked_words(model: TreeModel, n_words: int) -> Int:
    """Return the words of highest P(w | z) of all leaves with tokens, the highest first.          math.md (T13)

    Parameters
    ----------
    model : TreeModel
    n_words : int
        Words of each leaf; at most all.

    Returns
    -------
    ndarray of shape (K, min(n_words, W))
        As if the probabilities of all words had been sorted, ties by word.
    """
    words, W = model.words, model.words.size.size
    by_leaf = sparse.csr_array(
        sparse.csc_array((model.kept(), words.leaf, words.start), shape=(model.shape.n_leaves, W))
    )
    leaves = np.flatnonzero(model.n_tokens)
    start = np.append(by_leaf.indptr[leaves], by_leaf.indptr[-1]).astype(np.int64)
    top = np.empty((leaves.size, min(n_words, W)), np.int64)
    ranking_kernels.rank_words(
        start, by_leaf.indices, by_leaf.data, leaves, model.shape.nodes, model.of_words.rate,
        model.backoff.peak, W, top,
    )  # fmt: skip
    return top
