"""Small corpora for the tests of collapsed inference, and their states as dense arrays."""

from dataclasses import replace

import numpy as np

from stickbreak.collapsed.aside import share_apart
from stickbreak.collapsed.cvb0 import ALONE
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.trials import Forming
from stickbreak.corpus import Corpus


def hold_back(state, share, seed, turn=0):
    """Hold tokens out, others in each turn."""
    state.set_aside(replace(state.documents.aside, held=share, held_seed=seed, turn=turn), ALONE)


def give_back(state):
    """Put the tokens that are held out among the others."""
    state.set_aside(replace(state.documents.aside, held=0.0), ALONE)


def set_apart(state, seed):
    """Set whole documents apart, of all tokens."""
    tokens = sum(part.count.sum() for part in state.documents.shards)
    state.set_aside(Aside(share_apart(state.documents.n_documents, tokens), seed), ALONE)


def formed(corpus, rules):
    """What forms the topics of a corpus, of which documents are set apart; None if nothing does."""
    documents = InMemory(corpus)
    documents.set_aside(Aside(apart=0.05, apart_seed=rules.seed), ALONE)
    return Forming.of(documents, rules, ALONE)


FORM = Rules(1, 500, Priors(1.0, 1.0, 0.05), 1 / 15, ("alpha",), 0, 60, True, 0.1, "auto")  # of fits that form topics


def begun(corpus, rules=FORM):
    """What forms the topics of a corpus."""
    forming = formed(corpus, rules)
    assert forming is not None
    return forming


def go_on(forming, passes):
    """Make passes until so many are made."""
    while forming.trial.passes < passes:
        forming.go_on()
    return forming


def near(truth, topic_word, far=0.35):
    """Whether each planted topic has one that is near it; two different topics are nearly 2 apart."""
    return np.abs(truth.topic_word[:, None] - topic_word[None]).sum(axis=2).min(axis=1) < far


def small_corpus(seed=0, *, n_documents=23, n_words=8, fractional=False):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.9, size=(n_documents, n_words)).astype(float)
    counts[[0, 4]] = 0
    counts[:, 3] = 0
    counts[1, 1] += 2
    if fractional:
        counts *= rng.uniform(1.0, 2.5, size=counts.shape)
    return Corpus.from_counts(counts)


BY_WORD = np.random.default_rng(7).gamma(0.5, 0.6, 12) + 0.02  # an eta for each word


def column(eta):
    """Eta as it is added to tables (W, K)."""
    return eta[:, None] if np.ndim(eta) else eta


def dense(corpus):
    return corpus.counts.toarray().astype(float)


def turns_of(state):
    """The documents of each turn."""
    return [
        [d for part in turn for d in range(part.first, part.first + part.indptr.size - 1)]
        for turn in state.documents.turns
    ]


def dense_r(corpus, state):
    """(D, W, K) float64 from the lists."""
    out = np.zeros((*corpus.counts.shape, state.N.size))
    for part in state.documents.shards:
        for d in range(part.indptr.size - 1):
            for p in range(part.indptr[d], part.indptr[d + 1]):
                for j in range(part.shares.start[p], part.shares.start[p + 1]):
                    out[part.first + d, part.word[p], part.shares.topic[j]] += part.shares.share[j]
    return out
