"""Partially collapsed: topics and corpus weights are sampled, and the documents given them are independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import Tokens, written_out
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import shards
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.sampling.counts import PART_TOKENS, count_topics, labels_of, packed, unpacked
from stickbreak.sampling.direct import DirectAssignment
from stickbreak.sampling.kernels import partially_collapsed as kernels
from stickbreak.sampling.kernels.partially_collapsed import Sampled
from stickbreak.sampling.kernels.rest import Rest
from stickbreak.sampling.representation import Sweep
from stickbreak.sampling.state import DocumentTopics, TopicCounts, WordTopics

JOB_TOKENS = 200_000  # of the documents that a worker takes at a time
BLOCK = 256  # words whose gamma variates are added up by themselves
Keys = tuple[np.uint64, np.uint64]


class PartiallyCollapsed(DirectAssignment):
    """State (z, beta, m) between sweeps, as of direct assignment; topics are drawn at the beginning of each.

    math.md (G14). The result does not depend on which documents are swept at the same time.

    Parameters
    ----------
    tokens : Tokens
    source : Source, optional
        The same documents as jobs name them. None: nothing travels.
    """

    def __init__(self, tokens: Tokens, source: Source | None = None) -> None:
        super().__init__(tokens)
        self._source = source

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Draw the topics, then the topic of every token, then the tables."""
        K = counts.n_topics
        sampled = draw_topics(counts.words, self.beta, sweep)
        keys = sweep.key("tokens"), sweep.key("tables")
        if sweep.executor.workers is None or self._source is None:
            self._sweep_here(sampled, keys, sweep.executor)
        else:
            self._sweep_there(sampled, keys, sweep.executor, self._source)
        return self._numbered(K, sweep.executor)

    def _sweep_here(self, sampled: Sampled, keys: Keys, executor: Engine) -> None:
        """Sweep in the threads of this process."""
        start, word, z, documents = self.tokens.start, self.tokens.word, self.z, self.documents

        def part(rows: tuple[int, int]) -> None:
            kernels.sweep(*rows, 0, start, word, z, documents, sampled, keys)

        executor.map(part, shards(self.tokens.lengths, PART_TOKENS))

    def _sweep_there(self, sampled: Sampled, keys: Keys, engine: Engine, source: Source) -> None:
        """Sweep on the workers of a cluster."""
        start, documents = self.tokens.start, self.documents
        parts = shards(self.tokens.lengths, JOB_TOKENS)
        jobs = [Part(source.part(slice(a, b)), a, self.z[start[a] : start[b]]) for a, b in parts]
        for (a, b), found in zip(parts, engine.run(swept, jobs, (sampled, keys)), strict=True):
            rows = slice(start[a], start[b])
            self.z[rows], documents.size[a:b] = found.z, found.size
            for name in ("topic", "n", "m"):
                entries = unpacked(start[a : b + 1] - start[a], found.size, getattr(found, name))
                getattr(documents, name)[rows] = entries

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


@dataclass(frozen=True, slots=True)
class Part:
    """Documents for a worker, and the topics of their tokens."""

    source: Source
    first: int
    z: Int32


@dataclass(frozen=True, slots=True)
class Swept:
    """What a worker has made of its documents; pairs of a document and a topic without gaps."""

    z: Int32
    size: Int32
    topic: Int32
    n: Int32
    m: Int32


def swept(shared: tuple[Sampled, Keys], part: Part) -> Swept:
    """Sweep the documents of a job."""
    start, word = written_out(part.source.load())
    z, N = part.z.copy(), word.size
    documents = DocumentTopics(np.zeros(start.size - 1, np.int32), *(np.zeros(N, np.int32) for _ in range(3)))
    kernels.sweep(0, start.size - 1, part.first, start, word, z, documents, *shared)
    pairs = (packed(start, documents.size, getattr(documents, name)) for name in ("topic", "n", "m"))
    return Swept(z, documents.size, *pairs)


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
        now.gamma / n_parts, now.eta, W, sweep.key("sticks"), sweep.key("words of the rest"),
    )  # fmt: skip
    return Sampled(g, scale, prior, mass, rest)


def _edges(n_parts: int, concentration: float, key: np.uint64) -> NDArray[np.float64]:
    """Draw shares ~ Dirichlet(concentration, ..), and return where each ends, 0 first."""
    if n_parts == 1:
        return np.array([0.0, 1.0])
    mass = np.random.Generator(np.random.Philox(key=int(key))).standard_gamma(concentration, n_parts)
    return np.concatenate(([0.0], np.cumsum(mass))) / mass.sum()
