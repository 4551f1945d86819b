"""The laps of a fit, as its run sees them: sweeps, learning, checkpoints."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.cvb0 import add_up, assembled, given_start, random_start, sweep
from stickbreak.collapsed.learning import FIRST_LAP, learn
from stickbreak.collapsed.merging import due, give_back, hold_back, merge
from stickbreak.collapsed.state import (
    SMALLEST_BETA,
    SUM_TOLERANCE,
    CollapsedState,
    Priors,
    cut,
    packed_shares,
    unpack_shares,
)
from stickbreak.collapsed.streaming import Topics
from stickbreak.corpus import Corpus
from stickbreak.fitting.alive import alive
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.executor import Executor
from stickbreak.fitting.laps import Callback, Lap, Packed, Stop
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.ranges import are_sums, is_concentration


@dataclass(frozen=True, slots=True)
class Rules:
    """What does not change from lap to lap."""

    n_topics: int
    priors: Priors  # to begin with
    smallest: float  # share that is kept
    learn: tuple[str, ...]
    seed: int
    merge_laps: int  # laps, from the first, in which tokens are held back
    held_back: float  # their share
    given: Float | None = None  # (K, W)  expected counts of the topics to start from


class CollapsedLaps:
    """Sweeps over a collection: `run_fit` drives them.

    Parameters
    ----------
    corpus : Corpus
    rules : Rules
    executor : Executor
    """

    window = 10  # shares are rounded at random, so that the objective of one lap is noisy

    def __init__(self, corpus: Corpus, rules: Rules, executor: Executor) -> None:
        self.rules, self.priors = rules, rules.priors
        self.state: CollapsedState
        self._corpus, self._executor = corpus, executor

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return columns_of(self.rules.priors)

    def begin(self, report: Callback, stop: Stop) -> None:
        """Put every stored count in a topic, at random or as given: too short to be reported or stopped."""
        rules = self.rules
        if rules.given is None:
            self.state = random_start(self._corpus, rules.n_topics, rules.seed)
        else:
            self.state = given_start(self._corpus, rules.given, rules.smallest, rules.seed)
        self._hold_back()

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every sweep."""
        state, rules = self.state, self.rules
        while True:
            if state.n_sweeps == rules.merge_laps:
                give_back(state.shards)
            lengths = lengths_of(state)
            sweep(state, self.priors, rules.smallest, rules.seed, self._executor)
            self.priors = learn(state, self.priors, rules.learn, lengths)
            tried = made = 0
            if due(state.n_sweeps, rules.merge_laps):
                tried, made = merge(state, self.priors, self._executor)
            # topics merge, or what is learned has to settle
            early = state.n_sweeps <= max(rules.merge_laps + 1, FIRST_LAP)
            columns = columns_of(self.priors, tried, made)
            yield Lap(state.log_p / (float(lengths.sum()) or 1.0), alive(state.N).size, early, columns)

    def _hold_back(self) -> None:
        """Take tokens out for as long as topics are merged."""
        if self.state.n_sweeps < self.rules.merge_laps:
            hold_back(self.state.shards, self.rules.held_back, self.rules.seed)

    def finish(self) -> Topics:
        """Return the topics with the counts of all tokens, summed again: those that any fit with these shares has."""
        add_up(self.state, self._executor)
        shown = alive(self.state.N)
        give_back(self.state.shards)
        add_up(self.state, self._executor)
        return Topics.of(self.state, shown, self.priors, lengths_of(self.state))

    def snapshot(self) -> Packed:
        """Return arrays and plain values that all further laps depend on."""
        state, priors = self.state, self.priors
        arrays = {**packed_shares(state.shards), "beta": state.beta, "tables": state.tables}
        values = {"alpha": priors.alpha, "gamma": priors.gamma, "eta": priors.eta, "n_sweeps": state.n_sweeps}
        return arrays, values

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned.

        Raises
        ------
        KeyError, ValueError
            If it cannot be of these documents.
        """
        K, turns, beta, tables = self.rules.n_topics, cut(self._corpus), arrays["beta"], arrays["tables"]
        require(is_table(beta, K) and bool((beta >= SMALLEST_BETA).all()), "its corpus weights are not positive")
        require(float(beta.sum()) <= 1.0 + K * SMALLEST_BETA + SUM_TOLERANCE, "its corpus weights sum to more than one")
        require(is_table(tables, K) and are_sums(tables), "its tables are negative or too large")
        unpack_shares(dict(arrays), [shard for turn in turns for shard in turn], K)
        priors = Priors(*(float(values[name]) for name in ("alpha", "gamma", "eta")))
        require(all(map(is_concentration, (priors.alpha, priors.gamma, priors.eta))), "a prior is out of its range")
        self.state = assembled(turns, self._corpus.n_words, beta.copy())
        self.state.tables, self.priors = tables.copy(), priors
        self.state.n_sweeps = whole_number("n_sweeps", values["n_sweeps"])
        self._hold_back()


def columns_of(priors: Priors, tried: int = 0, made: int = 0) -> dict[str, float]:
    """Return the columns of the trace that are the family's own."""
    names = {"alpha": priors.alpha, "gamma": priors.gamma, "eta": priors.eta}
    return {**names, "merge_tried": tried, "merge_accepted": made}


def lengths_of(state: CollapsedState) -> Float:
    """Return the tokens of each document, those held back left out, (D,)."""
    parts = []
    for shard in state.shards:
        document = np.repeat(np.arange(shard.indptr.size - 1), np.diff(shard.indptr))
        parts.append(np.bincount(document, weights=shard.count, minlength=shard.indptr.size - 1))
    return np.concatenate(parts)
