"""Small fits of the hybrid, and what two of them must have in common."""

import numpy as np

from .problems import expected_counts

SMALL = {"init": "random", "alpha": 1.0, "eta": 0.1, "n_topics": 12, "batch_size": 20, "n_laps": 3, "random_state": 0}


def state_arrays(model):
    state = model._state
    return expected_counts(state), state.tokens, state.tables


def assert_same(left, right):
    for a, b in zip(state_arrays(left), state_arrays(right), strict=True):
        np.testing.assert_array_equal(a, b)
    assert left.trace_["objective"].tolist() == right.trace_["objective"].tolist()
    assert left.trace_["n_steps"].tolist() == right.trace_["n_steps"].tolist()
