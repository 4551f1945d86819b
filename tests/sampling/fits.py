"""Small fits of the samplers, and what two of them must have in common."""

import numpy as np

from stickbreak import GibbsHDP

SETTINGS = {
    "estimate": "last",
    "n_topics": 4,
    "init": "random",
    "n_laps": 8,
    "burn_in": 3,
    "thin": 2,
    "random_state": 0,
}


def fit(corpus, **changes) -> GibbsHDP:
    options = {name: changes.pop(name) for name in ("checkpoint", "resume", "callback") if name in changes}
    return GibbsHDP(**{**SETTINGS, **changes}).fit(corpus, **options)


def assert_same(left: GibbsHDP, right: GibbsHDP) -> None:
    for name in ("components_", "tables_", "topic_word_", "objective_", "alpha_", "gamma_", "eta_", "chain_",
                 "burn_in_", "n_laps_", "n_tokens_"):  # fmt: skip
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    assert left.trace_.keys() == right.trace_.keys()
    for name in left.trace_.keys() - {"seconds"}:
        np.testing.assert_array_equal(left.trace_[name], right.trace_[name], err_msg=name)
