"""How many topics long documents begin with: trials of few and of more say (math.md (C26)).

Words of long documents stand beside words of all their topics, so that co-occurrence shows fewer topics than there are.
Its corners are rough topics all the same, and Gibbs sampling forms them. Documents that are set apart say whether more
of them predict better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.companions import Companions
from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import scores
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.walking import Documents, are_short
from stickbreak.corpus import Corpus
from stickbreak.fitting.alive import alive
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback, Stop
from stickbreak.numerics.arrays import Float
from stickbreak.sparse_gibbs import priors as chain_priors
from stickbreak.sparse_gibbs.chain import Chain

LEAST, MOST = 1 << 18, 1 << 23  # stored counts of a collection that begins like this ...
MOST_TOKENS = 1 << 25  # ... and its tokens, each of which has a topic
JUDGES = 20  # documents set apart, at least
MANY = 0.35  # times the root of the stored counts
PASSES = 5  # of a trial
FORMING = 60  # of the topics that are taken, with those of the trial


class Trial:
    """Topics that Gibbs sampling forms of the words beside some words.

    Parameters
    ----------
    corpus : Corpus
        The documents that take part.
    topics : ndarray of shape (K, W)
    priors : Priors
        Of the fit. Weights of topics are learned from alike ones on; no other family sees them.
    seed : int
    """

    def __init__(self, corpus: Corpus, topics: Float, priors: Priors, seed: int) -> None:
        self._chain = Chain(corpus, len(topics), seed, averages=True)
        self._chain.begin_near(topics)
        self._priors = chain_priors.Priors.even(len(topics), priors.alpha, priors.eta)
        self._given, self.passes = priors, 0

    def go_on(self) -> None:
        """Make a pass.                                                                         math.md (L2), (L4)"""
        self.passes += 1
        self._chain.lap(self.passes, self._priors)
        self._priors = self._chain.with_weights(self._priors, self.passes)

    @property
    def weights(self) -> Float:
        """Expected weights of the topics, a_k / alpha, (K,)."""
        weights: Float = self._priors.a / self._priors.alpha
        return weights

    def topics(self) -> Float:
        """Return the mean counts of the topics that have tokens, and eta, (K, W).                      math.md (L3)"""
        counts = self._chain.counts()
        return np.ascontiguousarray(counts[:, alive(counts.sum(axis=0))].T) + self._given.eta

    def scores(self, judges: Sequence[Shard], seed: int, engine: Engine) -> Float:
        """Return the log probability of the tokens held out of each of some documents, (D',)."""
        given = replace(self._given, alpha=self._priors.alpha)
        return scores(judges, self._chain.counts(), self.weights, given, seed, engine)


def topics_by_trial(documents: Documents, rules: Rules, engine: Engine, report: Callback, stop: Stop) -> Float | None:
    """Form topics of the words beside few words, or beside more where these predict better.          math.md (C26)

    Parameters
    ----------
    documents : Documents
        Those that are set apart have no part in the topics, and judge them.
    rules : Rules
    engine : Engine
    report : callable
        Called after each pass.
    stop : callable
        Whether to make no more passes.

    Returns
    -------
    ndarray of shape (K, W) or None
        Counts of all tokens and eta. None where documents are short, few or very many, too few are set apart, counts
        are weights, or some topics are given.
    """
    n_counts = documents.n_counts
    if are_short(documents.n_documents, n_counts) or not LEAST <= n_counts <= MOST or rules.steering.n_kept:
        return None
    judges = documents.walk(engine, halved, rules.seed).listed
    many = min(round(MANY * math.sqrt(n_counts)), rules.max_topics)
    enough = sum(shard.indptr.size - 1 for shard in judges) >= JUDGES
    found = Companions.of(documents, 2 * many, rules.seed, engine) if enough else None
    if found is None:
        return None
    corpus = documents.chosen(taking_part(documents, engine))
    if corpus.n_tokens > MOST_TOKENS or (corpus.counts.data % 1.0).any():  # weights outside of what was looked at
        return None
    few = min(found.n_shown, rules.max_topics)
    numbers, total = sorted({few, round(math.sqrt(few * many)), max(few, many)}), FORMING + 2 * PASSES
    best: tuple[Trial, Float] | None = None
    for done, n in enumerate(numbers):
        trial = Trial(corpus, found.topics(n, rules.priors.eta), rules.priors, rules.seed)
        _go_on(trial, PASSES, (done * PASSES, total), report, stop)
        now = trial.scores(judges, rules.seed, engine)
        if best is not None and (now - best[1]).sum() <= 0:
            break
        best = trial, now
        if stop():
            break
    assert best is not None
    _go_on(best[0], FORMING, (total - FORMING, total), report, stop)
    return best[0].topics()


def _go_on(trial: Trial, n_passes: int, progress: tuple[int, int], report: Callback, stop: Stop) -> None:
    """Make passes until there are `n_passes`, or it is time to stop."""
    before, total = progress
    while trial.passes < n_passes and not (trial.passes and stop()):
        trial.go_on()
        report({"stage": "init", "done": before + trial.passes, "total": total})
