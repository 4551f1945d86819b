"""Topics that grow on samples of the documents before all take part (math.md (C17)).

Topics that are few are found in few documents. So a fit from random topics splits them on a small sample first, then
on one four times as large, and so on: all documents begin with many topics, where one round of splits costs most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.cvb0 import add_up, given_start, sweep, with_random_topics
from stickbreak.collapsed.learning import learn
from stickbreak.collapsed.moves import Rounds
from stickbreak.collapsed.predictive import learn_drawn
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.second_start import FEW_TOPICS
from stickbreak.collapsed.shards import ONE_DRAW, Aside, Shard
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.walking import Documents, Outcome, are_short
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback, Stop
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream


class Sampling(NamedTuple):
    """When there are samples, and when the next one follows."""

    least: int  # stored counts of a collection that is sampled
    smallest: int  # stored counts of the first sample
    enough: float  # of the topics: where fewer are new after a round, the next sample follows
    short: bool = False  # whether documents are short: expected shares spread in them, draws do not


OF_LONG, OF_SHORT = Sampling(1 << 18, 1 << 14, 1 / 3), Sampling(1 << 20, 1 << 16, 1 / 8, short=True)
LARGEST = 1 << 22  # stored counts of a sample
TIMES = 4  # as many has the next sample
MOST = 1 << 26  # stored counts of a collection in which all documents take part in splits and merges ...
MOST_OF_SHORT = 1 << 21  # ... and of one of short documents, whose last passes are then sampled ones
DRAWS = 20  # sampled passes over the last sample of short documents: they sharpen its topics, and alpha falls
DOCUMENTS = 32  # for each topic of a sample, where samples decide: fewer leave mixtures of topics, which moves keep


@dataclass(frozen=True, slots=True)
class Until:
    """How long the topics grow on a sample."""

    enough: float | None  # of the topics: where fewer are new after a round, it is the last; None: there are all rounds
    draws: int = 0  # sampled passes after the rounds

    def ends(self, n_new: int, n_topics: int) -> bool:
        """Return whether a round that made `n_new` of the topics is the last."""
        return self.enough is not None and n_new <= self.enough * n_topics


class Grown(NamedTuple):
    """Topics that samples of the documents led to."""

    counts: Float  # (K, W)  expected counts in the last sample, with eta
    priors: Priors
    settled: bool  # whether the rounds of splits and merges have come to their end
    drawn: bool = False  # whether the last passes are sampled ones


def sampling_of(n_documents: int, n_counts: int) -> Sampling:
    """Return how a collection is sampled: one of long documents sooner, in smaller samples.     math.md (C17)"""
    return OF_SHORT if are_short(n_documents, n_counts) else OF_LONG


def samples(n_counts: int, sampling: Sampling) -> list[int]:
    """Return the stored counts of the samples, the smallest first; none of few counts.          math.md (C17)

    Where samples of short documents decide, a quarter of all documents is the last one.
    """
    if n_counts < sampling.least:
        return []
    found, size = [], sampling.smallest
    while size * TIMES <= n_counts and size <= LARGEST:
        found.append(size)
        size *= TIMES
    if sampling.short and MOST_OF_SHORT < n_counts <= TIMES * LARGEST and 2 * found[-1] <= n_counts // TIMES:
        found.append(n_counts // TIMES)
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
    sampling, found = sampling_of(documents.n_documents, documents.n_counts), None
    sizes = samples(documents.n_counts, sampling)
    if not sizes:
        return None
    rows = taking_part(documents, engine)
    order = stream(rules.seed, "collapsed samples").permutation(rows)
    short = sampling.short and rules.final_passes != "expected"
    decides = documents.n_counts > (MOST_OF_SHORT if short else MOST)
    last = Until(None, DRAWS if short or rules.final_passes == "sampled" else 0)
    for number, size in enumerate(sizes, 1):
        n = max(1, round(documents.n_documents * size / documents.n_counts))
        until = last if decides and number == len(sizes) else Until(sampling.enough)
        most = min(rules.max_topics, max(rules.n_topics, n // DOCUMENTS)) if decides else rules.max_topics
        chosen = np.sort(order[:n])
        own = replace(rules, max_topics=most, steering=rules.steering.sample(chosen))
        judges = documents.walk(engine, halved, rules.seed).listed if until.draws and sampling.short else None
        found = _grown(documents.sample(chosen, engine), found, own, until, judges, rules.seed + number, engine)
        report({"stage": "init", "done": number, "total": len(sizes)})
        if number < len(sizes) and stop():
            break
    if found is not None and found.drawn and len(found.counts) < FEW_TOPICS and documents.n_counts <= MOST:
        return found._replace(settled=False, drawn=False)  # all documents, and second starts, may find more
    return found


def taking_part(documents: Documents, engine: Engine) -> Int:
    """Return the numbers of the documents that are not set apart."""
    taking = np.ones(documents.n_documents, bool)
    taking[np.concatenate(documents.walk(engine, _set_apart).listed)] = False
    return np.flatnonzero(taking)


def _set_apart(given: None, shard: Shard) -> Outcome:
    """List the numbers of the documents that are set apart."""
    if shard.apart is None:
        return Outcome(listed=[np.zeros(0, np.int64)])
    document = np.repeat(np.arange(shard.indptr.size - 1), np.diff(shard.indptr))
    return Outcome(listed=[shard.first + np.flatnonzero(np.bincount(document, shard.apart))])


def _grown(
    sample: Documents,
    before: Grown | None,
    rules: Rules,
    until: Until,
    judges: Sequence[Shard] | None,
    seed: int,
    engine: Engine,
) -> Grown:
    """Return the topics after rounds of splits on a sample, and the priors that were learned there.

    Documents that are set apart are the judges of alpha in the sampled passes at the end.
    """
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
            if until.ends(made.birth_accepted, state.beta.size):
                break
    for number in range(1, until.draws + 1):
        sweep(state, priors, ONE_DRAW, seed, engine)
        priors = learn_drawn(state, priors, rules, number, judges, lengths, seed, engine)
    add_up(state, engine)
    return Grown(state.topics(priors.eta), priors, until.enough is None, until.draws > 0)
