"""Where a tree starts: clusters of documents by L1 distance, and clusters in these (math.md (F7))."""

from __future__ import annotations

import numpy as np

from stickbreak.baselines.nested_hdp.kernels import clusters as cluster_kernels
from stickbreak.baselines.nested_hdp.state import TreeState
from stickbreak.baselines.nested_hdp.tree import Tree
from stickbreak.corpus import Corpus
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream

SAMPLE = 10_000  # documents that the start looks at
ROUNDS = 5  # of each clustering, at most
EVEN = 0.1  # share of the tokens of a node that has the words of all documents


def begin(corpus: Corpus, tree: Tree, seed: int, share: float) -> TreeState:
    """Return the state at the start.                                                                   math.md (F7)

    Parameters
    ----------
    corpus : Corpus
        The documents, or the first minibatch of them.
    tree : Tree
    seed : int
    share : float
        Documents of all to those of `corpus`.
    """
    full = np.flatnonzero(corpus.document_lengths > 0)
    rng = stream(seed, "start of NestedHDP")
    chosen = np.sort(rng.choice(full, size=min(SAMPLE, full.size), replace=False))
    sample = corpus[chosen].counts
    lengths = np.asarray(corpus.document_lengths, np.float64)[chosen]
    indptr, word = sample.indptr.astype(np.int64), sample.indices.astype(np.int64)
    x = sample.data / np.repeat(lengths, np.diff(indptr))
    S, picks = np.zeros((tree.n_nodes, corpus.n_words)), np.zeros(tree.n_nodes)
    documents = {-1: np.arange(lengths.size)}
    for p in range(-1, tree.n_nodes):
        rows, children = documents.pop(p, np.zeros(0, np.int64)), np.arange(tree.start[p + 1], tree.start[p + 2])
        if not rows.size or not children.size:
            continue
        n_clusters = min(children.size, rows.size)
        cluster, centre = _clusters(indptr, word, x, rows, np.zeros((n_clusters, corpus.n_words)), rng)
        for j in range(len(centre)):
            mine = rows[cluster == j]
            documents[int(children[j])] = mine
            S[children[j]], picks[children[j]] = centre[j] * lengths[mine].sum(), mine.size
        cluster_kernels.take_away(indptr, word, x, rows, cluster, centre)
    words = np.bincount(word, sample.data, corpus.n_words) / lengths.sum()
    S = (1.0 - EVEN) * S + EVEN * S.sum(axis=1, keepdims=True) * words
    S *= share * corpus.n_tokens / S.sum()
    return TreeState.of(np.ascontiguousarray(S.T), picks * (share * full.size / lengths.size))


def _clusters(
    indptr: Int, word: Int, x: Float, rows: Int, centre: Float, rng: np.random.Generator
) -> tuple[Int, Float]:
    """Return the cluster of each document, (n,), and the centres, (k, W); the one with the most documents first.

    The table `centre` is room for the centres.
    """
    n_clusters, size = len(centre), np.zeros(len(centre), np.int64)
    first = rng.choice(rows, size=n_clusters, replace=False)
    cluster_kernels.centres(indptr, word, x, first, np.arange(n_clusters), centre, size)
    cluster = np.full(rows.size, -1)
    for _ in range(ROUNDS):
        if not cluster_kernels.assign(indptr, word, x, rows, centre, cluster):
            break
        cluster_kernels.centres(indptr, word, x, rows, cluster, centre, size)
    order = np.argsort(-size, kind="stable")
    return np.argsort(order)[cluster], centre[order]
