"""Hyperparameters of collapsed inference: each where its posterior is largest."""

import numpy as np
import pytest
from scipy.special import gammaln, psi

from stickbreak.collapsed.kernels import shares as share_kernels
from stickbreak.collapsed.learning import ETA_EVERY, FIRST_LAP, best_eta, best_gamma, learn
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.fitting.hyperparameters import mean_alpha, opened


def argmax(function, low, high):
    grid = np.exp(np.linspace(np.log(low), np.log(high), 4001))
    return grid[np.argmax([function(x) for x in grid])]


def test_alpha_at_rest_has_the_tables_that_it_expects():
    """At the fixed point alpha maximises alpha^(a + M) e^(-b alpha) prod_d Gamma(alpha) / Gamma(alpha + N_d)."""
    lengths, tables = np.array([3.0, 10.0, 0.0, 55.0]), 9.3
    alpha = 1.0
    for _ in range(500):
        alpha = mean_alpha(tables, opened(alpha, lengths))

    def posterior(x):
        return (1 + tables) * np.log(x) - x + (gammaln(x) - gammaln(x + lengths)).sum()

    assert alpha == pytest.approx(argmax(posterior, 0.01, 100), rel=3e-3)


def test_gamma_is_where_its_posterior_is_largest():
    def posterior(x):
        return np.log(x) - x + 7 * np.log(x) + gammaln(x) - gammaln(x + 60.0)

    assert best_gamma(60.0, 7, 1.0) == pytest.approx(argmax(posterior, 0.01, 100), rel=3e-3)


@pytest.mark.parametrize("true", [0.02, 0.3])
def test_eta_is_where_its_expected_posterior_is_largest(true):
    rng = np.random.default_rng(3)
    S = np.stack([rng.multinomial(3000, p) for p in rng.dirichlet(np.full(200, true), 6)], axis=1).astype(float)
    mixed = S * 0.93 + rng.random(S.shape) * (S > 0) * 0.5  # fractions of tokens
    for counts in (S, mixed):
        N = counts.sum(axis=0)
        below = np.floor(counts)
        share = counts - below

        def posterior(x, counts=counts, N=N, below=below, share=share):
            many = counts >= 40
            words = np.where(
                many, gammaln(x + counts), (1 - share) * gammaln(x + below) + share * gammaln(x + below + 1)
            )
            total = (words - gammaln(x)).sum() - (gammaln(200 * x + N) - gammaln(200 * x)).sum()
            return total + np.log(x) - x

        assert best_eta(counts, N, 0.1) == pytest.approx(argmax(posterior, 0.005, 2.0), rel=3e-3)
    assert best_eta(S, S.sum(axis=0), 0.1) == pytest.approx(true, rel=0.2)


def test_tails_count_the_pairs_of_more_than_so_many_tokens():
    S = np.array([[0.25, 3.0], [2.5, 0.0], [40.0, 39.5]])
    tails = share_kernels.whole_tails(S, 40)
    for j in range(40):
        want = sum(np.clip(x - j, 0.0, 1.0) for x in S.ravel() if x < 40)
        assert tails[j] == pytest.approx(want)


def state_of(n_sweeps):
    S = np.array([[30.0, 0.0, 0.1], [10.0, 4.0, 0.0]])
    return CollapsedState([], S, S.sum(axis=0), np.full(3, 0.2), np.array([5.0, 2.0, 0.01]), 0.0, n_sweeps)


def test_only_what_is_named_is_learned_and_eta_after_some_laps():
    lengths, before = np.array([20.0, 24.1]), Priors(0.7, 1.3, 0.2)
    state = state_of(FIRST_LAP)
    assert learn(state, before, (), lengths) == before
    after = learn(state, before, ("alpha", "gamma", "eta"), lengths)
    opened = (psi(0.7 + lengths) - psi(0.7)).sum()
    assert after.alpha == pytest.approx((1 + 7.01) / (1 + opened))
    assert after.gamma == pytest.approx(best_gamma(7.01, 2, 1.3))
    assert after.eta == pytest.approx(best_eta(state.S, state.N, 0.2))
    assert learn(state, before, ("gamma",), lengths) == Priors(0.7, after.gamma, 0.2)
    assert learn(state_of(FIRST_LAP + 1), before, ("eta",), lengths) == before
    assert learn(state_of(FIRST_LAP + ETA_EVERY), before, ("eta",), lengths) == Priors(0.7, 1.3, after.eta)
    assert learn(state_of(FIRST_LAP - 1), before, ("alpha", "gamma"), lengths) == before
