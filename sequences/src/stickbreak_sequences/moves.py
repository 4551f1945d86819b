"""Moves of chains: merges judged by tracked entropies; removals and births, as trials; where states begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import entr

from stickbreak.fitting.engine import Engine
from stickbreak.likelihoods import Likelihood
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.model import Inference, ObjectiveTerms, Schedule
from stickbreak.variational.moves import Birth, Merge, Move, Proposal, Proposals, Reorder
from stickbreak.variational.moves.merge import Candidate
from stickbreak.variational.state import GlobalParameters, UnionStatistics
from stickbreak_sequences.chain import SequenceBatch, Steps, stacked

WINDOWS = (10, 3, 30)  # steps of the windows that states begin with: each birth after a rejected one looks at the next
STEPS = 20_000  # in the windows that are looked at, about
TARGET = 500  # of them, those that lose most
BORN = 10  # states that are born at once, at most
FAR_SEEDS, FAR_SHARE = 10, 0.1  # number or share of the seeds that are drawn by what they gain
ROUNDS = 10  # of hard assignments
AT_ONCE = 64  # windows whose own states are computed together
REMOVALS = 5  # of the smallest states, that are tried one after another


class Windows(NamedTuple):
    """Runs of steps of one sequence each."""

    steps: Steps
    indptr: Int  # (w + 1,)

    def batch(self, likelihood: Likelihood) -> SequenceBatch:
        """Return them as sequences."""
        return SequenceBatch(likelihood, self.steps, self.indptr)


def windows_of(batch: SequenceBatch, length: int, every: int = 1) -> Windows:
    """Cut sequences into windows of a length (the last of each may be shorter), and return every so many of them."""
    begins = [np.arange(a, b, length) for a, b in zip(batch.indptr[:-1], batch.indptr[1:], strict=True)]
    ends = [np.append(a[1:], b) for a, b in zip(begins, batch.indptr[1:], strict=True) if a.size]
    first = np.concatenate([np.zeros(0, np.int64), *begins])[::every]
    sizes = np.concatenate([np.zeros(0, np.int64), *ends])[::every] - first
    indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    place = np.arange(indptr[-1]) + np.repeat(first - indptr[:-1], sizes)
    return Windows(batch.steps[place], indptr)


def joined(parts: Sequence[Windows]) -> Windows:
    """Return the windows of several parts."""
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    return Windows(stacked([p.steps for p in parts]), np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))


def window_logs(batch: SequenceBatch, S: Float, N: Float) -> Float:
    """Return E log p of whole windows in states of these statistics, (w, K)."""
    tau = batch.likelihood.table(S)
    log_p = batch.expected_log(tau, batch.likelihood.table_sum(0.0, tau, N))
    return np.add.reduceat(log_p, batch.indptr[:-1], axis=0)


def own_statistics(batch: SequenceBatch, rows: Int) -> tuple[Float, Float]:
    """Return S and N of a state for each of some windows."""
    part = batch.selected(rows)
    sizes = np.diff(part.indptr)
    share = np.zeros((int(sizes.sum()), rows.size))
    share[np.arange(len(share)), np.repeat(np.arange(rows.size), sizes)] = 1.0
    return part.statistics(share)


def gains_alone(batch: SequenceBatch) -> Float:
    """Return E log p of each window in a state of its own, (w,)."""
    out = np.empty(batch.n_documents)
    for begin in range(0, out.size, AT_ONCE):
        rows = np.arange(begin, min(begin + AT_ONCE, out.size))
        out[rows] = np.diag(window_logs(batch.selected(rows), *own_statistics(batch, rows)))
    return out


def states_of(batch: SequenceBatch, n_states: int, rng: np.random.Generator) -> tuple[Float, Float]:
    """Return S and N of states that together explain windows, the largest first.                     docs/math (Z9)

    Most seeds are drawn evenly, the last by what a window gains in a state of its own. Then each window has the state
    under which it is most likely, until none changes.
    """
    n = batch.n_documents
    n_states = min(n_states, n)
    n_far = min(n_states - 1, max(FAR_SEEDS, int(FAR_SHARE * n_states)))
    found = rng.choice(n, n_states - n_far, replace=False).tolist()
    if n_far:
        alone = gains_alone(batch)
        best = window_logs(batch, *own_statistics(batch, np.array(found))).max(axis=1)
        for _ in range(n_far):
            gain = np.maximum(alone - best, 0.0)
            gain[found] = 0.0
            if not gain.any():
                break
            found.append(int(rng.choice(n, p=gain / gain.sum())))
            best = np.maximum(best, window_logs(batch, *own_statistics(batch, np.array(found[-1:])))[:, 0])
    S, N = own_statistics(batch, np.array(found))
    last = np.full(n, -1)
    for _ in range(ROUNDS):
        state = window_logs(batch, S, N).argmax(axis=1)
        if np.array_equal(state, last):
            break
        last = state
        share = np.zeros((int(batch.indptr[-1]), len(found)))
        share[np.arange(len(share)), np.repeat(state, np.diff(batch.indptr))] = 1.0
        S, N = batch.statistics(share)
    order = np.argsort(-N, kind="stable")[: np.count_nonzero(N)]
    return np.ascontiguousarray(S[:, order]), N[order]


def first_transitions(weights: Float, n_steps: float, stay: float) -> Float:
    """Return transitions (K + 1, K) where states of these weights (K,) stay with one probability, else draw anew."""
    moves = n_steps * np.outer(weights, (1 - stay) * weights)
    np.fill_diagonal(moves, np.diag(moves) + n_steps * stay * weights)
    return np.vstack([weights, moves])


def choice(a: float, b: float) -> float:
    """Return the entropy of the choice between two states with a and b steps, times their sum, in nats."""
    a, b = max(a, 0.0), max(b, 0.0)
    return float(entr(a) + entr(b) - entr(a + b))


class MergeStates(Merge):
    """Merge pairs of states; several in a lap are accepted by a bound of what their entropies share.  docs/math (Z8)"""

    def candidates(self, state: Inference) -> list[Candidate]:
        """Return the tracked pairs."""
        self._before: list[Candidate] = []
        self._moves: list[Any] = [summary.vectors.transitions for summary in state.batches]
        self._at = {int(name): k for k, name in enumerate(state.topic_ids)}
        self._place = {c.place: c for c in super().candidates(state)}
        return list(self._place.values())

    def compatible(self, candidate: Candidate, accepted: list[Candidate]) -> bool:
        """Whether both states are unchanged since tracking."""
        self._before = list(accepted)
        return super().compatible(candidate, accepted)

    def _shared(self, moves: Float, candidate: Candidate, before: Sequence[Candidate]) -> float:
        """Return what the entropies of a merge and of those before share at most, in nats, of a batch's transitions."""
        own, total = [self._at[candidate.left], self._at[candidate.right]], 0.0
        for other in before:
            pair = [self._at[other.left], self._at[other.right]]
            for block in (moves[1:][np.ix_(own, pair)], moves[1:][np.ix_(pair, own)].T):
                total += min(choice(*block.sum(axis=1)), choice(*block.sum(axis=0)))
        return total

    def _total(self, index: int) -> UnionStatistics:
        union = super()._total(index)
        shared = sum((self._shared(moves, self._place[index], self._before) for moves in self._moves), 0.0)
        return union._replace(H=union.H - shared)

    def apply(self, state: Inference, accepted: list[Candidate], standing: ObjectiveTerms) -> None:
        """Pool the states in every stored batch."""
        for b, moves in enumerate(self._moves):
            for i, candidate in enumerate(accepted):
                self._tracked[b].H[candidate.place] -= self._shared(moves, candidate, accepted[:i])
        super().apply(state, accepted, standing)


class Removals(Proposals):
    """The present states without one, the smallest first."""

    tries = REMOVALS

    def propose(self, state: Inference, schedule: Schedule, tries: int, seed: int) -> Proposal | None:
        """Return the states that stay."""
        parameters, K = state.parameters, state.topic_ids.size
        if tries >= K - 1:
            return None
        k = int(np.argsort(state.totals.N, kind="stable")[tries])
        weights, moves = np.delete(parameters.expected_beta[:-1], k), parameters.transitions
        assert moves is not None
        globals_ = GlobalParameters(
            np.delete(parameters.tau, k, axis=1),
            np.delete(parameters.tau_sum, k),
            *sticks_of(weights / (weights.sum() + parameters.expected_beta[-1]), np.delete(parameters.omega, k)),
            np.delete(np.delete(moves, k, axis=1), k + 1, axis=0),
        )
        return Proposal(state.model, globals_, np.delete(state.topic_ids, k))


class BirthOfStates(Birth):
    """Try more states."""

    merge: ClassVar[type[Merge]] = MergeStates


class Remove(Birth):
    """Try one of the smallest states to be left out, all sequences inferred again."""

    name: ClassVar[str] = "delete"
    beside: ClassVar[int] = 1

    def apply(self, state: Inference, accepted: list[int], standing: ObjectiveTerms) -> None:
        """Take the state of the trial, and begin with the smallest again."""
        super().apply(state, accepted, standing)
        self._tired_of, self._tries = None, 0


@dataclass(frozen=True, slots=True)
class Looked:
    """Takes windows out of a batch, evenly spread over it."""

    every: int

    def measure(self, result: Any, engine: Engine) -> Windows:
        """Return the windows."""
        return windows_of(result.batch, max(WINDOWS), self.every)

    def wanted(self, result: Any) -> Int:
        """Return no sequences."""
        return np.zeros(0, np.int64)


class WindowBirths(Proposals):
    """The present states and up to ten found in the windows that lose most under them.               docs/math (Z9)"""

    tries = len(WINDOWS)
    merges = True

    def begin(self, state: Inference) -> None:
        """Forget the windows of the last lap."""
        assert state.totals.transitions is not None
        self._pool: list[Windows] = []
        self._n_steps = float(state.totals.transitions.sum())

    def probe(self) -> Looked:
        """Return what takes windows out of the batches."""
        return Looked(max(1, int(self._n_steps / STEPS)))

    def note(self, observed: Windows) -> None:
        """Keep windows of a batch."""
        self._pool.append(observed)

    def propose(self, state: Inference, schedule: Schedule, tries: int, seed: int) -> Proposal | None:
        """Return the present states and those of the target."""
        model, parameters = state.model, state.parameters
        pool = windows_of(joined(self._pool).batch(model.likelihood), WINDOWS[tries]).batch(model.likelihood)
        S_old, N_old = model.likelihood.counts(parameters.tau, parameters.tau_sum)
        losses = gains_alone(pool) - window_logs(pool, S_old, N_old).max(axis=1)
        target = pool.selected(np.sort(np.argsort(-losses, kind="stable")[:TARGET]))
        S, N = states_of(target, BORN, stream(schedule.seed, f"birth of states {seed}"))
        scale = self._n_steps / float(pool.indptr[-1])
        moves = parameters.transitions
        assert moves is not None
        n, old, per_step = self._n_steps, N_old.size, max(float(pool.sizes.mean()), 1e-300)
        share = N * scale / per_step / n  # of all steps
        weights = np.concatenate([parameters.expected_beta[:-1], share]) / (1.0 + share.sum())
        steps = moves[1:].sum(axis=1)
        stay = float(np.trace(moves[1:]) / max(steps.sum(), 1e-300))
        grown = first_transitions(weights, n, stay)
        grown[: old + 1, :old] = moves
        born = GlobalParameters.of(
            model.likelihood,
            np.concatenate([S_old, S * scale], axis=1),
            np.concatenate([N_old, N * scale]),
            *sticks_of(weights, 1.0 + model.gamma + weights.size),
            grown,
        )
        return Proposal(model, born, np.concatenate([state.topic_ids, state.next_id + np.arange(N.size)]))


def moves_of_chains(names: Sequence[str]) -> list[Move]:
    """Return the named moves, in the order in which they are tried."""
    known: dict[str, Any] = {
        "merge": MergeStates,
        "delete": lambda: Remove(Removals()),
        "birth": lambda: BirthOfStates(WindowBirths()),
        "reorder": Reorder,
    }
    return [make() for name, make in known.items() if name in names]
