"""CVB0 against its twin, and the counts that it keeps."""

from itertools import islice

import numpy as np
import pytest
from scipy.special import psi

from stickbreak.collapsed import _kernels, cvb0, responsibilities
from stickbreak.collapsed.cvb0 import SMALLEST_BETA, corpus_weights
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.inference.streams import stream

from . import reference

SETTINGS = {"alpha": 0.5, "gamma": 3.0, "eta": 0.2}


def small_corpus(seed=0, *, fractional=False):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.9, size=(7, 8)).astype(float)
    counts[[0, 4]] = 0
    counts[:, 3] = 0
    counts[1, 1] += 2
    if fractional:
        counts *= rng.uniform(1.0, 2.5, size=counts.shape)
    return Corpus.from_counts(counts)


def dense_r(corpus, state):
    """(D, W, K) float64 from the stored rows."""
    c = corpus.counts
    out = np.zeros((*c.shape, state.N.size))
    out[np.repeat(np.arange(c.shape[0]), np.diff(c.indptr)), c.indices] = state.r
    return out


def start_r(corpus, n_topics, seed):
    """The documented start: one topic for every stored count, drawn from the generator."""
    c = corpus.counts
    r = np.zeros((*c.shape, n_topics))
    topic = np.random.default_rng(seed).integers(n_topics, size=c.nnz)
    r[np.repeat(np.arange(c.shape[0]), np.diff(c.indptr)), c.indices, topic] = 1.0
    return r


@pytest.mark.parametrize("fractional", [False, True], ids=["integer", "fractional above one"])
@pytest.mark.parametrize("n_topics", [1, 4])
def test_cvb0_equals_the_twin_sweep_by_sweep(n_topics, fractional):
    corpus = small_corpus(1, fractional=fractional)
    counts = corpus.counts.toarray().astype(float)
    r, beta = start_r(corpus, n_topics, 5), np.full(n_topics, 1 / (n_topics + 1))
    for state in islice(cvb0(corpus, n_topics, **SETTINGS, rng=np.random.default_rng(5)), 6):
        reference.sweep(counts, r, beta, alpha=SETTINGS["alpha"], eta=SETTINGS["eta"])
        beta, _ = reference.corpus_weights(counts, r, beta, alpha=SETTINGS["alpha"], gamma=SETTINGS["gamma"])
        np.testing.assert_allclose(dense_r(corpus, state), r, rtol=0, atol=2e-6)  # r is stored in single precision
        np.testing.assert_allclose(state.beta, beta, rtol=1e-5)


def test_cvb0_equals_the_twin_for_weights_below_one():
    """Only the weight that is there may be taken out of the counts."""
    base = small_corpus(2).counts.toarray()
    corpus = Corpus.from_counts(base * 0.3)
    counts = corpus.counts.toarray()
    r, beta = start_r(corpus, 3, 5), np.full(3, 0.25)
    for state in islice(cvb0(corpus, 3, **SETTINGS, rng=np.random.default_rng(5)), 3):
        reference.sweep(counts, r, beta, alpha=SETTINGS["alpha"], eta=SETTINGS["eta"])
        beta, _ = reference.corpus_weights(counts, r, beta, alpha=SETTINGS["alpha"], gamma=SETTINGS["gamma"])
        np.testing.assert_allclose(dense_r(corpus, state), r, rtol=0, atol=2e-6)


def test_cvb0_accepts_small_weights_and_a_small_eta():
    """An exclusion of more than is there leaves no topic with a positive weight, and divides by zero."""
    corpus = Corpus.from_counts(toy_bars(60, seed=0)[0].counts * 0.1)
    settings = {"alpha": 0.5, "gamma": 10.0, "eta": 0.003}
    *_, state = islice(cvb0(corpus, 8, **settings, rng=stream(0, "collapsed start")), 30)
    assert np.isfinite(state.r).all()
    np.testing.assert_allclose(state.N.sum(), corpus.n_tokens)


@pytest.mark.parametrize("fractional", [False, True], ids=["integer", "fractional"])
def test_cvb0_keeps_its_counts_in_step(fractional):
    """S, N and N_dk are the sums of c r after many sweeps: nothing drifts."""
    corpus = small_corpus(3, fractional=fractional)
    counts = corpus.counts.toarray().astype(float)
    *_, state = islice(cvb0(corpus, 5, **SETTINGS, rng=np.random.default_rng(1)), 80)
    r = dense_r(corpus, state)
    near = {"rtol": 0, "atol": 1e-9 * corpus.n_tokens}
    np.testing.assert_allclose(state.S, np.einsum("dw,dwk->wk", counts, r), **near)
    np.testing.assert_allclose(state.N, np.einsum("dw,dwk->k", counts, r), **near)
    np.testing.assert_allclose(state.n_dk, np.einsum("dw,dwk->dk", counts, r), **near)
    np.testing.assert_allclose(state.r.sum(axis=1), 1.0, atol=1e-6)


def test_cvb0_at_convergence_is_a_fixed_point_of_the_twin():
    corpus = small_corpus(4)
    counts = corpus.counts.toarray().astype(float)
    *_, state = islice(cvb0(corpus, 3, **SETTINGS, rng=np.random.default_rng(2)), 3000)
    r = dense_r(corpus, state)
    before = r.copy()
    reference.sweep(counts, r, state.beta, alpha=SETTINGS["alpha"], eta=SETTINGS["eta"])
    np.testing.assert_allclose(r, before, atol=5e-6)
    beta, _ = reference.corpus_weights(counts, r, state.beta, alpha=SETTINGS["alpha"], gamma=SETTINGS["gamma"])
    np.testing.assert_allclose(beta, state.beta, rtol=1e-4, atol=2e-9)


def test_cvb0_yields_one_state_and_the_same_numbers_for_a_seed():
    corpus = small_corpus(5)
    runs = []
    for seed in (7, 7, 8):
        states = list(islice(cvb0(corpus, 3, **SETTINGS, rng=np.random.default_rng(seed)), 3))
        assert states[0] is states[2]
        runs.append(states[2])
    np.testing.assert_array_equal(runs[0].r, runs[1].r)
    np.testing.assert_array_equal(runs[0].beta, runs[1].beta)
    assert not np.array_equal(runs[0].r, runs[2].r)


def test_expected_tables_equals_the_formula():
    rng = np.random.default_rng(0)
    n_dk = rng.gamma(0.3, 5.0, size=(20, 4)) * (rng.random((20, 4)) < 0.7)
    prior = np.array([0.3, 1e-6, 2.0, 1e-12])
    want = (prior * (psi(prior + n_dk) - psi(prior))).sum(axis=0)
    np.testing.assert_allclose(_kernels.expected_tables(n_dk, prior), want, rtol=1e-10)


def test_corpus_weights_leave_the_rest_its_share():
    n_dk = np.array([[4.0, 0.0, 1.0], [0.0, 0.0, 2.5]])
    prior = np.array([0.2, 0.2, 0.1])
    tables = (prior * (psi(prior + n_dk) - psi(prior))).sum(axis=0)
    beta = corpus_weights(n_dk, prior, 3.0)
    np.testing.assert_allclose(1 - beta.sum(), 3.0 / (3.0 + tables.sum()), rtol=1e-9)
    np.testing.assert_allclose(beta[[0, 2]], tables[[0, 2]] / (3.0 + tables.sum()), rtol=1e-9)
    assert beta[1] == SMALLEST_BETA


def given_topics(corpus, n_topics, seed=0):
    """Topics, expected counts of the documents and their prior, as another inference hands them over."""
    rng = np.random.default_rng(seed)
    topic_word = rng.dirichlet(np.full(corpus.n_words, 0.3), size=n_topics).T
    n_dk = rng.dirichlet(np.full(n_topics, 0.3), size=corpus.n_documents) * corpus.document_lengths[:, None]
    return topic_word, n_dk, rng.dirichlet(np.full(n_topics, 2.0)) * 0.4


@pytest.mark.parametrize("fractional", [False, True], ids=["integer", "fractional"])
@pytest.mark.parametrize("n_topics", [1, 4])
def test_responsibilities_equal_the_twin_and_sum_to_one(n_topics, fractional):
    corpus = small_corpus(1, fractional=fractional)
    topic_word, n_dk, prior = given_topics(corpus, n_topics)
    r = responsibilities(corpus, topic_word, n_dk, prior)
    assert r.dtype == np.float32
    assert r.shape == (corpus.counts.nnz, n_topics)
    np.testing.assert_allclose(r.sum(axis=1), 1.0, atol=1e-6)
    rows = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.counts.indptr))
    for p, (d, w) in enumerate(zip(rows, corpus.counts.indices, strict=True)):
        want = topic_word[w] * (n_dk[d] + prior)
        np.testing.assert_allclose(r[p], want / want.sum(), rtol=1e-5, atol=1e-7)


def test_cvb0_from_a_given_start_equals_the_twin():
    """Responsibilities and corpus weights of another inference; sweep by sweep."""
    corpus, n_topics = small_corpus(2), 4
    counts = corpus.counts.toarray().astype(float)
    topic_word, n_dk, prior = given_topics(corpus, n_topics, 3)
    beta = np.array([0.5, 0.2, 0.15, 0.05])
    start = responsibilities(corpus, topic_word, n_dk, prior)
    c = corpus.counts
    r = np.zeros((*c.shape, n_topics))
    r[np.repeat(np.arange(c.shape[0]), np.diff(c.indptr)), c.indices] = start
    for state in islice(cvb0(corpus, n_topics, **SETTINGS, start=(start, beta.copy())), 5):
        reference.sweep(counts, r, beta, alpha=SETTINGS["alpha"], eta=SETTINGS["eta"])
        beta, _ = reference.corpus_weights(counts, r, beta, alpha=SETTINGS["alpha"], gamma=SETTINGS["gamma"])
        np.testing.assert_allclose(dense_r(corpus, state), r, rtol=0, atol=2e-6)
        np.testing.assert_allclose(state.beta, beta, rtol=1e-5)
        np.testing.assert_allclose(state.n_dk, np.einsum("dw,dwk->dk", counts, r), rtol=1e-4, atol=1e-5)


def test_cvb0_given_its_own_start_goes_on_where_it_stood():
    corpus = small_corpus(5)
    *_, uncut = islice(cvb0(corpus, 3, **SETTINGS, rng=np.random.default_rng(1)), 6)
    *_, half = islice(cvb0(corpus, 3, **SETTINGS, rng=np.random.default_rng(1)), 2)
    *_, resumed = islice(cvb0(corpus, 3, **SETTINGS, start=(half.r.copy(), half.beta.copy())), 4)
    np.testing.assert_allclose(resumed.r, uncut.r, rtol=0, atol=1e-5)
    np.testing.assert_allclose(resumed.beta, uncut.beta, rtol=1e-5)
