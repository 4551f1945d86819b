"""The twins agree with the oracle's values: what the other tests compare with is itself checked."""

import numpy as np
import pytest

from . import reference


@pytest.mark.parametrize("index", range(4))
def test_twin_terms_equal_the_oracle(oracle, index):
    case = oracle["fixed_parameter_cases"][index]
    docs = [(np.array(d["types"]), np.array(d["counts"])) for d in case["docs"]]
    r, theta = [np.array(x) for x in case["r"]], np.array(case["theta"])
    tau, rho, omega = np.array(case["tau"]).T, np.array(case["rho"]), np.array(case["omega"])
    settings = {"alpha": case["alpha"], "gamma": case["gamma"], "eta": case["tau_bar"][0]}
    terms = reference.objective_terms(docs, r, theta, tau, rho, omega, **settings)
    for name, value in case["elbo"].items():
        np.testing.assert_allclose(terms[name], value, rtol=0, atol=case["tol"], err_msg=name)
    np.testing.assert_allclose(reference.expected_beta(rho), case["E_beta"], rtol=1e-12)
    sur = reference.expected_log_normaliser(rho, omega, case["alpha"])
    np.testing.assert_allclose(sur, case["E_cD_surrogate"], rtol=0, atol=case["tol"])
    twin = reference.statistics(docs, r, theta, case["W"])
    for name, value in case["stats"].items():
        expected = np.array(value).T if name == "S" else value
        np.testing.assert_allclose(twin[name], expected, rtol=0, atol=case["tol"], err_msg=name)


def test_twin_stick_terms_equal_the_oracle(oracle):
    case = oracle["global_step"]
    arguments = (*(np.array(case[x]) for x in ("rho", "omega", "T")), case["D"], case["alpha"], case["gamma"])
    np.testing.assert_allclose(reference.stick_objective(*arguments), case["L_G"], rtol=1e-10)
    by_rho, by_omega = reference.stick_gradient(*arguments)
    np.testing.assert_allclose(by_rho, case["grad_rho"], rtol=case["tol_rel"])
    np.testing.assert_allclose(by_omega, case["grad_omega"], rtol=case["tol_rel"])
