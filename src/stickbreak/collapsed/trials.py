"""How many topics long documents begin with: trials of few and of more say (math.md (C26)).

Words of long documents stand beside words of all their topics, so that co-occurrence shows fewer topics than there are.
Its corners are rough topics all the same, and a few sampled passes form them. Documents that are set apart say whether
more of them predict better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.companions import Companions
from stickbreak.collapsed.cvb0 import given_start, sweep
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import scores
from stickbreak.collapsed.shards import ONE_DRAW, Shard
from stickbreak.collapsed.state import CollapsedState
from stickbreak.collapsed.walking import Documents, are_short
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback, Stop
from stickbreak.numerics.arrays import Float

LEAST, MOST = 1 << 18, 1 << 23  # stored counts of a collection that begins like this
MANY = 0.35  # times the root of the stored counts
PASSES = 5  # sampled passes of a trial
FORMING = 15  # more of them, in which the topics that are taken go on to form


class Trial(NamedTuple):
    """Topics after some sampled passes."""

    state: CollapsedState
    scores: Float  # of the documents set apart


def begun_by_trial(
    documents: Documents, rules: Rules, engine: Engine, report: Callback, stop: Stop
) -> CollapsedState | None:
    """Begin with the words beside few words, or beside more where these predict better.               math.md (C26)

    Parameters
    ----------
    documents : Documents
        Those that are set apart have no part in the topics, and judge them.
    rules : Rules
    engine : Engine
    report : callable
        Called after each trial.
    stop : callable
        Whether to leave the other trials out.

    Returns
    -------
    CollapsedState or None
        After the sampled passes of a trial. None where documents are short, few or very many, none are set apart,
        counts are weights, or some topics are given.
    """
    n_counts = documents.n_counts
    if are_short(documents.n_documents, n_counts) or not LEAST <= n_counts <= MOST or rules.steering.n_kept:
        return None
    judges = documents.walk(engine, halved, rules.seed).listed
    many = min(round(MANY * math.sqrt(n_counts)), rules.max_topics)
    found = Companions.of(documents, 2 * many, rules.seed, engine) if judges else None
    if found is None:
        return None
    few = min(found.n_shown, rules.max_topics)
    best = _trial(documents, found.topics(few, rules.priors.eta), judges, rules, engine)
    for done, n in enumerate((round(math.sqrt(few * many)), many), 1):
        report({"stage": "init", "done": done, "total": 3})
        if n <= few or stop():
            break
        more = _trial(documents, found.topics(n, rules.priors.eta), judges, rules, engine)
        if (more.scores - best.scores).sum() <= 0:
            more.state.documents.clear()
            break
        best.state.documents.clear()
        best = more
    report({"stage": "init", "done": 3, "total": 3})
    documents.take(best.state.documents)
    best.state.documents = documents
    return best.state


def _trial(documents: Documents, topics: Float, judges: Sequence[Shard], rules: Rules, engine: Engine) -> Trial:
    """Form topics in some passes, and let the documents set apart score them."""
    state = given_start(documents.twin(), topics, ONE_DRAW, rules.seed, engine)
    while state.n_sweeps < PASSES:
        sweep(state, rules.priors, ONE_DRAW, rules.seed, engine)
    return Trial(state, scores(judges, state.S, state.beta, rules.priors, rules.seed, engine))
