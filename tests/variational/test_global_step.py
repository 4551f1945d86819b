"""The global step for the sticks."""

import numpy as np
import pytest

from stickbreak.variational.global_step import optimise_sticks, stick_objective, sticks_of

from . import reference
from .problems import stick_problem


def test_optimise_sticks_reaches_the_oracles_optimum_from_any_start(oracle):
    case = oracle["global_step"]
    rng = np.random.default_rng(0)
    for start in range(6):
        rho = np.array(case["rho"]) if start == 0 else rng.uniform(0.05, 0.95, 5)
        omega = np.array(case["omega"]) if start == 0 else np.exp(rng.uniform(0, 6, 5))
        fixed = (np.array(case["T"]), case["D"], case["alpha"], case["gamma"])
        best_rho, best_omega = optimise_sticks(*fixed, rho, omega)
        tol = case["tol_opt"]
        np.testing.assert_allclose(best_rho, case["rho_opt"], rtol=tol)
        np.testing.assert_allclose(best_omega, case["omega_opt"], rtol=tol * 10)  # the optimum is flat in omega
        value = stick_objective(best_rho, best_omega, *fixed)[0]
        np.testing.assert_allclose(value, case["L_G_opt"], rtol=0, atol=tol)


@pytest.mark.parametrize("seed", range(8))
def test_stick_terms_equal_the_twin(seed):
    arguments = stick_problem(seed, n_topics=1 + seed)
    value, by_rho, by_omega = stick_objective(*arguments)
    np.testing.assert_allclose(value, reference.stick_objective(*arguments), rtol=1e-11)
    want_rho, want_omega = reference.stick_gradient(*arguments)
    np.testing.assert_allclose(by_rho, want_rho, rtol=1e-8, atol=1e-9 * np.abs(want_rho).max())
    np.testing.assert_allclose(by_omega, want_omega, rtol=1e-8, atol=1e-9 * np.abs(want_omega).max())


@pytest.mark.parametrize("seed", range(6))
def test_sticks_of_a_large_corpus_stay_where_the_objective_can_be_computed(seed):
    """A line search once went to omega = 1e17, where the terms of L_G cancel to noise, and took that for a gain."""
    rng = np.random.default_rng(seed)
    n_topics, n_documents = 100, 20_000
    T = -n_documents * rng.gamma(2.0, 60.0, n_topics + 1)
    rho, omega = sticks_of(rng.dirichlet(np.full(n_topics + 1, 2.0))[:-1], 1.0 + 10.0 + n_documents)
    omega = omega * rng.choice([1.0, 1e6], n_topics)
    found = optimise_sticks(T, n_documents, 0.5, 10.0, rho, omega)
    assert found[1].max() < 1e3 * n_documents * n_topics
    start = rho, np.minimum(omega, 1e2 * n_documents * n_topics)
    assert reference.stick_objective(*found, T, n_documents, 0.5, 10.0) >= reference.stick_objective(
        *start, T, n_documents, 0.5, 10.0
    )
