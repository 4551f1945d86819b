"""The Dirichlet-multinomial likelihood."""

import numpy as np
import pytest
from scipy.special import gammaln, psi

from stickbreak.likelihoods import DirichletMultinomial


def direct(S, tau, eta):
    """L_data of each topic by loops over words.                                     docs/math (V1)"""
    out = []
    for s, t in zip(S.T, tau.T, strict=True):
        prior = gammaln(eta * s.size) - s.size * gammaln(eta)
        own = gammaln(t.sum()) - sum(gammaln(x) for x in t)
        out.append(prior - own + sum((a + eta - b) * (psi(b) - psi(t.sum())) for a, b in zip(s, t, strict=True)))
    return np.array(out)


@pytest.fixture
def S():
    rng = np.random.default_rng(4)
    S = rng.gamma(0.2, 30.0, size=(9, 4))
    S[rng.random(S.shape) < 0.4] = 0.0
    S[:, 3] = 0.0  # an empty topic
    return S


@pytest.mark.parametrize("eta", [1e-3, 0.1, 2.0])
def test_objective_equals_direct_sums(S, eta):
    likelihood = DirichletMultinomial(eta, 9)
    tau = np.random.default_rng(1).uniform(0.2, 8.0, S.shape)
    np.testing.assert_allclose(likelihood.objective(S, S.sum(axis=0), tau), direct(S, tau, eta), rtol=1e-12)


@pytest.mark.parametrize("eta", [1e-3, 0.1, 2.0])
def test_evidence_is_the_objective_at_the_posterior_and_its_largest_value(S, eta):
    likelihood = DirichletMultinomial(eta, 9)
    tau = likelihood.posterior(S, S.sum(axis=0))
    best = likelihood.evidence(S, S.sum(axis=0))
    np.testing.assert_allclose(best, likelihood.objective(S, S.sum(axis=0), tau), rtol=1e-11, atol=1e-11)
    assert best[3] == pytest.approx(0.0, abs=1e-12)
    for scale in (0.9, 1.1):
        assert (likelihood.objective(S, S.sum(axis=0), tau * scale) < best).all()


def test_evidence_is_the_log_probability_of_the_sequence():
    """Polya's urn, token by token: words 0, 0, 1 of a vocabulary of 3."""
    eta = 0.7
    urn = np.log(eta / (3 * eta)) + np.log((eta + 1) / (3 * eta + 1)) + np.log(eta / (3 * eta + 2))
    S = np.array([[2.0], [1.0], [0.0]])
    np.testing.assert_allclose(DirichletMultinomial(eta, 3).evidence(S, S.sum(axis=0)), [urn], rtol=1e-12)


@pytest.mark.parametrize("eta", [1e-3, 0.1, 2.0])
def test_evidence_slope_equals_central_differences(S, eta):
    N = S.sum(axis=0)
    high, low = (DirichletMultinomial(eta * x, 9).evidence(S, N).sum() for x in (1.0001, 0.9999))
    slope = DirichletMultinomial(eta, 9).evidence_slope(S, N)
    np.testing.assert_allclose(slope, (high - low) / (2e-4 * eta), rtol=1e-6)


@pytest.mark.parametrize("eta", [1e-3, 0.1, 2.0])
def test_learned_eta_has_the_largest_evidence(S, eta):
    N = S.sum(axis=0)
    found = DirichletMultinomial(eta, 9).learned(S, N)
    values = [DirichletMultinomial(x, 9).evidence(S, N).sum() for x in found.eta * np.array([0.99, 1.0, 1.01])]
    assert values[1] == max(values)
    assert found.n_words == 9
