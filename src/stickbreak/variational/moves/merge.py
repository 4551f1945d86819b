"""Merge moves: two topics become one (docs/math (V12); Hughes, Kim and Sudderth 2015, Sec. 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from stickbreak.fitting.engine import Engine
from stickbreak.likelihoods.base import EMPTY
from stickbreak.numerics.arrays import Float, Int, for_kernels
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.local_step import LocalResult, track_pairs
from stickbreak.variational.model import Inference, ObjectiveTerms, Schedule
from stickbreak.variational.moves.base import Move, MoveSettings
from stickbreak.variational.state import PairStatistics, UnionStatistics

MAX_PAIRS = 50
SMALLEST_CORRELATION = 0.05
SMALL_TOPICS = 10  # that are tried for their size alone
REST_LAPS = 5  # a rejected pair makes room for others for this many laps
NEAR = 1e-4  # of |L|: a candidate that loses more with the old sticks is not worth new ones (they gain far less)


class Candidate(NamedTuple):
    """A pair of topics, by their place in the lap's tracking and their names (`topic_ids`)."""

    place: int
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Unions:
    """Tracks the unions of pairs of topics."""

    pairs: Int  # (P, 2)

    def measure(self, result: LocalResult, engine: Engine) -> PairStatistics:
        """Return the statistics of the unions over a batch."""
        return track_pairs(result, for_kernels(self.pairs[:, 0]), for_kernels(self.pairs[:, 1]), engine)

    def wanted(self, result: LocalResult) -> Int:
        """Return no documents."""
        return np.zeros(0, np.int64)


class Merge(Move):
    """Pool pairs of topics that are used by the same documents, or that use the same words.

    Pairs are chosen at the beginning of a lap, at most `MAX_PAIRS`: in turn the one with the largest correlation of
    N_dl and N_dm over documents (the paper's rule: two halves of a topic), the one with the highest score of
    `Likelihood.merge_scores` (two copies of a topic, between which documents choose one: these never correlate), and
    the smallest topic with the one most like it. Topics without tokens come first, each with another large one. The
    statistics of each union are tracked through the lap. At its end the pairs are tried in this order; those that share
    no topic with one accepted before are judged by their own tracked numbers, the others must wait for the next lap.

    `every_pair`: give every pair new sticks, also one that loses much of |L| with the old ones, and let no fit converge
    while pairs worth a try had no place. For vectors, whose |L| may be anything: it moves with their unit.
    """

    name: ClassVar[str] = "merge"

    def __init__(self, *, every_pair: bool = False) -> None:
        self.every_pair = every_pair
        self._pairs = np.zeros((0, 2), np.int64)  # indices of topics in this lap
        self._ids = np.zeros((0, 2), np.int64)
        self._tracked: dict[int, PairStatistics] = {}
        self._rejected: dict[tuple[int, int], int] = {}  # pair of names -> lap; those that rest
        self._lap = 0
        self._more = False
        self._idle: set[int] = set()

    @classmethod
    def from_settings(cls, settings: MoveSettings) -> Self:
        """Return the move with the settings of a fit."""
        return cls(every_pair=settings.every_pair)

    def begin(self, state: Inference) -> None:
        """Choose the pairs to track."""
        self._lap += 1
        present = set(state.topic_ids.tolist())
        self._rejected = {
            pair: lap
            for pair, lap in self._rejected.items()
            if self._lap - lap <= REST_LAPS and present.issuperset(pair)
        }
        self._idle = idle_names(state)
        resting = {pair for pair in self._rejected if not self._idle & set(pair)}
        self._pairs = choose_pairs(state, resting)
        self._more = self.every_pair and len(self._pairs) == MAX_PAIRS
        self._ids = state.topic_ids[self._pairs]
        self._tracked = {}

    def probe(self) -> Unions:
        """Return what tracks the unions."""
        return Unions(self._pairs)

    def note(self, index: int, observed: PairStatistics) -> None:
        """Keep the unions over one batch."""
        self._tracked[index] = observed

    def candidates(self, state: Inference) -> list[Candidate]:
        """Return the tracked pairs; none if documents were inferred again since (their unions were not tracked)."""
        if state.gathering.changed:
            return []
        return [Candidate(place, left, right) for place, (left, right) in enumerate(self._ids.tolist())]

    def compatible(self, candidate: Candidate, accepted: list[Candidate]) -> bool:
        """Whether both topics are unchanged since tracking."""
        return not any({candidate.left, candidate.right} & {other.left, other.right} for other in accepted)

    def ended(self, candidate: Candidate) -> tuple[int, int]:
        """Return both topics."""
        return candidate.left, candidate.right

    def evaluate(
        self, state: Inference, standing: ObjectiveTerms, schedule: Schedule, candidate: Candidate
    ) -> ObjectiveTerms:
        """Return the standing after the pool and one global step."""
        model = state.model
        keep, gone = _places(standing.topic_ids, candidate)
        union = self._total(candidate.place)
        totals = standing.totals.pooled([(keep, gone, union)])
        columns = state.totals.S[:, list(_places(state.topic_ids, candidate))]
        data = np.delete(standing.data, gone)
        data[keep] = model.likelihood.evidence(columns.sum(axis=1, keepdims=True), totals.N[[keep]])[0]
        rho, omega = pooled_sticks(standing, keep, gone)
        value = model.objective(totals, rho, omega, data)
        if self.every_pair or value > standing.objective - NEAR * abs(standing.objective):
            rho, omega = model.best_sticks(totals, rho, omega)
            value = model.objective(totals, rho, omega, data)
        return ObjectiveTerms(totals, rho, omega, np.delete(standing.topic_ids, gone), data, value)

    def accepts(self, state: Inference, standing: ObjectiveTerms, found: ObjectiveTerms, candidate: Candidate) -> bool:
        """Whether the objective rises; in a mixture an empty component, which is free, also goes where it does not."""
        better = super().accepts(state, standing, found, candidate)
        return better or self.drops_idle(state, standing, found, _places(standing.topic_ids, candidate))

    def waiting(self, state: Inference) -> bool:
        """Whether pairs that are worth a try had no place in this lap, or components have become idle in it."""
        return self._more or bool(idle_names(state) - self._idle)

    def reject(self, state: Inference, candidate: Candidate) -> None:
        """Let the pair rest for some laps."""
        self._rejected[candidate.left, candidate.right] = self._lap

    def apply(self, state: Inference, accepted: list[Candidate], standing: ObjectiveTerms) -> None:
        """Pool the topics in every stored batch and document."""
        places = [(*_places(state.topic_ids, candidate), candidate.place) for candidate in accepted]
        index_of = {int(name): index for index, name in enumerate(standing.topic_ids)}
        heir = {int(state.topic_ids[gone]): int(state.topic_ids[keep]) for keep, gone, _ in places}
        new_index = np.array([index_of[heir.get(int(name), int(name))] for name in state.topic_ids])
        batches = (
            summary.pooled([(keep, gone, self._tracked[b].union(place)) for keep, gone, place in places])
            for b, summary in enumerate(state.batches)
        )
        state.gathering.follow(new_index)
        state.edit(batches, (d.relabelled(new_index) for d in state.documents), standing)

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


def idle_names(state: Inference) -> set[int]:
    """Return the names of topics that can go at no cost."""
    return set(state.topic_ids[state.model.idle(state.totals.N)].tolist())


def _places(topic_ids: Int, candidate: Candidate) -> tuple[int, int]:
    """Return where the two topics stand, the earlier one first."""
    a = int(np.flatnonzero(topic_ids == candidate.left)[0])
    b = int(np.flatnonzero(topic_ids == candidate.right)[0])
    return min(a, b), max(a, b)


def pooled_sticks(standing: ObjectiveTerms, keep: int, gone: int) -> tuple[Float, Float]:
    """Return sticks whose E[beta] is the old one with `gone` added to `keep`, a start for the global step."""
    beta = standing.weights
    beta[keep] += beta[gone]
    return sticks_of(np.delete(beta, gone), np.delete(standing.omega, gone))


def correlations(state: Inference) -> Float:
    """Return Corr(N_:l, N_:m) over all documents, (K, K); NaN for topics whose count never varies, and in mixtures."""
    n_topics = state.topic_ids.size
    n_documents = sum(d.n_documents for d in state.documents)
    second, first = np.zeros((n_topics, n_topics)), np.zeros(n_topics)
    for d in state.documents:
        of_first, of_second = d.moments(n_topics)
        first, second = first + of_first, second + of_second
    mean = first / n_documents
    covariance = second / n_documents - np.outer(mean, mean)
    variance = np.diag(covariance).copy()
    variance[variance <= 1e-12 * (1 + mean**2)] = np.nan
    return np.asarray(covariance / np.sqrt(np.outer(variance, variance)))


def choose_pairs(state: Inference, resting: set[tuple[int, int]]) -> Int:
    """Return at most MAX_PAIRS pairs (l, m) of topic indices, l < m, the best first, (P, 2)."""
    order = np.argsort(-state.totals.N, kind="stable")
    is_empty = state.totals.N[order] < EMPTY
    pairs = zip(order[~is_empty].tolist(), order[is_empty].tolist(), strict=False)
    ranked = [(min(pair), max(pair)) for pair in pairs]  # one empty topic to each: all can go in one lap
    likelihood = state.model.likelihood
    alike = likelihood.merge_scores(state.totals.S, state.totals.N, state.data)
    together = _ranked_pairs(correlations(state), SMALLEST_CORRELATION)
    copies = _ranked_pairs(alike, likelihood.least_merge_score)
    small = _nearest_pairs(alike, order[::-1][:SMALL_TOPICS])
    ranked += [pair for three in zip_longest(together, copies, small) for pair in three if pair is not None]
    chosen: dict[tuple[int, int], None] = {}
    for left, right in ranked:
        names = int(state.topic_ids[left]), int(state.topic_ids[right])
        if right < state.model.n_kept:  # of two topics that keep their numbers
            continue
        if names not in resting and names[::-1] not in resting:
            chosen[left, right] = None
        if len(chosen) == MAX_PAIRS:
            break
    return np.array(list(chosen), dtype=np.int64).reshape(-1, 2)


def _ranked_pairs(score: Float, smallest: float) -> list[tuple[int, int]]:
    """Return the pairs (l, m), l < m, that score more than `smallest`, the highest first."""
    left, right = np.nonzero(np.triu(np.nan_to_num(score, nan=-np.inf) > smallest, k=1))
    order = np.argsort(-score[left, right], kind="stable")
    return list(zip(left[order].tolist(), right[order].tolist(), strict=True))


def _nearest_pairs(affinity: Float, order: Int) -> list[tuple[int, int]]:
    """Return each topic, in the given order, with the topic whose words are most like its own."""
    score = np.nan_to_num(affinity, nan=-np.inf)
    np.fill_diagonal(score, -np.inf)
    nearest = np.argmax(score, axis=1)
    return [
        (min(k, int(nearest[k])), max(k, int(nearest[k]))) for k in order.tolist() if np.isfinite(score[k, nearest[k]])
    ]
