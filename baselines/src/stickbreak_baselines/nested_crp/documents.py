"""What a fixed tree says of documents: the weights of its nodes, and the probability of the next token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine, shards
from stickbreak.numerics.arrays import Float, Int, for_kernels
from stickbreak.prediction.left_to_right import Particles, Sequences
from stickbreak_baselines.nested_crp.kernels import documents as document_kernels

TOLERANCE, SWEEPS = 1e-7, 200  # nats per token by which a sweep must raise the bound of a route
_SHARD_COUNTS = 4_096  # stored counts of a shard


@dataclass(frozen=True, slots=True)
class Routes:
    """The ways from the root of K nodes down that a new document may take.                            docs/math (R4)"""

    nodes: Int  # (P, L)  K: a new node
    log_prior: Float  # (P,)

    @classmethod
    def of(cls, parent: Int, level: Int, n_documents: Int, n_levels: int, gamma: float, n_kept: int = 0) -> Routes:
        """Return the routes of a tree: to each leaf, and from each inner node to new nodes.

        Parameters
        ----------
        parent, level, n_documents : ndarray of shape (K,)
            Of the nodes, parents before their children; the root has the parent -1.
        n_levels : int
        gamma : float
        n_kept : int, default=0
            Nodes 1 to `n_kept` have one document more, which ends there.                              docs/math (R7)
        """
        K, came, onward = parent.size, n_documents.copy(), n_documents.copy()
        came[1 : 1 + n_kept] += 1
        onward[0] += n_kept
        nodes, log_p = np.full((K, n_levels), K), np.zeros(K)
        for j in range(K):
            if level[j]:
                nodes[j], above = nodes[parent[j]], parent[j]
                log_p[j] = log_p[above] + np.log(came[j]) - np.log(onward[above] + gamma)
            nodes[j, level[j]] = j
        inner = level < n_levels - 1
        return cls(nodes, log_p + np.where(inner, np.log(gamma) - np.log(onward + gamma), 0.0))


@dataclass(frozen=True, slots=True)
class Levels:
    """The prior of the levels of a document: GEM(m, pi), whose last level has the rest.               docs/math (R1)"""

    mean: float
    scale: float


def weights_of(corpus: Corpus, topics: Float, routes: Routes, levels: Levels, engine: Engine) -> Float:
    """Return the weights of the nodes in documents, that of new nodes last, (D, K + 1).                docs/math (R4)

    Parameters
    ----------
    corpus : Corpus
        D documents over W words.
    topics : ndarray of shape (K + 1, W)
        Word distributions of the nodes, and of new nodes.
    routes : Routes
    levels : Levels
    engine : Engine
    """
    counts = corpus.counts
    indptr, count = counts.indptr.astype(np.int64), counts.data.astype(np.float64)
    words, word = np.unique(counts.indices, return_inverse=True)
    by_word = np.ascontiguousarray(topics[:, words].T)
    word, out = for_kernels(word.astype(np.int64)), np.empty((corpus.n_documents, len(topics)))

    def run(rows: tuple[int, int]) -> None:
        first, last = rows
        document_kernels.document_weights(
            indptr[first : last + 1], word, count, by_word, routes.nodes, routes.log_prior, levels.mean, levels.scale,
            TOLERANCE, SWEEPS, out[first:last],
        )  # fmt: skip

    engine.map(run, shards(np.diff(indptr), _SHARD_COUNTS))
    return out


class RouteRule:
    """Routes through a tree, and levels on them: p(level | levels before), the route integrated out.  docs/math (R6)

    Parameters
    ----------
    topics : ndarray of shape (K + 1, W)
        Word distributions of the nodes, and of new nodes.
    routes : Routes
    levels : Levels
    """

    def __init__(self, topics: Float, routes: Routes, levels: Levels) -> None:
        self._topics, self._routes, self._levels = topics, routes, levels

    @property
    def numbers_per_word(self) -> int:
        """Doubles that are gathered for each different word of a shard: phi_jw, and their logarithms."""
        return 2 * len(self._topics)

    def log_probabilities(self, documents: Sequences, particles: Particles) -> tuple[Float, Float]:
        """Return both estimates of the log probability of each document, (D,) and (D,).       docs/math (R6), (D4)"""
        words, row = np.unique(documents.word, return_inverse=True)
        by_word, routes = np.ascontiguousarray(self._topics[:, words].T), self._routes
        printed, unbiased = (np.empty(documents.content.size) for _ in range(2))
        document_kernels.score_documents(
            documents.start, row.ravel(), documents.content, particles.key, particles.n, particles.resample, by_word,
            routes.nodes, routes.log_prior, self._levels.mean, self._levels.scale, printed, unbiased,
        )  # fmt: skip
        return printed, unbiased
