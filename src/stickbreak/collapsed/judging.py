"""Documents set apart, completed once: how well topics predict them of which some are one (math.md (C28))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.kernels import completion as kernels
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.state import Priors
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import total_of

SWEEPS, EVERY = 10, 2  # of a document; after every second one it leaves topics ...
LEAST = 0.05  # ... that have less than this of the mean of its topics: later sweeps are short


@dataclass(frozen=True, slots=True)
class Judged:
    """Topics that are judged, and the rows of their tables that this takes."""

    words: Int  # (W',)  in increasing order
    counts: NDArray[np.float32]  # (W', K)  of these words in the topics
    sums: Float  # (K,)  of all words
    weights: Float  # (K,)
    priors: Priors
    n_words: int  # W


@dataclass(frozen=True, slots=True)
class Completed:
    """Documents of a shard with the tokens of each in its topics: start[d] to start[d + 1]."""

    shard: Shard
    start: Int
    topic: Int
    weight: Float


class Judges:
    """Documents that say how well the topics predict them, and how well fewer that are made of these.

    Parameters
    ----------
    ways : sequence of sequence of Shard
        The documents, half of the tokens of each held out, in one way or in several: the score is their mean.
    judged : Judged
        All words of the documents are among its words.
    engine : Engine
    """

    def __init__(self, ways: Sequence[Sequence[Shard]], judged: Judged, engine: Engine) -> None:
        self._of, self._engine = judged, engine
        self._row = np.zeros(judged.n_words, np.int64)
        self._row[judged.words] = np.arange(judged.words.size)
        self._total_eta = float(total_of(judged.priors.eta, judged.n_words))
        self._prior: Float = judged.priors.alpha * judged.weights
        self._ways = [engine.map(self._completed, list(way)) for way in ways]

    def _completed(self, shard: Shard) -> Completed:
        documents = shard.indptr, shard.word, shard.count, self._row
        topics = self._of.counts, self._of.sums, self._prior, self._of.priors.eta, self._total_eta
        return Completed(shard, *kernels.complete(*documents, *topics, SWEEPS, EVERY, LEAST))

    def scores(self, part_of: Int) -> Float:
        """Return the log probability of the tokens held out of each document, (D',).                  math.md (C28)

        Topic k is part of topic part_of[k]: a document has as much of a topic as it has of its parts.
        """
        prior = np.bincount(part_of, self._prior)
        totals = np.bincount(part_of, self._of.sums) + self._total_eta
        phi = np.empty((self._of.words.size, prior.size))
        kernels.distributions(self._of.counts, part_of, self._of.words, self._of.priors.eta, totals, phi)
        common, total = phi @ prior, float(prior.sum())

        def run(of: Completed) -> Float:
            out = np.zeros(of.start.size - 1)
            assert of.shard.held is not None
            documents = of.shard.indptr, of.shard.word, of.shard.held, self._row
            kernels.score(*documents, of.start, part_of[of.topic], of.weight, phi, common, total, out)
            return out

        return np.asarray(np.mean([np.concatenate(self._engine.map(run, list(way))) for way in self._ways], axis=0))


def words_of(ways: Sequence[Sequence[Shard]]) -> Int:
    """Return the words of documents, in increasing order."""
    return np.unique(np.concatenate([np.zeros(0, np.int64), *(shard.word for way in ways for shard in way)]))
