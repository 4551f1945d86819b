"""Topics that grow on samples of the documents before all take part (math.md (C17)).

Topics that are few are found in few documents. So a fit from random topics splits them on a small sample first, then
on one four times as large, and so on: all documents begin with many topics, where one round of splits costs most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from stickbreak.collapsed.cvb0 import add_up, given_start, sweep, with_random_topics
from stickbreak.collapsed.learning import learn
from stickbreak.collapsed.moves import Rounds
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.shards import Aside, Shard
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.walking import Documents, Outcome
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback, Stop
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.streams import stream

LEAST = 1 << 20  # stored counts of a collection that is sampled
SMALLEST, LARGEST = 1 << 16, 1 << 22  # stored counts of a sample
TIMES = 4  # as many has the next sample
MOST = 1 << 26  # stored counts of a collection in which all documents take part in splits and merges
DOCUMENTS = 32  # for each topic of a sample, where samples decide: fewer leave mixtures of topics, which moves keep
ENOUGH = 1 / 8  # of the topics: where fewer are split in a round, the sample has no more to say


class Grown(NamedTuple):
    """Topics that samples of the documents led to."""

    counts: Float  # (K, W)  expected counts in the last sample, with eta
    priors: Priors
    settled: bool  # whether the rounds of splits and merges have come to their end


def samples(n_counts: int) -> list[int]:
    """Return the stored counts of the samples, the smallest first; none of few counts.          math.md (C17)"""
    if n_counts < LEAST:
        return []
    found, size = [], SMALLEST
    while size * TIMES <= n_counts and size <= LARGEST:
        found.append(size)
        size *= TIMES
    return found


def grown(documents: Documents, rules: Rules, engine: Engine, report: Callback, stop: Stop) -> Grown | None:
    """Return the topics that samples lead to; None where there are too few documents.

    Parameters
    ----------
    documents : Documents
        Those that are set apart are in no sample.
    rules : Rules
    engine : Engine
    report : callable
        Called after each sample.
    stop : callable
        Whether to leave the other samples out.
    """
    sizes, found = samples(documents.n_counts), None
    if not sizes:
        return None
    apart = np.concatenate(documents.walk(engine, _set_apart).listed)
    rows = np.setdiff1d(np.arange(documents.n_documents), apart)
    order = stream(rules.seed, "collapsed samples").permutation(rows)
    decides = documents.n_counts > MOST
    for number, size in enumerate(sizes, 1):
        n = round(documents.n_documents * size / documents.n_counts)
        most = min(rules.max_topics, max(rules.n_topics, n // DOCUMENTS)) if decides else rules.max_topics
        chosen = np.sort(order[:n])
        own = replace(rules, max_topics=most, steering=rules.steering.sample(chosen))
        settle = decides and number == len(sizes)
        found = _grown(documents.sample(chosen, engine), found, own, rules.seed + number, settle, engine)
        report({"stage": "init", "done": number, "total": len(sizes)})
        if number < len(sizes) and stop():
            break
    return found


def _set_apart(given: None, shard: Shard) -> Outcome:
    """List the numbers of the documents that are set apart."""
    if shard.apart is None:
        return Outcome(listed=[np.zeros(0, np.int64)])
    document = np.repeat(np.arange(shard.indptr.size - 1), np.diff(shard.indptr))
    return Outcome(listed=[shard.first + np.unique(document[shard.apart > 0])])


def _grown(sample: Documents, before: Grown | None, rules: Rules, seed: int, settle: bool, engine: Engine) -> Grown:
    """Return the topics after rounds of splits on a sample: all rounds (`settle`), or until few are split."""
    sample.set_aside(Aside(held=rules.held_back, held_seed=seed), engine)
    if before is None:
        state = with_random_topics(sample, rules.n_topics, seed, engine, rules.steering)
    else:
        state = given_start(sample, before.counts, rules.smallest, seed, engine, rules.steering)
    priors, rounds, lengths = rules.priors, Rounds(rules.merge_laps, births=True), sample.lengths(engine)
    while state.n_sweeps < rounds.end:
        sweep(state, priors, rules.smallest, seed, engine)
        priors = learn(state, priors, rules.learn, lengths)
        if rounds.due(state.n_sweeps):
            made = rounds.play(state, priors, rules.max_topics, rules.held_back, seed, engine)
            if not settle and made.birth_accepted <= ENOUGH * state.beta.size:
                break
    add_up(state, engine)
    counts = np.ascontiguousarray(state.S[:, state.shown()].T) + priors.eta
    return Grown(counts, priors, settle)
