"""Topics learned again without documents: against sums by definition, and what the documents may not change."""

from itertools import chain

import numpy as np
import pytest
from scipy import sparse
from tests.path.reference import shares, swept

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import Engine
from stickbreak.path import evidence
from stickbreak.path.evidence import hold_out_documents, unseen_evidence
from stickbreak.path.joining_topics import join_to_one
from stickbreak.prediction.document_weights import collapsed_weights

ETA = 0.1


@pytest.fixture
def engine():
    with Engine(1) as one:
        yield one


def small(seed, D=30, W=25, K=4):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.4, 2.0, (D, W))).astype(float)
    counts[:, 0] += 3
    S = rng.gamma(0.5, 1.0, (K, W))
    return Corpus.from_counts(sparse.csr_matrix(counts)), S * counts.sum() / S.sum(), rng.gamma(2.0, 0.3, K)


@pytest.mark.parametrize("missing", [0.0, 500.0])
def test_topics_have_the_tokens_of_the_other_documents(missing, engine):
    corpus, S, prior = small(0)
    S *= (corpus.counts.toarray().sum(axis=0) + missing / 25) / S.sum(axis=0)
    evidence = unseen_evidence(S, ETA, prior, corpus, 0, engine)
    parts = hold_out_documents(corpus, 0)
    assert [len(each) for each in evidence] == [len(parts)] * 2 == [5, 5]
    for *both, part in zip(*evidence, parts, strict=True):
        others = corpus.counts.toarray()[part.others].sum(axis=0) + missing / 25
        for each in both:
            assert each.mass.sum() == pytest.approx(others.sum() + 4 * 25 * ETA)
            np.testing.assert_allclose((each.tau - ETA).sum(axis=0), others[each.tokens.words])
            np.testing.assert_allclose(each.theta.sum(axis=1), 1.0)


def test_words_that_the_other_documents_hardly_have_are_not_scored(engine):
    """Only eta says how probable they are, and small topics have a larger part of it."""
    corpus, S, prior = small(1)
    counts = np.hstack([corpus.counts.toarray(), np.zeros((30, 30))])
    counts[np.arange(30), 25 + np.arange(30)] = 6
    corpus, S = Corpus.from_counts(sparse.csr_matrix(counts)), np.hstack([S, np.full((4, 30), 1.5)])
    S *= counts.sum(axis=0) / S.sum(axis=0)
    for each in chain(*unseen_evidence(S, ETA, prior, corpus, 0, engine)):
        assert each.tokens.n_tokens
        assert (each.tokens.words < 25).all()


@pytest.mark.parametrize("threads", [2, 3])
def test_evidence_does_not_depend_on_threads(threads, engine, monkeypatch):
    monkeypatch.setattr(evidence, "PART", 50)
    corpus, S, prior = small(2)
    one = unseen_evidence(S, ETA, prior, corpus, 0, engine)
    with Engine(threads) as several:
        other = unseen_evidence(S, ETA, prior, corpus, 0, several)
    for left, right in zip(chain(*one), chain(*other), strict=True):
        for name in ("tau", "mass", "theta"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def junk(monkeypatch):
    """Return documents of 8 topics, and 40 topics that are pieces of them, fitted to these very documents."""
    corpus, truth = planted_lda(500, 200, n_topics=8, mean_tokens=60.0, seed=3)
    monkeypatch.setattr(evidence, "MOST_TOKENS", 8_000)
    prior, rng = np.full(40, 0.1), np.random.default_rng(0)
    S = np.repeat(truth.topic_word, 5, axis=0) * rng.gamma(3.0, 1.0, (40, 200))
    S *= corpus.n_tokens / S.sum()
    with Engine(1) as engine:
        theta = collapsed_weights(corpus, shares(S, ETA), prior, engine)
        for _ in range(40):
            S, theta = swept(S, np.zeros_like(S), ETA, theta, prior, corpus.counts.toarray())
    return corpus, S, prior


def test_pieces_of_planted_topics_do_not_pay(monkeypatch, engine):
    corpus, S, prior = junk(monkeypatch)
    found = join_to_one(*unseen_evidence(S, ETA, prior, corpus, 0, engine), ETA, 200, engine)
    assert 7 <= found.smallest_within_one_error <= found.best <= 12
