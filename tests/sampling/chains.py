"""Chains on tiny corpora."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.sampling.chain import Chain, ChainSettings
from stickbreak.sampling.state import Concentrations

ONE_THREAD = Engine(ThreadExecutor(1))
KINDS = {  # what is to be proved of each: representation, root
    "franchise": ("franchise", "marginal"),
    "direct": ("direct", "marginal"),
    "partially-collapsed": ("partially-collapsed", "marginal"),
    "root-marginal": ("indicator", "marginal"),
    "root-indicator": ("indicator", "indicator"),
}


def tokens_of(docs, n_words):
    """Return the tokens, and for each the place of one with its word in `docs` written one after another."""
    counts = np.array([np.bincount(doc, minlength=n_words) for doc in docs])
    base = np.cumsum([0, *map(len, docs)])
    order = [base[d] + np.argsort(doc, kind="stable") for d, doc in enumerate(docs)]
    return Tokens.from_corpus(Corpus.from_counts(counts)), np.concatenate(order)


def settings(kind, **options):
    representation, root = KINDS[kind]
    return ChainSettings(representation=representation, root=root, split_merge_sweeps=None, **options)


@dataclass
class Visits:
    """What a chain has visited, sweep by sweep."""

    z: np.ndarray  # (sweeps, N)  in the order of `docs`
    tables: np.ndarray  # (sweeps,)


def visits(tiny, kind, n_sweeps, *, seed, burn_in=50, **options):
    """Run a chain of fixed concentrations."""
    tokens, order = tokens_of(tiny.docs, tiny.V)
    chain = Chain(tokens, settings(kind, **options), Concentrations(tiny.alpha, tiny.gamma, tiny.eta), seed)
    chain.begin("single", 1)
    found = Visits(np.empty((n_sweeps, order.size), np.int32), np.empty(n_sweeps))
    for t in range(-burn_in, n_sweeps):
        chain.sweep(ONE_THREAD)
        if t >= 0:
            found.z[t, order] = chain.topics
            found.tables[t] = chain.n_tables
    return found
