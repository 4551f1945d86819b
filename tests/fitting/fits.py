"""Fits of `VariationalHDP` that are cut and resumed, and what two of them must have in common."""

import numpy as np

from stickbreak import VariationalHDP

SETTINGS = {
    # so that merges are left for the laps after a cut; all moves have a test of their own
    "moves": ["merge", "reorder"],
    "n_topics": 60,
    "tolerance": 0.0,
    "init": "near-uniform",
    "n_batches": 3,
    "random_state": 0,
}
STOCHASTIC = {"schedule": "stochastic", "n_topics": 6}


def fit(corpus, **changes) -> VariationalHDP:
    options = {name: changes.pop(name) for name in ("checkpoint", "resume", "callback") if name in changes}
    return VariationalHDP(**{**SETTINGS, "n_laps": 8, **changes}).fit(corpus, **options)


def assert_same(left: VariationalHDP, right: VariationalHDP) -> None:
    for name in ("alpha_", "gamma_", "eta_", "components_", "n_steps_", "rho_", "omega_", "objective_", "n_laps_",
                 "converged_", "stop_reason_"):  # fmt: skip
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    assert left.trace_.keys() == right.trace_.keys()
    for name in left.trace_.keys() - {"seconds"}:
        np.testing.assert_array_equal(left.trace_[name], right.trace_[name], err_msg=name)
        assert left.trace_[name].dtype == right.trace_[name].dtype, name
