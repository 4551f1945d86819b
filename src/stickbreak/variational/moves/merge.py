"""Merge moves: two topics become one (SPEC 1.7; Hughes, Kim and Sudderth 2015, Sec. 5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from stickbreak.inference.executor import Executor
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.local_step import Visit, track_pairs
from stickbreak.variational.model import HDP, Inference
from stickbreak.variational.moves.base import Move, Proposal
from stickbreak.variational.state import Float, Int, PairStatistics, UnionStatistics

MAX_PAIRS = 50
SMALLEST_CORRELATION = 0.05
REST_LAPS = 5  # a rejected pair makes room for others for this many laps
EMPTY = 1e-6  # tokens
NEAR = 1e-4  # of |L|: a candidate that loses more with the old sticks is not worth new ones (they gain far less)


class Candidate(NamedTuple):
    """A pair of topics, by their place in the lap's tracking and their names (`topic_ids`)."""

    place: int
    left: int
    right: int


class Merge(Move):
    """Pool pairs of topics that are used by the same documents.

    Pairs are chosen at the beginning of a lap, at most `MAX_PAIRS`, by the correlation of N_dl and N_dm over documents;
    a topic without tokens has none and is paired with the largest. The statistics of each union are tracked
    through the lap. At its end the pairs are tried in order of correlation; those that share no topic with one
    accepted before are judged by their own tracked numbers, the others must wait for the next lap.
    """

    name: ClassVar[str] = "merge"

    def __init__(self) -> None:
        self._pairs = np.zeros((0, 2), np.int64)  # indices of topics in this lap
        self._ids = np.zeros((0, 2), np.int64)
        self._tracked: dict[int, PairStatistics] = {}
        self._rejected: dict[tuple[int, int], int] = {}
        self._lap = 0

    def begin(self, state: Inference) -> None:
        """Choose the pairs to track."""
        self._lap += 1
        resting = {pair for pair, lap in self._rejected.items() if self._lap - lap <= REST_LAPS}
        self._pairs = choose_pairs(state, resting)
        self._ids = state.topic_ids[self._pairs]
        self._tracked = {}

    def observe(self, index: int, visit: Visit, executor: Executor) -> None:
        """Track the unions over one batch."""
        self._tracked[index] = track_pairs(visit, self._pairs[:, 0], self._pairs[:, 1], executor)

    def candidates(self, state: Inference) -> Iterator[Candidate]:
        """Yield the tracked pairs whose topics are both unchanged since tracking."""
        changed: set[int] = set()
        for place, (left, right) in enumerate(self._ids.tolist()):
            if changed & {left, right}:
                continue
            n_topics = state.topic_ids.size
            yield Candidate(place, left, right)
            if state.topic_ids.size < n_topics:
                changed |= {left, right}
            else:
                self._rejected[left, right] = self._lap

    def evaluate(self, state: Inference, model: HDP, candidate: Candidate) -> Proposal:
        """Return the objective after the pool and one global step."""
        keep, gone = _places(state, candidate)
        totals = state.totals.without_words().pooled(keep, gone, self._total(candidate.place))
        united = state.totals.S[:, [keep]] + state.totals.S[:, [gone]]
        data = np.delete(state.data, gone)
        data[keep] = model.likelihood.evidence(united, totals.N[[keep]])[0]
        rho, omega = pooled_sticks(state, keep, gone)
        value = model.objective(totals, rho, omega, data)
        if value > state.objective - NEAR * abs(state.objective):
            rho, omega = model.best_sticks(totals, rho, omega)
            value = model.objective(totals, rho, omega, data)
        return Proposal(candidate, value, totals, rho, omega, data)

    def apply(self, state: Inference, proposal: Proposal) -> None:
        """Pool the topics in every stored batch and document."""
        candidate: Candidate = proposal.candidate
        keep, gone = _places(state, candidate)
        new_index = np.arange(state.topic_ids.size)
        new_index[gone] = keep
        new_index[gone + 1 :] -= 1
        batches = [
            summary.pooled(keep, gone, self._tracked[b].union(candidate.place))
            for b, summary in enumerate(state.batches)
        ]
        documents = [d.relabelled(new_index) for d in state.documents]
        state.topic_ids = np.delete(state.topic_ids, gone)
        state.edit(batches, documents, proposal.rho, proposal.omega)

    def snapshot(self) -> dict[str, Any]:
        """Return the rejected pairs and the number of laps."""
        return {"lap": self._lap, "rejected": [[*pair, lap] for pair, lap in self._rejected.items()]}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        self._lap = int(snapshot["lap"])
        self._rejected = {(int(a), int(b)): int(lap) for a, b, lap in snapshot["rejected"]}

    def _total(self, index: int) -> UnionStatistics:
        """Sum one pair over the batches, in batch order."""
        parts = [self._tracked[b].union(index) for b in sorted(self._tracked)]
        return UnionStatistics(*(float(sum(column)) for column in zip(*parts, strict=True)))


def _places(state: Inference, candidate: Candidate) -> tuple[int, int]:
    """Return where the two topics stand now, the earlier one first."""
    a = int(np.flatnonzero(state.topic_ids == candidate.left)[0])
    b = int(np.flatnonzero(state.topic_ids == candidate.right)[0])
    return min(a, b), max(a, b)


def pooled_sticks(state: Inference, keep: int, gone: int) -> tuple[Float, Float]:
    """Return sticks whose E[beta] is the old one with `gone` added to `keep`, a start for the global step."""
    beta = state.parameters.expected_beta[:-1]
    beta[keep] += beta[gone]
    return sticks_of(np.delete(beta, gone), np.delete(state.parameters.omega, gone))


def correlations(state: Inference) -> Float:
    """Return Corr(N_:l, N_:m) over all documents, (K, K); NaN for topics whose count never varies."""
    n_topics = state.topic_ids.size
    n_documents = sum(d.n_documents for d in state.documents)
    second, first = np.zeros((n_topics, n_topics)), np.zeros(n_topics)
    for d in state.documents:
        n = sparse.csr_matrix((d.n_dk, d.topic, d.indptr), shape=(d.n_documents, n_topics))
        second += (n.T @ n).toarray()
        first += np.asarray(n.sum(axis=0)).ravel()
    mean = first / n_documents
    covariance = second / n_documents - np.outer(mean, mean)
    variance = np.diag(covariance).copy()
    variance[variance <= 1e-12 * (1 + mean**2)] = np.nan
    return np.asarray(covariance / np.sqrt(np.outer(variance, variance)))


def choose_pairs(state: Inference, resting: set[tuple[int, int]]) -> Int:
    """Return at most MAX_PAIRS pairs (l, m) of topic indices, the best first, (P, 2)."""
    score = correlations(state)
    score[np.tril_indices_from(score)] = np.nan
    empty = np.flatnonzero(state.totals.N < EMPTY)
    largest = int(np.argmax(state.totals.N))
    for k in empty[empty != largest]:
        score[min(k, largest), max(k, largest)] = 2.0  # before every correlation
    left, right = np.nonzero(score > SMALLEST_CORRELATION)
    order = np.argsort(-score[left, right], kind="stable")
    ids = state.topic_ids
    chosen = [
        (a, b)
        for a, b in zip(left[order].tolist(), right[order].tolist(), strict=True)
        if (int(ids[a]), int(ids[b])) not in resting and (int(ids[b]), int(ids[a])) not in resting
    ]
    return np.array(chosen[:MAX_PAIRS], dtype=np.int64).reshape(-1, 2)
