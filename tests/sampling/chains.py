"""Chains on tiny corpora."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine
from stickbreak.model.seeds import WordPrior
from stickbreak.sampling.chain import Chain, ChainSettings
from stickbreak.sampling.known_topics import known_topics
from stickbreak.sampling.state import Concentrations

ONE_THREAD = Engine(1)


def tokens_of(docs, n_words, n_given=0):
    """Return the tokens, and for each the place of one with its word in `docs` written one after another."""
    counts = np.array([np.bincount(doc, minlength=n_words) for doc in docs])
    base = np.cumsum([0, *map(len, docs)])
    order = [base[d] + np.argsort(doc, kind="stable") for d, doc in enumerate(docs)]
    return Tokens.from_corpus(Corpus.from_counts(counts), n_given), np.concatenate(order)


def settings(kind, **options):
    return ChainSettings(representation=kind, split_merge_sweeps=None, **options)


@dataclass
class Visits:
    """What a chain has visited, sweep by sweep."""

    z: np.ndarray  # (sweeps, N)  in the order of `docs`
    tables: np.ndarray  # (sweeps,)


def chain_of(tiny, kind, *, seed, n_given=0, **options):
    """Return a chain that has begun, and the place of each token; the last `n_given` documents keep their topics."""
    tokens, order = tokens_of(tiny.docs, tiny.V, n_given)
    order, known = order[: tokens.sampled[-1]], None
    if n_given:
        pseudo = np.array([np.bincount(doc, minlength=tiny.V) for doc in tiny.docs[-n_given:]]).T
        known = known_topics(WordPrior(0.1, sparse.csr_array(pseudo.astype(float))))
    eta = np.array(tiny.eta) if np.ndim(tiny.eta) else tiny.eta
    chain = Chain(tokens, settings(kind, known=known, **options), Concentrations(tiny.alpha, tiny.gamma, eta), seed)
    chain.begin("random" if n_given else "single", 1)
    return chain, order


def visits(tiny, kind, n_sweeps, *, burn_in=50, **options):
    """Run a chain of fixed concentrations."""
    chain, order = chain_of(tiny, kind, **options)
    found = Visits(np.empty((n_sweeps, order.size), np.int32), np.empty(n_sweeps))
    for t in range(-burn_in, n_sweeps):
        chain.sweep(ONE_THREAD)
        if t >= 0:
            found.z[t, order] = chain.topics
            found.tables[t] = chain.n_tables
    return found
