"""A start from many random topics by sampled passes, where these were chosen or topics are few (math.md (C16)).

Splits are judged with expected shares, which spread in short documents: topics that draws would tell apart stay one.
Sampled passes over few such topics say little about what they are worth over many.
"""

from __future__ import annotations

import numpy as np

from stickbreak.collapsed.cvb0 import sweep, with_random_topics
from stickbreak.collapsed.predictive import learn_drawn, says_alpha
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import Ending, Mean, documents_apart, scores
from stickbreak.collapsed.second_start import FEW_TOPICS, is_better
from stickbreak.collapsed.shards import ONE_DRAW
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float

TOPICS = 100  # at random
HALVINGS = 4  # of each document set apart
FORMED = 20  # passes, after which topics are apart enough to say what alpha predicts best
BURN_IN, PASSES = 100, 130  # passes that are left out of the mean, and all


def try_sampled_start(
    state: CollapsedState, priors: Priors, ending: Ending, rules: Rules, lengths: Float, engine: Engine
) -> Priors | None:
    """Sample topics from random ones; let the state have them if they predict the documents set apart better.

    Parameters
    ----------
    state : CollapsedState
        After a trial of sampled passes, with documents set apart; changed in place.
    priors : Priors
        Of the state.
    ending : Ending
        After the trial. Its passes are sampled ones if the new topics are taken.
    rules : Rules
    lengths : ndarray of shape (D,)
        Tokens of the documents.
    engine : Engine

    Returns
    -------
    Priors or None
        Those of the new topics; None if the old ones stay.
    """
    chosen = ending.kind == "sampled"
    wanted = rules.births and rules.steering.past is None and (chosen or state.beta.size < FEW_TOPICS)
    if ending.tried is None or not wanted:
        return None
    other, mean, found = _sampled(state, rules, lengths, engine)
    new = mean, found if chosen else priors  # alpha falls in sampled passes: beside expected shares it is the same
    gain = gains(state, new, (ending.tried, priors), rules.seed, engine)
    if not (gain.sum() > 0 if chosen else is_better(gain)):  # math.md (C16)
        other.documents.clear()
        return None
    state.documents.take(other.documents)
    state.S, state.N, state.beta, state.tables, state.summed = other.S, other.N, other.beta, other.tables, False
    ending.kind = "sampled"
    return found


def gains(
    state: CollapsedState, new: tuple[Mean, Priors], old: tuple[Mean, Priors], seed: int, engine: Engine
) -> Float:
    """Return by how much new topics predict each document set apart better, over some ways to halve it, (D',)."""
    total: Float | float = 0.0
    for turn in range(HALVINGS):
        documents = documents_apart(state, seed + turn, engine)
        for sign, (mean, priors) in ((1, new), (-1, old)):
            beta = mean.corpus_weights(priors.gamma)
            total = total + sign * scores(documents, mean.counts(), beta, priors, seed, engine)
    return np.asarray(total / HALVINGS)


def _sampled(
    state: CollapsedState, rules: Rules, lengths: Float, engine: Engine
) -> tuple[CollapsedState, Mean, Priors]:
    """Return another state of the same tokens after sampled passes, the mean of the last ones, and its priors."""
    K = min(rules.steering.n_kept + TOPICS, rules.max_topics)
    seed, priors = rules.seed + 2, rules.priors
    judges = documents_apart(state, rules.seed, engine) if says_alpha(state.documents) else None
    other = with_random_topics(state.documents.twin(), K, seed, engine, rules.steering)
    mean = Mean.none(other)
    while other.n_sweeps < PASSES:
        sweep(other, priors, ONE_DRAW, seed, engine)
        now = [] if judges and other.n_sweeps < FORMED else judges
        priors = learn_drawn(other, priors, rules, other.n_sweeps, now, lengths, seed, engine)
        if other.n_sweeps > BURN_IN:
            mean.add(other)
    return other, mean, priors
