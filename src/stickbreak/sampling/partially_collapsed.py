"""Partially collapsed: topics and corpus weights are sampled, and the documents given them are independent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import shards
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import factor_of
from stickbreak.sampling.counts import PART_TOKENS, count_topics, labels_of
from stickbreak.sampling.direct import DirectAssignment
from stickbreak.sampling.kernels import partially_collapsed as kernels
from stickbreak.sampling.kernels.partially_collapsed import Sampled
from stickbreak.sampling.kernels.rest import Rest
from stickbreak.sampling.representation import Sweep
from stickbreak.sampling.state import TopicCounts, WordTopics

BLOCK = 256  # words whose gamma variates are added up by themselves


class PartiallyCollapsed(DirectAssignment):
    """State (z, beta, m) between sweeps, as of direct assignment; topics are drawn at the beginning of each.

    math.md (G14). The result does not depend on which documents are swept at the same time. `InFiles` does the same
    with documents that do not fit into memory, or on the workers of a cluster.
    """

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Draw the topics, then the topic of every token, then the tables."""
        K = counts.n_topics
        sampled = draw_topics(counts.words, self.beta, sweep)
        keys = sweep.key("tokens"), sweep.key("tables")
        start, word, z, documents = self.tokens.start, self.tokens.word, self.z, self.documents

        def part(rows: tuple[int, int]) -> None:
            kernels.sweep(*rows, 0, start, word, z, documents, sampled, keys)

        sweep.executor.map(part, shards(np.diff(self.tokens.sampled), PART_TOKENS))
        return self._numbered(K, sweep.executor)

    def _numbered(self, K: int, executor: Engine) -> TopicCounts:
        """Give the topics that have tokens the numbers 0 .. K' - 1, and count."""
        z, topic = self.z, self.documents.topic
        fresh = np.unique(z[z >= K])
        for labels in (z, topic):
            above = labels >= K
            labels[above] = K + np.searchsorted(fresh, labels[above])
        n_numbers = K + fresh.size
        alive = np.flatnonzero(np.bincount(z, minlength=n_numbers))
        if alive.size < n_numbers:
            self._relabel(labels_of(alive, n_numbers), 0, self.tokens.n_documents)
        return count_topics(self.tokens, z, self.documents, alive.size, executor)


def draw_topics(words: WordTopics, beta: Float, sweep: Sweep) -> Sampled:
    """Draw phi_k ~ Dirichlet(n_k + eta) of the topics with tokens; of the others only what breaks their sticks.

    Parameters
    ----------
    words : WordTopics
        n_kw.
    beta : ndarray of shape (K + 1,)
        Corpus weights, last that of all topics without tokens.
    sweep : Sweep
    """
    W, K, now = words.size.size, beta.size - 1, sweep.concentrations
    g, mass, key = np.empty((W, K), np.float32), np.empty(W), sweep.key("topics")
    blocks = [(first, min(first + BLOCK, W)) for first in range(0, W, BLOCK)]

    def draw(block: tuple[int, int]) -> Float:
        total = np.zeros(K)
        kernels.draw_words(*block, words, now.eta, key, g, total)
        return total

    scale = 1.0 / np.sum(sweep.executor.map(draw, blocks), axis=0)
    prior = now.alpha * beta[:-1]

    def add_up(block: tuple[int, int]) -> None:
        kernels.add_up(*block, g, prior * scale, mass)

    sweep.executor.map(add_up, blocks)
    n_parts = int(np.ceil(now.gamma))
    rest = Rest(
        now.alpha * beta[-1] * _edges(n_parts, now.gamma / n_parts, sweep.key("rest")),
        now.gamma / n_parts, factor_of(now.eta), W, sweep.key("sticks"), sweep.key("words of the rest"),
    )  # fmt: skip
    return Sampled(g, scale, prior, mass, rest)


def _edges(n_parts: int, concentration: float, key: np.uint64) -> NDArray[np.float64]:
    """Draw shares ~ Dirichlet(concentration, ..), and return where each ends, 0 first."""
    if n_parts == 1:
        return np.array([0.0, 1.0])
    mass = np.random.Generator(np.random.Philox(key=int(key))).standard_gamma(concentration, n_parts)
    return np.concatenate(([0.0], np.cumsum(mass))) / mass.sum()
