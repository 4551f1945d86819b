"""A step of `SplitMergeOnlineHDP` on a minibatch, then merges and splits."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Lap
from stickbreak.numerics.pseudo_counts import of_words, total_of
from stickbreak.numerics.streams import stream_at
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.direct.local_step import Visit, local_step
from stickbreak_baselines.online.direct.merges import candidates, gain_of
from stickbreak_baselines.online.direct.splits import Part, Split, halves, judge
from stickbreak_baselines.online.direct.weights import objective_of_weights, prior_of
from stickbreak_baselines.online.laps import Rules
from stickbreak_baselines.online.state import OnlineState
from stickbreak_baselines.topics import give_back, objective_of_topics, words_of_topics

COLUMNS = (
    "step_size", "n_steps", "sweeps", "split_tried", "split_accepted", "merge_tried", "merge_accepted",
)  # fmt: skip


class Settings(NamedTuple):
    """How local steps end, and what is tried after each step."""

    tolerance: float = 1e-4  # largest change of an N_dk
    max_sweeps: int = 100
    split_trials: int = 10
    merge_trials: int = 10
    max_topics: int = 200


class Done(NamedTuple):
    """What a step reports."""

    objective: float  # nats of all documents
    sweeps: float
    moves: tuple[int, int, int, int]  # splits tried and accepted, merges tried and accepted


class DirectSteps:
    """Steps of `SplitMergeOnlineHDP`, one after another."""

    def __init__(self, rules: Rules, settings: Settings, engine: Engine) -> None:
        self.rules, self._settings, self._engine = rules, settings, engine

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace beyond those of every trace."""
        return COLUMNS

    def lap(self, state: OnlineState, minibatches: Iterator[Minibatch], n_documents: int) -> Lap:
        """Take a step on each minibatch; the objective is the mean of their estimates of the bound."""
        done, tokens = [], []
        for minibatch in minibatches:
            done.append(self.learn(state, minibatch, n_documents))
            tokens.append(minibatch.n_tokens * n_documents / minibatch.n_documents)
        return self._row(state, done, tokens)

    def once(self, state: OnlineState, minibatch: Minibatch, n_documents: int) -> Lap:
        """Take a step on a minibatch; the objective is an estimate of the bound from it before the step."""
        done = self.learn(state, minibatch, n_documents)
        return self._row(state, [done], [minibatch.n_tokens * n_documents / minibatch.n_documents])

    def visit(self, state: OnlineState, minibatch: Minibatch) -> Visit:
        """Run the local step of a minibatch."""
        rules, settings = self.rules, self._settings
        elog = words_of_topics(state, minibatch.words, rules.eta)
        prior = prior_of(state.tables, rules.alpha, rules.gamma)
        limits = settings.tolerance, settings.max_sweeps
        return local_step(minibatch, elog, prior, rules.alpha, *limits, self._engine)

    def learn(self, state: OnlineState, minibatch: Minibatch, n_documents: int) -> Done:
        """Take a step, then merge and split topics.                              docs/math (S1), (O11) to (O15)"""
        rules, share = self.rules, n_documents / minibatch.n_documents
        visit = self.visit(state, minibatch)
        objective = share * visit.value + float(objective_of_topics(state, rules.eta, rules.pseudo).sum())
        objective += objective_of_weights(state.tables, rules.gamma, rules.n_kept)  # docs/math (O12), (O16)
        size = rules.size(state.n_steps + 1)
        state.blend(minibatch.words, share * visit.S, share * visit.tables, size)
        if rules.pseudo is not None:
            give_back(state, rules.pseudo, size)
            state.tables[: rules.n_kept] += size
        state.n_steps += 1
        merged, n_merges = self._merge(state, visit, share)
        n_splits = self._split(state, visit, share, merged)
        gone = [other for _, other in merged]
        state.take(np.setdiff1d(state.alive(), gone))  # topics that have lost their tokens go, too
        return Done(objective, visit.sweeps, (*n_splits, n_merges, len(merged)))

    def _merge(self, state: OnlineState, visit: Visit, share: float) -> tuple[list[tuple[int, int]], int]:
        """Merge pairs where the bound rises; the second of a pair keeps its column for now.

        Returns
        -------
        merged : list of (int, int)
        tried : int
        """
        rules, merged, touched, tried = self.rules, list[tuple[int, int]](), set[int](), 0
        for k, other in candidates(visit.N, self._settings.merge_trials, rules.n_kept):
            if {k, other} & touched:
                continue
            tried += 1
            if gain_of(visit, k, other, share, rules, state.counts.shape[0]) > 0.0:
                for table in (state.counts, state.tokens[None], state.tables[None]):
                    table[:, k] += table[:, other]
                merged.append((k, other))
                touched |= {k, other}
        return merged, tried

    def _split(self, state: OnlineState, visit: Visit, share: float, merged: list[tuple[int, int]]) -> tuple[int, int]:
        """Split topics where the bound of the minibatch rises, and return how many were tried and accepted."""
        rules, settings = self.rules, self._settings
        rng = stream_at(rules.seed, "splits", state.n_steps)
        whole = np.setdiff1d(np.flatnonzero(visit.N.sum(axis=0) >= 2.0), [k for pair in merged for k in pair])
        whole = whole[whole >= rules.n_kept]
        eta, total_eta = of_words(rules.eta, visit.minibatch.words), total_of(rules.eta, state.counts.shape[0])
        room, accepted, tried = settings.max_topics - (state.n_topics - len(merged)), 0, 0
        for k in rng.permutation(whole)[: settings.split_trials].tolist():
            if accepted >= room:
                break
            part, prior = Part.of(visit, k), float(visit.prior[k])
            half = halves(part, prior, share, eta, total_eta, rng)
            split = judge(part, half, prior, share, eta, rules.gamma, total_eta)
            tried += 1
            if split.gain > 0.0:
                self._take_split(state, visit, k, split)
                accepted += 1
        return tried, accepted

    def _take_split(self, state: OnlineState, visit: Visit, k: int, split: Split) -> None:
        """Share a topic out: each word by the halves in the minibatch, words that it lacks evenly.   docs/math (O14)"""
        words, first = visit.minibatch.words, np.full(state.counts.shape[0], 0.5)
        eta = of_words(self.rules.eta, words)
        first[words] = (eta + split.words[0]) / (2.0 * eta + split.words.sum(axis=0))
        counts = state.counts[:, k] * (1.0 - first)
        state.counts = np.column_stack([state.counts, counts])
        state.counts[:, k] *= first
        tokens = state.scale * float(counts.sum())
        state.tokens = np.append(state.tokens, tokens)
        state.tokens[k] = state.scale * float(state.counts[:, k].sum())
        state.tables = np.append(state.tables, state.tables[k] * split.tables[1])
        state.tables[k] *= split.tables[0]

    def _row(self, state: OnlineState, done: list[Done], tokens: list[float]) -> Lap:
        """Return the row of the trace."""
        objective = float(np.average([one.objective / n for one, n in zip(done, tokens, strict=True)], weights=tokens))
        moves = np.array([one.moves for one in done]).sum(axis=0).tolist()
        sweeps = float(np.mean([one.sweeps for one in done]))
        values = self.rules.size(max(1, state.n_steps)), float(state.n_steps), sweeps, *map(float, moves)
        moved = moves[1] + moves[3] > 0
        return Lap(objective, state.alive().size, moved, dict(zip(COLUMNS, values, strict=True)))
