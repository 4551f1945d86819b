"""What the tests of both kinds of trial share."""

from __future__ import annotations

from stickbreak.corpus import toy_bars
from stickbreak.variational.memoized import first_lap, laps

from ..following import Following, Holding
from ..problems import begin, schedule


def small_bars(seed=0, n_documents=60):
    """Documents of four bars on a grid of 36 words."""
    return toy_bars(n_documents, size=6, n_bars=4, tokens=40, seed=seed)[0]


def before_trial(move, corpus, n_topics, n_batches=2, *, n_laps=4, seed=0, **options):
    """(schedule, state, q) at the end of a lap that the trial has seen, before it is tried."""
    made, _ = schedule(corpus, n_batches, **options)
    state, _ = first_lap(made, begin(corpus, n_topics, seed))
    following = Following()
    further = laps(made, state, [following, Holding(move)], 1)
    for _ in range(n_laps):
        next(further)
    following.attach([move])
    return made, state, following
