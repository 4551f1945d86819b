"""A second start, from many random topics, where splits have led to few (math.md (C14)).

A collection whose documents share most of their words can have topics that no split in two finds: each half is paid for
with a whole word distribution. Many topics at once find them, and documents set apart say whether they are real.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stickbreak.collapsed.cvb0 import add_up, sweep, with_random_topics
from stickbreak.collapsed.learning import learn
from stickbreak.collapsed.moves import Rounds
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import documents_apart, scores
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float

FEW_TOPICS = 20  # a fit that ends with fewer topics tries a second start
TOPICS = 50  # of the second start
LEAST_GAIN = 3.0  # standard errors that its topics must predict better by: ten documents may have to say it


def second_start_due(state: CollapsedState, rules: Rules, engine: Engine) -> bool:
    """Return whether splits have led to few topics, and documents are set apart to judge others by; not in updates."""
    few = state.beta.size < min(FEW_TOPICS, rules.max_topics)
    return rules.births and few and rules.steering.past is None and bool(documents_apart(state, rules.seed, engine))


def try_second_start(
    state: CollapsedState, priors: Priors, rules: Rules, lengths: Float, engine: Engine
) -> Priors | None:
    """Fit from random topics; let the state have these if they predict the documents set apart better.

    Parameters
    ----------
    state : CollapsedState
        After its last round of moves; changed in place, but for the tokens that are held out and set apart.
    priors : Priors
        Of the state.
    rules : Rules
    lengths : ndarray of shape (D,)
        Tokens of the documents.
    engine : Engine

    Returns
    -------
    Priors or None
        Those of the new topics; None if the old ones stay.
    """
    other, found = _fitted(state, rules, lengths, engine)
    documents = documents_apart(state, rules.seed, engine)
    add_up(state, engine)
    new = scores(documents, other.S, other.beta, found, rules.seed, engine)
    old = scores(documents, state.S, state.beta, priors, rules.seed, engine)
    if not is_better(new - old):
        other.documents.clear()
        return None
    state.documents.take(other.documents)
    state.S, state.N, state.beta, state.tables, state.summed = other.S, other.N, other.beta, other.tables, False
    return found


def _fitted(state: CollapsedState, rules: Rules, lengths: Float, engine: Engine) -> tuple[CollapsedState, Priors]:
    """Return another state of the same documents and its priors, after all its rounds of moves."""
    documents, seed, priors = state.documents.twin(), rules.seed + 1, rules.priors
    K = min(rules.steering.n_kept + TOPICS, rules.max_topics)
    documents.set_aside(replace(documents.aside, held=rules.held_back, held_seed=seed, turn=0), engine)
    other = with_random_topics(documents, K, seed, engine, rules.steering)
    rounds = Rounds(rules.merge_laps, births=True)
    while other.n_sweeps < rounds.end:
        sweep(other, priors, rules.smallest, seed, engine)
        priors = learn(other, priors, rules.learn, lengths)
        if rounds.due(other.n_sweeps):
            rounds.play(other, priors, rules.max_topics, rules.held_back, seed, engine)
    add_up(other, engine)
    return other, priors


def is_better(gain: Float) -> bool:
    """Return whether documents are predicted better by three standard errors.                       math.md (C14)"""
    return bool(gain.sum() > LEAST_GAIN * np.sqrt((gain**2).sum()))
