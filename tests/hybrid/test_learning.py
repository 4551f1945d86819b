"""Learning alpha, gamma and eta from the samples."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scipy.stats import poisson

import stickbreak
from stickbreak import HybridHDP
from stickbreak.corpus import planted_hdp
from stickbreak.fitting.hyperparameters import LARGE, LEARNABLE
from stickbreak.hybrid.global_step import best_eta, best_gamma, learn_from
from stickbreak.hybrid.state import Priors

from .problems import expected_counts, state_of


def some_state(seed, *, unbounded=False):
    """Return 12 columns over 30 words: some pairs and topics are empty, some pairs have many tokens."""
    rng = np.random.default_rng(seed)
    S = rng.gamma(0.2, 20.0, (30, 12)) * (rng.random((30, 12)) < 0.6)
    S[:, [3, 7]] = 0.0
    tables = rng.gamma(0.7, 30.0, 12) * (S.sum(axis=0) > 0)
    assert (S > LARGE).any()
    return state_of(4.0 * S, tables, 0.25, 5, unbounded=unbounded)


def largest(log_density):
    """Return where a log density of x, in log x, is largest, under a Gamma(1, 1) prior."""

    def cost(log_x):
        x = np.exp(log_x)
        return -(log_x - x + log_density(x))

    return float(np.exp(minimize_scalar(cost, bounds=(-7.0, 5.0), method="bounded", options={"xatol": 1e-9}).x))


def test_alpha_moves_to_the_maximum_of_its_posterior(seed):
    state, lengths, priors = some_state(seed), np.array([0, 1, 3, 20, 35, 60, 200]), Priors(0.3, 1.0, 0.1)
    share, T = 9.0, state.tables.sum()

    def log_density(alpha):
        return T * np.log(alpha) + share * (gammaln(alpha) - gammaln(alpha + lengths)).sum()

    for _ in range(300):
        learn_from(state, ("alpha",), priors, lengths, share, 1.0)
        priors = Priors(state.learned.alpha, 1.0, 0.1)
    assert priors.alpha == pytest.approx(largest(log_density), rel=1e-5)
    assert (state.learned.gamma, state.learned.eta) == (1.0, 0.1)


def test_gamma_is_the_maximum_of_its_posterior(seed):
    state = some_state(seed)
    M, K = state.tables, state.n_topics

    def log_density(gamma):
        topics = gammaln(gamma / K + M) - gammaln(gamma / K)
        return gammaln(gamma) - gammaln(gamma + M.sum()) + topics.sum()

    assert best_gamma(state, 3.0) == pytest.approx(largest(log_density), rel=1e-5)


def test_gamma_of_an_unbounded_top_level_follows_the_number_of_topics(seed):
    state = some_state(seed, unbounded=True)
    K, M = state.alive().size, state.tables.sum()
    assert K < state.n_topics
    expected = largest(lambda gamma: K * np.log(gamma) + gammaln(gamma) - gammaln(gamma + M))
    assert best_gamma(state, 3.0) == pytest.approx(expected, rel=1e-5)


def test_eta_is_the_maximum_of_its_expected_posterior(seed):
    state = some_state(seed)
    S, W = expected_counts(state), 30
    n = np.arange(400)[:, None]
    law = poisson.pmf(n, S[(S > 0) & (S <= LARGE)])

    def log_density(eta):
        few = (law * (gammaln(eta + n) - gammaln(eta))).sum()
        many = (gammaln(eta + S[S > LARGE]) - gammaln(eta)).sum()
        return few + many + (gammaln(W * eta) - gammaln(W * eta + S.sum(axis=0))).sum()

    assert best_eta(state, 0.3) == pytest.approx(largest(log_density), rel=1e-5)


@pytest.mark.parametrize("top_level", ["truncated", "unbounded"])
def test_planted_hyperparameters_are_found(top_level):
    corpus, truth = planted_hdp(1000, 300, gamma=8.0, alpha=0.5, eta=0.02, mean_tokens=100, seed=1)
    model = HybridHDP(
        init=truth.topic_word, top_level=top_level, learn=LEARNABLE, alpha=2.0, gamma=1.0, eta=0.2, n_laps=6,
        batch_size=50, learning_offset=10.0, random_state=0,
    ).fit(corpus)  # fmt: skip
    assert model.alpha_ == pytest.approx(0.5, rel=0.1)
    assert model.gamma_ == pytest.approx(8.0, rel=0.4)
    assert model.eta_ == pytest.approx(0.02, rel=0.4)


SMALL = {"init": "random", "alpha": 1.0, "eta": 0.1, "n_topics": 8, "learn": LEARNABLE, "random_state": 0}


def assert_same(left, right):
    np.testing.assert_array_equal(expected_counts(left._state), expected_counts(right._state))
    np.testing.assert_array_equal(left._state.tables, right._state.tables)
    assert left._state.learned == right._state.learned
    for name in ("objective", *LEARNABLE):
        assert left.trace_[name].tolist() == right.trace_[name].tolist()
    assert (left.alpha_, left.gamma_, left.eta_) == (right.alpha_, right.gamma_, right.eta_)


@pytest.mark.parametrize("top_level", ["truncated", "unbounded"])
def test_cut_stream_equals_the_uncut_one(corpus, tmp_path, top_level):
    parts = [corpus[begin : begin + 15] for begin in range(0, 90, 15)]
    settings = {**SMALL, "top_level": top_level, "total_documents": 500}
    settings |= {"n_topics": 2, "gamma": 3.0} if top_level == "unbounded" else {}
    whole, cut = HybridHDP(**settings, n_jobs=2), HybridHDP(**settings)
    for part in parts:
        whole.partial_fit(part)
    for part in parts[:3]:
        cut.partial_fit(part)
    cut.save(tmp_path / "cut")
    on = stickbreak.load(tmp_path / "cut")
    for part in parts[3:]:
        on.partial_fit(part)
    assert_same(whole, on)
    assert top_level == "truncated" or whole._state.n_topics > 3, "no topic was born"
    assert (on.n_steps_, on.n_documents_seen_, on.n_laps_) == (6, 90, 6)
    alpha, gamma, eta = (whole.trace_[name] for name in LEARNABLE)
    assert np.unique(alpha).size == np.unique(gamma).size == 6
    assert np.diff(eta, prepend=0.1).nonzero()[0].tolist() == [0, 1, 3], "eta is learned after steps 1, 2 and 4"
    assert (alpha[-1], gamma[-1], eta[-1]) == (whole.alpha_, whole.gamma_, whole.eta_)


def test_documents_are_sampled_under_what_was_learned(corpus):
    """The score of the second minibatch is that of a model which was given what the first one has learned."""
    model = HybridHDP(**SMALL).partial_fit(corpus)
    other = HybridHDP(**{**SMALL, "learn": ()}).partial_fit(corpus)
    other.alpha_, other.gamma_, other.eta_ = model.alpha_, model.gamma_, model.eta_
    assert model.partial_fit(corpus).objective_ == other.partial_fit(corpus).objective_
