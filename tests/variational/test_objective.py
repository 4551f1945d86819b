"""The surrogate objective against the oracle, the twin, and what it must never pass."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln, psi

from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.variational.global_step import stick_objective
from stickbreak.variational.hdp import HDP
from stickbreak.variational.objective import BOUNDS, allocation_term, expected_log_normaliser, objective, stick_term
from stickbreak.variational.state import Summary, expected_beta

from . import reference
from .problems import summary_of


def oracle_case(case):
    """(totals from the oracle's own statistics, tau, rho, omega, likelihood)."""
    s = {name: np.array(value) for name, value in case["stats"].items()}
    totals = Summary(int(s["D"]), None, s["S"].T, s["N"], s["H"], s["T"], s["G"], s["Q"], float(s["Q0"]))
    likelihood = DirichletMultinomial(case["tau_bar"][0], case["W"])
    return totals, np.array(case["tau"]).T, np.array(case["rho"]), np.array(case["omega"]), likelihood


@pytest.mark.parametrize("index", range(4))
def test_objective_terms_equal_the_oracle(oracle, index):
    case = oracle["fixed_parameter_cases"][index]
    totals, tau, rho, omega, likelihood = oracle_case(case)
    elbo, alpha, gamma = case["elbo"], case["alpha"], case["gamma"]
    data = likelihood.objective(totals.S, totals.N, tau)
    near = {"rtol": 0, "atol": case["tol"]}
    np.testing.assert_allclose(expected_beta(rho), case["E_beta"], rtol=1e-12)
    np.testing.assert_allclose(expected_log_normaliser(rho, omega, alpha), case["E_cD_surrogate"], **near)
    np.testing.assert_allclose(data.sum(), elbo["data"], **near)
    np.testing.assert_allclose(allocation_term(totals, rho, omega, alpha), elbo["hdp"], **near)
    np.testing.assert_allclose(stick_term(rho, omega, gamma), elbo["u"], **near)
    total = objective(totals, rho, omega, alpha=alpha, gamma=gamma, data=data)
    np.testing.assert_allclose(total, elbo["total"], **near)
    np.testing.assert_allclose(HDP(likelihood, alpha, gamma).objective(totals, rho, omega, data), total, rtol=0)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("seed", range(5))
def test_objective_from_statistics_equals_the_direct_sums(seed, bound):
    rng = np.random.default_rng(seed)
    n_documents, n_words, n_topics = 6, 8, int(rng.integers(1, 6))
    alpha, gamma, eta = rng.uniform(0.2, 3.0, 3)
    docs, r = [], []
    for d in range(n_documents):
        words = np.sort(rng.permutation(n_words)[: d % 5])  # one document without words
        docs.append((words, rng.uniform(0.1, 5.0, words.size)))
        r.append(rng.dirichlet(np.full(n_topics, 0.3), size=words.size).reshape(words.size, n_topics))
    theta = rng.uniform(0.05, 4.0, (n_documents, n_topics + 1))  # not at its optimum
    tau, rho = rng.uniform(0.1, 6.0, (n_words, n_topics)), rng.uniform(0.05, 0.95, n_topics)
    omega = rng.uniform(0.5, 80.0, n_topics)
    settings = {"alpha": alpha, "gamma": gamma, "eta": eta, "bound": bound}
    direct = reference.objective_terms(docs, r, theta, tau, rho, omega, **settings)["total"]
    totals = summary_of(reference.statistics(docs, r, theta, n_words))
    data = DirichletMultinomial(eta, n_words).objective(totals.S, totals.N, tau)
    np.testing.assert_allclose(
        objective(totals, rho, omega, alpha=alpha, gamma=gamma, data=data, bound=bound), direct, rtol=1e-12, atol=1e-11
    )


def test_expected_log_normaliser_is_a_lower_bound_and_tight_for_small_alpha():
    """docs/math (V2): the gap is in [0, gE alpha + log Gamma(1 + alpha)] for every beta, so for its expectation too."""
    rng = np.random.default_rng(0)
    for alpha in (0.1, 0.5, 2.0):
        rho, omega = rng.uniform(0.1, 0.7, 5), rng.uniform(5.0, 50.0, 5)
        u = rng.beta(rho * omega, (1 - rho) * omega, size=(40_000, 5))
        rest = np.cumprod(np.concatenate([np.ones((40_000, 1)), 1 - u], axis=1), axis=1)
        beta = np.maximum(np.concatenate([u, np.ones((40_000, 1))], axis=1) * rest, 1e-300)
        exact = gammaln(alpha) - gammaln(alpha * beta).sum(axis=1)
        gap = exact.mean() - expected_log_normaliser(rho, omega, alpha)
        noise = 4 * exact.std() / np.sqrt(exact.size)
        assert -noise < gap < np.euler_gamma * alpha + gammaln(1 + alpha) + noise


@pytest.mark.parametrize("index", range(5))
def test_objective_falls_with_every_empty_topic_as_the_oracle(oracle, index):
    """docs/math, order of the topics: r fixed, theta and q(u) re-optimised together; L_data and H_z do not change."""
    case = oracle["empty_topics"][index]
    n_dk = np.array(case["N_dk"])
    values = [profiled(n_dk, n_empty, case["alpha"], case["gamma"]) for n_empty in range(4)]
    np.testing.assert_allclose(np.array(values) - values[0], case["surrogate"], rtol=0, atol=2e-2)
    assert (np.diff(values) < -1).all()


def profiled(n_dk, n_empty, alpha, gamma, bound="surrogate"):
    """L_HDP + L_u at the optimum of theta and (rho, omega), the best of three starts.

    At the best theta, alpha E[beta] + N, only L_G's own gradient is left (theta is stationary).
    """
    n_documents = n_dk.shape[0]
    tokens = np.concatenate([n_dk, np.zeros((n_documents, n_empty + 1))], axis=1)
    n_topics = 2 + n_empty

    def loss(x):
        rho, omega = 1 / (1 + np.exp(-np.clip(x[:n_topics], -40, 15))), np.exp(np.clip(x[n_topics:], -6, 14))
        totals = allocation_statistics(tokens, alpha * expected_beta(rho) + tokens)
        value = allocation_term(totals, rho, omega, alpha, bound) + stick_term(rho, omega, gamma, bound)
        _, by_rho, by_omega = stick_objective(rho, omega, totals.T, n_documents, alpha, gamma, bound)
        return -value, -np.concatenate([by_rho * rho * (1 - rho), by_omega * omega])

    best = -np.inf
    for mean in (0.1, 0.01, 0.5):
        rho = np.array([0.5, 0.6] + [mean] * n_empty)
        omega = np.array([n_documents + 5.0] * 2 + [12.0] * n_empty)
        start = np.concatenate([np.log(rho / (1 - rho)), np.log(omega)])
        found = minimize(
            loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "ftol": 1e-14, "gtol": 1e-7}
        )
        best = max(best, -found.fun)
    return best


def allocation_statistics(tokens, theta):
    """A Summary of T, G, Q, Q0 alone."""
    e = psi(theta) - psi(theta.sum(axis=1, keepdims=True))
    n_topics = theta.shape[1] - 1
    out = Summary.zeros(0, n_topics)
    out.n_documents, out.N = theta.shape[0], tokens.sum(axis=0)[:-1]
    out.T, out.G, out.Q = e.sum(axis=0), ((tokens - theta) * e).sum(axis=0), gammaln(theta).sum(axis=0)
    out.Q0 = float(gammaln(theta.sum(axis=1)).sum())
    return out
