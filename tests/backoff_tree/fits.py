"""Small fits of the tree, and all that two of them must have in common."""

import numpy as np

SMALL = {"branching": (2, 3), "n_laps": 4, "learn_every": 2, "random_state": 0}


def learned(model):
    """All that a fit leaves behind, times aside."""
    trace = {name: column for name, column in model.trace_.items() if name != "seconds"}
    names = ("word_start_", "word_leaf_", "word_count_", "alpha_levels_", "eta_levels_", "branching_", "stop_reason_")
    return {**trace, **{name: np.asarray(getattr(model, name)) for name in names}}


def assert_same(left, right):
    one, other = learned(left), learned(right)
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)
