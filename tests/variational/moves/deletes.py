"""Laps in which a delete gathered its documents, before it is tried."""

import numpy as np

from stickbreak.variational.memoized import first_lap, laps

from ..following import Following, Holding
from ..problems import ETA, begin, schedule


def gathered_lap(corpus, n_topics, n_batches, *moves, seed=0, n_laps=3, start=None, **options):
    """(schedule, state, q) of a lap in which the moves gathered and tracked, before any was tried."""
    made, _ = schedule(corpus, n_batches, **options)
    eta = options.get("eta", ETA)
    state, _ = first_lap(made, begin(corpus, n_topics, seed, eta=eta) if start is None else start)
    following = Following()
    further = laps(made, state, [following, Holding(*moves)], 1)
    for _ in range(n_laps):
        next(further)
    following.attach(moves)
    return made, state, following


def holders_of(state):
    return np.sum([np.bincount(x.topic, minlength=state.topic_ids.size) for x in state.documents], axis=0)
