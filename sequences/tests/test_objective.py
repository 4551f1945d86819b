"""The bound: below what it bounds, at its maximum in theta and the sticks, never falling, exact where one can count."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import beta as beta_distribution

from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.variational.objective import stick_term
from stickbreak.variational.state import expected_beta
from stickbreak_sequences import Sequences, StickyHDPHMM, planted_states
from stickbreak_sequences.chain import StickyHMM

from .twin import log_normaliser, row_term

WORDS = DirichletMultinomial(0.5, 3)


def model_of(alpha=0.7, kappa=5.0, gamma=3.0):
    return StickyHMM(WORDS, alpha, kappa, gamma)


def totals_of(model, K=4, seed=0):
    rng = np.random.default_rng(seed)
    moves = rng.gamma(1.0, 5.0, (K + 1, K))
    return (
        replace(model.pseudo_summary(3, K), n_documents=2, transitions=moves),
        rng.uniform(0.2, 0.7, K),
        rng.uniform(2, 30, K),
    )


@pytest.mark.parametrize(("alpha", "kappa"), [(0.5, 0.0), (0.5, 1.0), (2.0, 50.0), (5.0, 3.0)])
def test_the_bound_of_the_normalisers_is_below_their_expectation(alpha, kappa):
    model, K = model_of(alpha, kappa), 3
    rng = np.random.default_rng(0)
    rho, omega = np.array([0.4, 0.5, 0.6]), np.array([9.0, 8.0, 7.0])
    u = beta_distribution.rvs(rho * omega, (1 - rho) * omega, size=(4000, K), random_state=rng)
    rest = np.cumprod(1 - u, axis=1)
    beta = np.column_stack([u * np.column_stack([np.ones(len(u)), rest[:, :-1]]), rest[:, -1]])
    own = np.eye(K + 1)[:K]
    drawn = [log_normaliser(alpha * b) + sum(log_normaliser(alpha * b + kappa * e) for e in own) for b in beta]
    bound = model.log_normalisers(rho, omega)
    assert bound < np.mean(drawn)
    if kappa:  # without what is kept of the braces it would be lower
        loose = bound - model._gain * (K - expected_beta(rho)[:-1].sum())
        assert loose < bound < np.mean(drawn) + 4 * np.std(drawn) / np.sqrt(len(beta))


def test_theta_is_the_maximum_of_the_objective():
    model = model_of()
    totals, rho, omega = totals_of(model)
    beta, K = expected_beta(rho), rho.size
    theta = model.theta(totals.transitions, beta)
    counts = np.column_stack([totals.transitions, np.zeros(K + 1)])
    prior = theta - counts
    np.testing.assert_allclose(prior[0], 0.7 * beta)
    np.testing.assert_allclose(prior[2] - prior[0], 5.0 * np.eye(K + 1)[1], atol=1e-12)
    rows = sum(map(row_term, theta, prior, counts))
    want = rows + model.log_normalisers(rho, omega) + stick_term(rho, omega, model.gamma)
    np.testing.assert_allclose(model.objective(totals, rho, omega, np.zeros(K)), want, rtol=1e-12)
    for change in (0.9, 1.1):
        assert sum(map(row_term, change * theta, prior, counts)) < rows


@pytest.mark.parametrize("kappa", [0.0, 0.3, 20.0])
def test_sticks_rise_to_a_maximum(kappa):
    model = model_of(kappa=kappa)
    totals, rho, omega = totals_of(model)
    values = [model.objective(totals, rho, omega, np.zeros(4))]
    for _ in range(40):
        rho, omega = model.best_sticks(totals, rho, omega)
        values.append(model.objective(totals, rho, omega, np.zeros(4)))
    assert (np.diff(values) > -1e-9).all()
    for k, direction in itertools.product(range(4), (-1, 1)):
        moved, wider = rho.copy(), omega.copy()
        moved[k] += 1e-3 * direction
        wider[k] *= 1 + 1e-2 * direction
        assert model.objective(totals, moved, omega, np.zeros(4)) < values[-1] + 1e-9
        assert model.objective(totals, rho, wider, np.zeros(4)) < values[-1] + 1e-9


def test_the_objective_of_one_state_is_below_the_evidence_of_all():
    """With few symbols the evidence of the model with at most one state more can be counted: L is below it."""
    flat = np.array([0, 0, 1, 0, 1, 1])
    fit = StickyHDPHMM(n_states=2, likelihood="symbols", alpha=1.0, kappa=1.0, gamma=1.0, eta=0.5, n_laps=30)
    found = fit.fit([flat])
    rng = np.random.default_rng(0)
    evidences = []
    for _ in range(3000):  # of draws of the prior: p(x | beta) over all paths of a truncated model
        K = 6
        u = rng.beta(1.0, 1.0, K - 1)
        beta = np.append(u, 1.0) * np.append(1.0, np.cumprod(1 - u))
        start = rng.dirichlet(beta + 1e-9)
        move = np.array([rng.dirichlet(beta + np.eye(K)[j] + 1e-9) for j in range(K)])
        phi = rng.dirichlet([0.5, 0.5], K)
        ahead = start * phi[:, flat[0]]
        for x in flat[1:]:
            ahead = (ahead @ move) * phi[:, x]
        evidences.append(ahead.sum())
    assert found.objective_ * flat.size < np.log(np.mean(evidences))


@pytest.mark.parametrize("kind", ["full", "symbols"])
@pytest.mark.parametrize("n_batches", [1, 3])
def test_the_objective_never_falls(kind, n_batches):
    X, _ = planted_states(kind, n_states=4, n_sequences=6, length=60, seed=3)
    learn = ("alpha", "kappa", "gamma", "scale" if kind == "full" else "eta")
    model = StickyHDPHMM(n_states=12, n_batches=n_batches, learn=learn, n_laps=25, tolerance=0.0, random_state=1).fit(X)
    nats = model.trace_["objective"] * X.n_steps
    assert (np.diff(nats[1:]) > -1e-7 * np.abs(nats[1:-1])).all()
    assert model.trace_["merge_accepted"].sum() > 0


def test_the_gain_of_a_move_is_the_rise_of_the_objective():
    """Where several merges are accepted in a lap, what their entropies share is bounded, never overestimated."""
    X, _ = planted_states("symbols", n_states=3, n_sequences=5, length=80, seed=5)
    model = StickyHDPHMM(n_states=15, moves=("merge",), n_laps=12, tolerance=0.0, random_state=0).fit(X)
    nats = model.trace_["objective"] * X.n_steps
    assert max(model.trace_["merge_accepted"]) > 1
    for lap in {move["pass"] for move in model.moves_}:
        gains = sum(move["gain"] for move in model.moves_ if move["pass"] == lap)
        assert nats[lap - 1] - nats[lap - 2] > gains - 1e-6
        assert nats[lap] >= nats[lap - 1] - 1e-6  # the next local step finds no less than was promised


def test_c_d_of_equal_weights():
    np.testing.assert_allclose(log_normaliser(np.ones(3)), gammaln(3.0))


def test_empty_sequences_change_nothing():
    X, _ = planted_states("full", n_states=2, n_sequences=3, length=40, seed=0)
    parts = [X[[d]].steps for d in range(3)]
    one = StickyHDPHMM(n_states=4, n_laps=5, random_state=0).fit(parts)
    two = StickyHDPHMM(n_states=4, n_laps=5, random_state=0).fit(Sequences.of([*parts, np.zeros((0, 2))]))
    np.testing.assert_allclose(one.objective_, two.objective_, rtol=1e-9)
