"""Variational LDA beside a slow twin, beside scikit-learn, and its bound, which never falls."""

import numpy as np
import pytest
from scipy.special import gammaln, psi
from sklearn.decomposition import LatentDirichletAllocation

from stickbreak.corpus import planted_lda
from stickbreak.fitting.engine import Engine
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak_baselines.lda import objective
from stickbreak_baselines.lda.variational import (
    Local,
    best_a,
    best_eta,
    learned,
    near_uniform,
    visit,
)

TO_THE_END = Local(2000, 1e-12)
ONE = Engine(1)


@pytest.fixture
def corpus(seed):
    return planted_lda(30, 20, n_topics=3, mean_tokens=25, seed=seed)[0]


def twin(corpus, topics, a, gamma, sweeps):
    """Return gamma, responsibilities (D, W, K) and counts (K, W) after sweeps, dense.                docs/math (L5)"""
    counts = corpus.counts.toarray()
    log_phi = psi(topics) - psi(topics.sum(axis=0))
    for _ in range(sweeps + 1):
        log_theta = psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))
        r = np.exp(log_theta[:, None, :] + log_phi[None])
        r /= r.sum(axis=2, keepdims=True)
        last, gamma = gamma, a + np.einsum("dw,dwk->dk", counts, r)
    return last, r, np.einsum("dw,dwk->wk", counts, r)


def bound(corpus, topics, a, eta, gamma, r):
    """The bound, term by term.                                                                      docs/math (L6)"""
    counts, K, W = corpus.counts.toarray(), a.size, topics.shape[0]
    log_theta = psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))
    log_phi = psi(topics) - psi(topics.sum(axis=0))
    words = (counts[:, :, None] * r * (log_theta[:, None] + log_phi[None] - np.log(r))).sum()
    theta = len(gamma) * (gammaln(a.sum()) - gammaln(a).sum()) + ((a - gamma) * log_theta).sum()
    theta += gammaln(gamma).sum() - gammaln(gamma.sum(axis=1)).sum()
    phi = K * (gammaln(W * eta) - W * gammaln(eta)) + ((eta - topics) * log_phi).sum()
    phi += gammaln(topics).sum() - gammaln(topics.sum(axis=0)).sum()
    return words + theta + phi


def test_local_step_and_bound_are_those_of_the_twin(corpus, seed):
    a, topics = np.array([0.2, 0.7, 1.3, 0.1]), near_uniform(20, 4, seed)
    gamma = a + np.asarray(corpus.document_lengths)[:, None] / 4.0
    expected, r, counts = twin(corpus, topics, a, gamma, 3)
    found = visit(corpus, topics, a, gamma, Local(3, 1e-300), ONE)
    np.testing.assert_allclose(gamma, expected, rtol=1e-9)
    np.testing.assert_allclose(found.statistics, counts, rtol=1e-8, atol=1e-12)
    total = found.bound + objective.of_topics(topics.T, 0.3)
    assert total == pytest.approx(bound(corpus, topics, a, 0.3, expected, r), rel=1e-9)


def test_a_lap_is_one_of_scikit_learn(corpus, seed):
    K, a, eta = 4, 0.3, 0.2
    other = LatentDirichletAllocation(
        K, doc_topic_prior=a, topic_word_prior=eta, max_doc_update_iter=2000, mean_change_tol=1e-12
    )
    counts = corpus.counts.astype(np.float64)
    other._init_latent_vars(corpus.n_words, dtype=np.float64)
    topics = near_uniform(corpus.n_words, K, seed)
    other.components_ = topics.T.copy()
    other.exp_dirichlet_component_ = np.exp(objective.expected_log(other.components_))
    gamma = np.ones((corpus.n_documents, K))
    weights, statistics = other._e_step(counts, cal_sstats=True, random_init=False)
    of_bound = other._approx_bound(counts, weights, sub_sampling=False)
    found = visit(corpus, topics, np.full(K, a), gamma, TO_THE_END, ONE)
    np.testing.assert_allclose(gamma, weights, rtol=1e-6)
    np.testing.assert_allclose(found.statistics.T, statistics, rtol=1e-5, atol=1e-9)
    assert found.bound + objective.of_topics(topics.T, eta) == pytest.approx(of_bound, rel=1e-8)


def test_priors_that_are_learned_maximise_the_bound(corpus, seed):
    topics, a = near_uniform(20, 3, seed) * np.random.default_rng(seed).uniform(0.1, 9, (20, 3)), np.full(3, 0.4)
    gamma = a + np.asarray(corpus.document_lengths)[:, None] / 3.0
    mean_log = visit(corpus, topics, a, gamma, TO_THE_END, ONE).mean_log
    for _ in range(200):
        a = best_a(a, mean_log)
    eta = best_eta(topics, 0.1)
    for factor in (0.99, 1.01):
        assert objective.of_topics(topics.T, eta) > objective.of_topics(topics.T, eta * factor)
        for k in range(3):
            other = a.copy()
            other[k] *= factor
            assert objective.divergence(gamma, a) < objective.divergence(gamma, other)
    assert learned(Priors(a, a.sum(), 0.1), (), topics, mean_log).eta == 0.1
