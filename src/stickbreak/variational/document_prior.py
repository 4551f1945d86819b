"""What documents owe to their weights: pi_d ~ Dir(alpha E[beta]) of each, or, in a mixture, nothing (math.md (V8)).

`DirichletPrior` and `NoPrior` answer the same questions, so that visits, gathered documents and moves need not know
which of the two they have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, psi

from stickbreak.fitting.executor import Executor, shards
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.observations import SHARD_COUNTS, Dropped, Visit, WeightStatistics
from stickbreak.variational.state import PairStatistics


@dataclass(frozen=True, slots=True)
class DirichletPrior:
    """Every document has weights of its own; q(pi_d) = Dir(values + N_d)."""

    values: Float  # (K + 1,) alpha E[beta] of the visit

    def statistics(
        self, documents: DocumentTopics, lengths: Float, n_topics: int, executor: Executor
    ) -> WeightStatistics:
        """Return the statistics of documents at theta = values + N, the documents cut into shards.    math.md (V8)"""
        T, Q, Q0 = weight_statistics(documents, lengths, self.values, executor)
        return WeightStatistics(T, -self.values * T, Q, Q0)  # N - theta = -values after the theta update

    def add_statistics(self, documents: DocumentTopics, lengths: Float, total: WeightStatistics) -> None:
        """Add the statistics of documents at theta = values + N to a total, in place.                  math.md (V8)"""
        T = np.zeros(self.values.size)
        total.Q0 += statistics_kernels.document_statistics(
            documents.indptr, documents.topic, documents.n_dk, self.values, lengths, T, total.Q
        )
        total.T += T
        total.G -= self.values * T

    def relabelled(self, new_index: Int) -> DirichletPrior:
        """Return the prior after topics were renamed: pooled where equal, dropped with its mass where -1."""
        n_topics, stays = int(new_index.max(initial=-1)) + 1, new_index >= 0
        active = np.bincount(new_index[stays], weights=self.values[:-1][stays], minlength=n_topics)
        return DirichletPrior(np.append(active, self.values[-1]))

    def dropped(self, topic: int, lengths: Float) -> Dropped:
        """Return what changes if theta of a topic is dropped that no document holds.                 math.md (V18)

        Then sum_k theta_dk falls by values_j, and every E log pi_dk rises by psi(sum theta) - psi(sum theta
        - values_j).
        """
        before = self.values.sum() + lengths
        after = before - self.values[topic]
        rise = (psi(before) - psi(after)).sum()
        return Dropped(rise, -np.delete(self.values, topic) * rise, float((gammaln(after) - gammaln(before)).sum()))

    def track_pairs(self, visit: Visit, rows: tuple[int, int], left: Int, right: Int) -> PairStatistics:
        """Return T, G, Q of the union of each pair and H' - H_l - H_m.                               math.md (V12)"""
        batch, docs, out = visit.batch, visit.documents, PairStatistics.zeros(left.size)
        first, last = rows
        statistics_kernels.pair_statistics(
            batch.indptr[first : last + 1], batch.word, visit.ratio, visit.weights, self.values,
            batch.lengths[first:last], docs.indptr[first : last + 1], docs.topic, docs.n_dk, visit.weight, left, right,
            out.T, out.G, out.Q, out.H,
        )  # fmt: skip
        return out


@dataclass(frozen=True, slots=True)
class NoPrior:
    """A mixture: documents share one distribution over topics, and have no weights of their own."""

    def statistics(
        self, documents: DocumentTopics, lengths: Float, n_topics: int, executor: Executor
    ) -> WeightStatistics:
        """Return zeros."""
        return WeightStatistics.zeros(n_topics)

    def add_statistics(self, documents: DocumentTopics, lengths: Float, total: WeightStatistics) -> None:
        """Add nothing."""

    def relabelled(self, new_index: Int) -> NoPrior:
        """Return the same."""
        return self

    def dropped(self, topic: int, lengths: Float) -> Dropped:
        """Return that nothing changes."""
        return Dropped(0.0, 0.0, 0.0)

    def track_pairs(self, visit: Visit, rows: tuple[int, int], left: Int, right: Int) -> PairStatistics:
        """Return H' - H_l - H_m of the union of each pair; the rest is zero.                         math.md (V12)"""
        batch, docs, out = visit.batch, visit.documents, PairStatistics.zeros(left.size)
        first, last = rows
        statistics_kernels.pair_entropies(
            batch.indptr[first : last + 1], batch.word, visit.ratio, visit.weights, docs.indptr[first : last + 1],
            docs.topic, visit.weight, left, right, out.H,
        )  # fmt: skip
        return out


def weight_statistics(
    documents: DocumentTopics, lengths: Float, prior: Float, executor: Executor
) -> tuple[Float, Float, float]:
    """Return T (K + 1,), Q (K + 1,) and Q0 of documents at theta = prior + N (math.md (V8)).

    Parameters
    ----------
    documents : DocumentTopics
    lengths : ndarray of shape (D_b,)
        Tokens of each document.
    prior : ndarray of shape (K + 1,)
        alpha E[beta].
    executor : Executor
    """

    def reduce(rows: tuple[int, int]) -> tuple[Float, Float, float]:
        T, Q = np.zeros(prior.size), np.zeros(prior.size)
        first, last = rows
        Q0 = statistics_kernels.document_statistics(
            documents.indptr[first : last + 1], documents.topic, documents.n_dk, prior, lengths[first:last], T, Q
        )
        return T, Q, float(Q0)

    T, Q, Q0 = np.zeros(prior.size), np.zeros(prior.size), 0.0
    for part in executor.map(reduce, shards(np.diff(documents.indptr), SHARD_COUNTS)):
        T, Q, Q0 = T + part[0], Q + part[1], Q0 + part[2]
    return T, Q, Q0
