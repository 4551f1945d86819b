"""A step of `OnlineHDP` on a minibatch, its bound, and the joining of topics that are alike."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Lap
from stickbreak.numerics.arrays import Float, Int
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.franchise.local_step import Found, Globals, LocalSettings, local_step
from stickbreak_baselines.online.franchise.merging import merge_alike
from stickbreak_baselines.online.franchise.sticks import (
    expected_beta,
    expected_log_beta,
    objective_of_sticks,
    order_of_sticks,
)
from stickbreak_baselines.online.laps import Rules
from stickbreak_baselines.online.state import OnlineState
from stickbreak_baselines.topics import give_back, objective_of_topics, words_of_topics

COLUMNS = ("step_size", "n_steps", "sweeps", "merges")


@dataclass(slots=True)
class Tally:
    """What the documents of a lap say together, over the topics as they are ordered now."""

    S: Float  # (W, K)
    tables: Float  # (K,)
    own: float = 0.0
    n_tokens: float = 0.0
    sweeps: float = 0.0  # times documents
    n_documents: int = 0

    @classmethod
    def of(cls, state: OnlineState) -> Tally:
        """Begin with nothing."""
        return cls(np.zeros(state.counts.shape), np.zeros(state.n_topics))

    def add(self, minibatch: Minibatch, found: Found, order: Int | None) -> None:
        """Add a minibatch, then put the topics in a new order."""
        self.S[minibatch.words] += found.S
        self.tables += found.tables
        self.own, self.n_tokens = self.own + found.own, self.n_tokens + minibatch.n_tokens
        self.sweeps += found.sweeps * minibatch.n_documents
        self.n_documents += minibatch.n_documents
        if order is not None:
            self.S, self.tables = np.ascontiguousarray(self.S[:, order]), self.tables[order]


class FranchiseSteps:
    """Steps of `OnlineHDP`, one after another."""

    def __init__(self, rules: Rules, settings: LocalSettings, merge_threshold: float | None, engine: Engine) -> None:
        self.rules, self._settings, self._threshold, self._engine = rules, settings, merge_threshold, engine

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace beyond those of every trace."""
        return COLUMNS

    def lap(self, state: OnlineState, minibatches: Iterator[Minibatch], n_documents: int) -> Lap:
        """Take a step on each minibatch.

        The objective is the bound of all documents' factors as the lap found them under the globals at its end.
        """
        tally = Tally.of(state)
        for minibatch in minibatches:
            found = self.visit(state, minibatch)
            order = self.move(state, minibatch, found, n_documents)
            tally.add(minibatch, found, order)
        elog = words_of_topics(state, np.arange(state.counts.shape[0]), self.rules.eta)
        objective = self._bound(state, float((tally.S * elog).sum()), tally.tables, tally.own)
        return self._row(state, objective / tally.n_tokens, tally.sweeps / tally.n_documents)

    def once(self, state: OnlineState, minibatch: Minibatch, n_documents: int) -> Lap:
        """Take a step on a minibatch; the objective is an estimate of the bound from it before the step."""
        found = self.visit(state, minibatch)
        share, elog = n_documents / minibatch.n_documents, words_of_topics(state, minibatch.words, self.rules.eta)
        parts = share * float((found.S * elog).sum()), share * found.tables, share * found.own
        objective = self._bound(state, *parts) / (share * minibatch.n_tokens)
        self.move(state, minibatch, found, n_documents)
        return self._row(state, objective, found.sweeps)

    def visit(self, state: OnlineState, minibatch: Minibatch) -> Found:
        """Run the local step of a minibatch."""
        rules = self.rules
        log_beta, beta = (f(state.tables, rules.gamma) for f in (expected_log_beta, expected_beta))
        seen = Globals(words_of_topics(state, minibatch.words, rules.eta), log_beta, beta)
        return local_step(minibatch, seen, rules.alpha, self._settings, self._engine)

    def move(self, state: OnlineState, minibatch: Minibatch, found: Found, n_documents: int) -> Int | None:
        """Move the globals a step towards what the documents, scaled up, ask for.                     docs/math (O7)

        Returns
        -------
        ndarray or None
            The new order of the topics, if the bound is larger in it.                                 docs/math (O8)
        """
        share = n_documents / minibatch.n_documents
        state.blend(minibatch.words, share * found.S, share * found.tables, self.rules.size(state.n_steps + 1))
        if self.rules.pseudo is not None:
            give_back(state, self.rules.pseudo, self.rules.size(state.n_steps + 1))
        state.n_steps += 1
        order = order_of_sticks(state.tables, self.rules.gamma, state.n_kept)
        if order is not None:
            state.take(order)
        return order

    def _bound(self, state: OnlineState, of_words: float, tables: Float, own: float) -> float:
        """Return the bound in nats, of what documents add and of the globals.                         docs/math (O9)"""
        rules = self.rules
        of_globals = float(objective_of_topics(state, rules.eta, rules.pseudo).sum())
        of_globals += objective_of_sticks(state.tables, rules.gamma)
        return own + of_words + float(tables @ expected_log_beta(state.tables, rules.gamma)) + of_globals

    def _row(self, state: OnlineState, objective: float, sweeps: float) -> Lap:
        """Merge topics that are alike, and return the row of the trace."""
        merges = 0 if self._threshold is None else merge_alike(state, self.rules.eta, self._threshold)
        values = self.rules.size(max(1, state.n_steps)), float(state.n_steps), sweeps, float(merges)
        return Lap(objective, state.alive().size, merges > 0, dict(zip(COLUMNS, values, strict=True)))
