"""A second start, from many random topics, where splits have led to few (math.md (C14)).

A collection whose documents share most of their words can have topics that no split in two finds: each half is paid for
with a whole word distribution. Many topics at once find them, and documents set apart say whether they are real.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from stickbreak.collapsed.cvb0 import add_up, assembled, sweep, with_random_topics
from stickbreak.collapsed.learning import learn
from stickbreak.collapsed.merging import give_back, hold_back
from stickbreak.collapsed.moves import Rounds
from stickbreak.collapsed.sampled import halved, scores
from stickbreak.collapsed.state import CollapsedState, Priors, Shares
from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float

FEW_TOPICS = 20  # with fewer, a fit tries a second start ...
TOPICS = 50  # ... from so many random topics
LEAST_GAIN = 3.0  # standard errors that its topics must predict better by: ten documents may have to say it


@dataclass(frozen=True, slots=True)
class SecondStart:
    """The fit from many random topics: what it shares with the one that it is compared with."""

    priors: Priors  # to begin with
    max_topics: int
    merge_laps: int
    held_back: float  # share of the tokens
    smallest: float  # share that is kept
    learn: Collection[str]
    seed: int

    def due(self, state: CollapsedState) -> bool:
        """Return whether splits have led to few topics, and there are documents to judge others by."""
        return state.beta.size < min(FEW_TOPICS, self.max_topics) and bool(halved(state.shards, self.seed))

    def tried(self, state: CollapsedState, priors: Priors, lengths: Float, executor: Executor) -> Priors | None:
        """Fit from random topics; let the state have these if they predict the documents set apart better.

        Parameters
        ----------
        state : CollapsedState
            After its last round of moves; changed in place, but for the tokens that are held out and set apart.
        priors : Priors
            Of the state.
        lengths : ndarray of shape (D,)
            Tokens of the documents.
        executor : Executor

        Returns
        -------
        Priors or None
            Those of the new topics; None if the old ones stay.
        """
        other, found = self._fitted(state, lengths, executor)
        documents = halved(state.shards, self.seed)
        add_up(state, executor)
        new = scores(documents, other.S, other.beta, found, self.seed, executor)
        old = scores(documents, state.S, state.beta, priors, self.seed, executor)
        if not is_better(new, old):
            return None
        for shard, taken in zip(state.shards, other.shards, strict=True):
            shard.shares = taken.shares
        state.S, state.N, state.beta, state.tables = other.S, other.N, other.beta, other.tables
        return found

    def _fitted(self, state: CollapsedState, lengths: Float, executor: Executor) -> tuple[CollapsedState, Priors]:
        """Return another state of the same documents and its priors, after all its rounds of moves."""
        turns = [[replace(shard, shares=Shares.none(shard.word.size)) for shard in turn] for turn in state.turns]
        K, seed, priors = min(TOPICS, self.max_topics), self.seed + 1, self.priors
        other = assembled(turns, state.S.shape[0], np.full(K, 1 / (K + 1)))
        give_back(other.shards)
        with_random_topics(other.shards, K, seed)
        hold_back(other.shards, self.held_back, seed)
        rounds = Rounds(self.merge_laps, births=True)
        while other.n_sweeps < rounds.end:
            sweep(other, priors, self.smallest, seed, executor)
            priors = learn(other, priors, self.learn, lengths)
            if rounds.due(other.n_sweeps):
                rounds.play(other, priors, self.max_topics, self.held_back, seed, executor)
        add_up(other, executor)
        return other, priors


def is_better(new: Float, old: Float) -> bool:
    """Return whether documents are predicted better by three standard errors.                       math.md (C14)"""
    gain = new - old
    return bool(gain.sum() > LEAST_GAIN * np.sqrt((gain**2).sum()))
