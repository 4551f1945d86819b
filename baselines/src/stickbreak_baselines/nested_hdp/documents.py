"""What a fixed tree says of documents: the weights of its nodes, and the probability of the next token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine, shards
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.left_to_right import Particles, Sequences
from stickbreak_baselines.nested_hdp.kernels import sequences as sequence_kernels
from stickbreak_baselines.nested_hdp.kernels import weights as weight_kernels
from stickbreak_baselines.nested_hdp.tree import Tree

TOLERANCE, SWEEPS = 1e-6, 200  # nats per token by which a sweep must raise the bound of a document
_SHARD_COUNTS = 4_096  # stored counts of a shard


@dataclass(frozen=True, slots=True)
class Grown:
    """A fitted tree, and the priors of documents in it."""

    tree: Tree
    g: Float  # (K,)  expected weight of each node among its siblings; the rest to one is for nodes not there
    log_g: Float  # (K,)  E log g_k
    alpha: float
    mean: float  # m
    scale: float  # pi


def weights_of(corpus: Corpus, elog: Float, grown: Grown, most: int, engine: Engine) -> Float:
    """Return the weights of the nodes in documents, that of other nodes last, (D, K + 1).               docs/math (F8)

    Parameters
    ----------
    corpus : Corpus
        D documents over W words.
    elog : ndarray of shape (K, W)
        E log phi_kw.
    grown : Grown
    most : int
        Largest number of nodes of a document.
    engine : Engine
    """
    counts, tree = corpus.counts, grown.tree
    indptr, count = counts.indptr.astype(np.int64), counts.data.astype(np.float64)
    words, row = np.unique(counts.indices, return_inverse=True)
    by_word = np.ascontiguousarray(elog[:, words].T)
    word, out = row.astype(np.int32).ravel(), np.empty((corpus.n_documents, tree.n_nodes + 1))

    def run(rows: tuple[int, int]) -> None:
        first, last = rows
        low, high = indptr[first], indptr[last]
        weight_kernels.document_weights(
            indptr[first : last + 1] - low, word[low:high], count[low:high], by_word, grown.log_g, grown.g, tree.parent,
            tree.start, tree.inner, grown.alpha, grown.mean, grown.scale, TOLERANCE, SWEEPS, most, out[first:last],
        )  # fmt: skip

    engine.map(run, shards(np.diff(indptr), _SHARD_COUNTS))
    return out


class TreeRule:
    """Nodes of a fixed tree: p(node | nodes before), sticks and switches integrated out.                docs/math (F9)

    What the children of a node lack to one is a node of its own below it, without children, for all nodes that are not
    there.

    Parameters
    ----------
    topics : ndarray of shape (K + 1, W)
        Word distributions of the nodes, and of nodes that are not there.
    grown : Grown
    """

    def __init__(self, topics: Float, grown: Grown) -> None:
        tree, K = grown.tree, grown.tree.n_nodes
        lacking = np.ones(K + 1)
        np.subtract.at(lacking, tree.parent + 1, grown.g)
        wanting = np.flatnonzero(np.append(True, tree.inner) & (lacking > 1e-12))
        self._topic = np.append(np.arange(K), np.full(wanting.size, K))
        self._parent = np.append(tree.parent, wanting - 1)
        self._inner = np.append(tree.inner, np.zeros(wanting.size, bool))
        self._g = np.append(grown.g, lacking[wanting])
        self._topics, self._priors = topics, (grown.alpha, grown.mean, grown.scale)

    @property
    def numbers_per_word(self) -> int:
        """Doubles that are gathered for each different word of a shard: phi_jw."""
        return self._parent.size

    def log_probabilities(self, documents: Sequences, particles: Particles) -> tuple[Float, Float]:
        """Return both estimates of the log probability of each document, (D,) and (D,).       docs/math (F9), (D4)"""
        words, row = np.unique(documents.word, return_inverse=True)
        by_word = np.ascontiguousarray(self._topics[:, words][self._topic].T)
        printed, unbiased = (np.empty(documents.content.size) for _ in range(2))
        sequence_kernels.score_documents(
            documents.start, row.ravel(), documents.content, particles.key, particles.n, particles.resample, by_word,
            self._parent, self._inner, self._g, *self._priors, printed, unbiased,
        )  # fmt: skip
        return printed, unbiased
