"""Topics learned again without documents: against sums by definition, and what the documents may not change."""

from itertools import chain

import numpy as np
import pytest
from scipy import sparse
from tests.path.reference import shares, swept

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.path import held_out, unseen
from stickbreak.path.held_out import set_apart
from stickbreak.path.joining import find_path
from stickbreak.path.unseen import unseen_evidence
from stickbreak.prediction.document_weights import collapsed_weights

ETA = 0.1


@pytest.fixture
def executor():
    with ThreadExecutor(1) as one:
        yield one


def small(seed, D=30, W=25, K=4):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.4, 2.0, (D, W))).astype(float)
    counts[:, 0] += 3
    S = rng.gamma(0.5, 1.0, (K, W))
    return Corpus.from_counts(sparse.csr_matrix(counts)), S * counts.sum() / S.sum(), rng.gamma(2.0, 0.3, K)


def by_definition(S, prior, corpus, part, executor, missing=0.0):
    """Return the topics without the documents of a part, (K, W)."""
    counts = corpus.counts.toarray()
    theta = collapsed_weights(corpus, shares(S, ETA), prior, executor, max_sweeps=unseen.FIRST_SWEEPS)
    rest = np.maximum(S - swept(S, np.zeros_like(S), ETA, theta, prior, counts)[0], 0)
    outside = rest * missing / rest.sum()
    theta = theta[part.others]
    for _ in range(unseen.SWEEPS):
        S, theta = swept(S, outside, ETA, theta, prior, counts[part.others])
    return S


@pytest.mark.parametrize("missing", [0.0, 500.0])
def test_topics_are_those_learned_from_the_other_documents(missing, executor):
    corpus, S, prior = small(0)
    S *= (corpus.n_tokens + missing) / S.sum()
    found = unseen_evidence(S, ETA, prior, corpus, 0, executor)
    parts = set_apart(corpus, 0)
    assert [len(each) for each in found] == [len(parts)] * 2 == [5, 5]
    for *both, part in zip(*found, parts, strict=True):
        expected = by_definition(S, prior, corpus, part, executor, missing)
        for evidence, halves in zip(both, (part.choosing, part.scoring), strict=True):
            words = halves.held_out.words
            np.testing.assert_allclose(evidence.tau, expected[:, words] + ETA, rtol=1e-9)
            np.testing.assert_allclose(evidence.mass, expected.sum(axis=1) + 25 * ETA, rtol=1e-9)
            weights = collapsed_weights(halves.observed, shares(expected, ETA), prior, executor)
            np.testing.assert_allclose(evidence.theta, weights, atol=1e-6)
            tokens = corpus.counts.toarray()[part.others].sum() + missing
            assert evidence.mass.sum() == pytest.approx(tokens + 4 * 25 * ETA)


def test_words_of_documents_apart_are_not_in_the_topics(executor):
    """A word that only one document has is in no topic that predicts this document."""
    corpus, S, prior = small(1)
    counts = np.hstack([corpus.counts.toarray(), np.zeros((30, 30))])
    counts[np.arange(30), 25 + np.arange(30)] = 6
    corpus, S = Corpus.from_counts(sparse.csr_matrix(counts)), np.hstack([S, np.full((4, 30), 1.5)])
    S *= counts.sum() / S.sum()
    for evidence in chain(*unseen_evidence(S, ETA, prior, corpus, 0, executor)):
        own = evidence.tokens.words >= 25
        assert own.any()
        np.testing.assert_allclose(evidence.tau[:, own], ETA)


@pytest.mark.parametrize("threads", [2, 3])
def test_evidence_does_not_depend_on_threads(threads, executor, monkeypatch):
    monkeypatch.setattr(unseen, "_SHARD_COUNTS", 50)
    corpus, S, prior = small(2)
    one = unseen_evidence(S, ETA, prior, corpus, 0, executor)
    with ThreadExecutor(threads) as several:
        other = unseen_evidence(S, ETA, prior, corpus, 0, several)
    for left, right in zip(chain(*one), chain(*other), strict=True):
        for name in ("tau", "mass", "theta"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def junk(monkeypatch):
    """Return documents of 8 topics, and 40 topics that are pieces of them, fitted to these very documents."""
    corpus, truth = planted_lda(500, 200, n_topics=8, mean_tokens=60.0, seed=3)
    monkeypatch.setattr(held_out, "MOST_TOKENS", 8_000)
    prior, rng = np.full(40, 0.1), np.random.default_rng(0)
    S = np.repeat(truth.topic_word, 5, axis=0) * rng.gamma(3.0, 1.0, (40, 200))
    S *= corpus.n_tokens / S.sum()
    with ThreadExecutor(1) as executor:
        theta = collapsed_weights(corpus, shares(S, ETA), prior, executor)
        for _ in range(40):
            phi = np.ascontiguousarray(shares(S, ETA).T)
            made, theta = unseen.shared(phi, corpus, theta, prior, executor)
            S = made.T
    return corpus, S, prior


def test_pieces_of_planted_topics_do_not_pay(monkeypatch, executor):
    corpus, S, prior = junk(monkeypatch)
    found = find_path(*unseen_evidence(S, ETA, prior, corpus, 0, executor), ETA, 200, executor)
    assert 7 <= found.smallest_within_one_error <= found.best <= 12
    monkeypatch.setattr(unseen, "SWEEPS", 0)  # topics that remember the documents
    remembered = find_path(*unseen_evidence(S, ETA, prior, corpus, 0, executor), ETA, 200, executor)
    assert remembered.scores[0] > found.scores[0] + 0.03
