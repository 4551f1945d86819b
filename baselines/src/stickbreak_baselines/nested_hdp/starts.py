"""Where a tree starts: clusters of documents by L1 distance, and clusters in these (docs/math (F7))."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream
from stickbreak_baselines.nested_hdp.kernels import clusters as cluster_kernels
from stickbreak_baselines.nested_hdp.state import TreeState
from stickbreak_baselines.nested_hdp.tree import Tree
from stickbreak_baselines.word_prior import nearness

SAMPLE = 10_000  # documents that the start looks at
ROUNDS = 5  # of each clustering, at most
EVEN = 0.1  # share of the tokens of a node that has the words of all documents


def begin(corpus: Corpus, tree: Tree, seed: int, share: float, pseudo: sparse.csr_array | None = None) -> TreeState:
    """Return the state at the start.                                                            docs/math (F7), (F10)

    Parameters
    ----------
    corpus : Corpus
        The documents, or the first minibatch of them.
    tree : Tree
    seed : int
    share : float
        Documents of all to those of `corpus`.
    pseudo : csr_array of shape (W, n_kept), optional
        Pseudo-counts of the first children of the root, which begin near the documents that have these words.
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
        near = None if pseudo is None or p >= 0 else _centres_of_seeds(sample, x, pseudo)
        n_clusters = max(min(children.size, rows.size), 0 if near is None else len(near))
        cluster, centre = _clusters(indptr, word, x, rows, np.zeros((n_clusters, corpus.n_words)), rng, near)
        for j in range(len(centre)):
            mine = rows[cluster == j]
            documents[int(children[j])] = mine
            S[children[j]], picks[children[j]] = centre[j] * lengths[mine].sum(), mine.size
        cluster_kernels.take_away(indptr, word, x, rows, cluster, centre)
    words = np.bincount(word, sample.data, corpus.n_words) / lengths.sum()
    S = (1.0 - EVEN) * S + EVEN * S.sum(axis=1, keepdims=True) * words
    S *= share * corpus.n_tokens / S.sum()
    n_kept, S = 0 if pseudo is None else int(pseudo.shape[1]), np.ascontiguousarray(S.T)
    if pseudo is not None:
        S[:, :n_kept] += pseudo.toarray()
    return TreeState.of(S, picks * (share * full.size / lengths.size), n_kept=n_kept)


def _centres_of_seeds(sample: Any, x: Float, pseudo: sparse.csr_array) -> Float:
    """Return the centres of seeds, (n_kept, W): means of the documents near them, else their words.   docs/math (F10)

    A row of eta that is the same for all words says nothing: its centre is the mean of the documents.
    """
    shares = sparse.csr_array((x, sample.indices, sample.indptr), shape=sample.shape)
    found, words = np.asarray((shares.T @ nearness(sample, pseudo).toarray()).T), pseudo.toarray().T
    alone = ~found.any(axis=1)
    found[alone] = words[alone]
    found[~found.any(axis=1)] = shares.sum(axis=0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _clusters(
    indptr: Int, word: Int, x: Float, rows: Int, centre: Float, rng: np.random.Generator, known: Float | None
) -> tuple[Int, Float]:
    """Return the cluster of each document, (n,), and the centres, (k, W); the one with the most documents first.

    The table `centre` is room for the centres. Clusters that begin at the centres `known` come before the others.
    """
    n_clusters, size = len(centre), np.zeros(len(centre), np.int64)
    n_known = 0 if known is None else len(known)
    first = rng.choice(rows, size=n_clusters - n_known, replace=False)
    cluster_kernels.centres(indptr, word, x, first, np.arange(n_known, n_clusters), centre, size)
    if known is not None:
        centre[:n_known] = known
    cluster = np.full(rows.size, -1)
    for _ in range(ROUNDS):
        if not cluster_kernels.assign(indptr, word, x, rows, centre, cluster):
            break
        cluster_kernels.centres(indptr, word, x, rows, cluster, centre, size)
        if known is not None:
            lost = np.flatnonzero(size[:n_known] == 0)
            centre[lost] = known[lost]
    order = np.append(np.arange(n_known), n_known + np.argsort(-size[n_known:], kind="stable"))
    return np.argsort(order)[cluster], centre[order]
