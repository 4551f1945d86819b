"""Whether all that a fitted model says is finite and adds up."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import stickbreak
from fuzz.models import Model, weights
from fuzz.outcomes import Unsound
from stickbreak.exceptions import InputError

ATTRIBUTES = (
    "components_", "topic_word_", "topic_weights_", "tables_", "alpha_", "gamma_", "eta_", "alpha_levels_",
    "eta_levels_", "rho_", "omega_", "statistics_", "counts_", "weights_", "means_", "covariances_", "objective_",
)  # fmt: skip
FEW_TOKENS = 2_000  # of documents whose left-to-right score is asked for
MOST_CELLS = 20_000_000  # of a dense table that is asked for


def check(model: Model, data: Any, where: str = "fit") -> None:
    """Raise `Unsound` for a number that is not finite, or weights that do not sum to one."""
    _check_finite(f"{where}: weights", found := weights(model, data))
    sums = found.sum(axis=1)
    if np.abs(sums[sums > 0] - 1.0).max(initial=0.0) > 1e-6:
        raise Unsound(f"{where}: weights of a document sum to {sums[np.abs(sums - 1).argmax()]}")
    for name, column in model.trace_.items():
        _check_finite(f"{where}: trace {name}", column)
    wide = getattr(model, "n_features_in_", 1) * found.shape[1] > MOST_CELLS
    for name in ATTRIBUTES:
        if not (wide and name == "topic_word_") and hasattr(model, name):
            _check_finite(f"{where}: {name}", getattr(model, name))
    try:
        _check_finite(f"{where}: score", model.score(data))
    except InputError:
        pass  # documents of one word have no second half


def check_life(model: Model, data: Any) -> None:
    """Check a fitted model, a copy that was saved and loaded, and what goes on from it."""
    check(model, data)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        again = stickbreak.load(Path(folder) / "model")
    check(again, data, "loaded")
    check(again.continue_fit(data, n_laps=3), data, "continued")
    if hasattr(again, "partial_fit"):
        if "learn" in again.get_params():
            again.set_params(learn=())
        check(again.partial_fit(data), data, "partial_fit")
    if hasattr(model, "left_to_right") and data.n_tokens <= FEW_TOKENS:
        score = model.left_to_right(data, n_particles=2)
        _check_finite("left_to_right", [score.printed, score.unbiased])


def _check_finite(what: str, numbers: Any) -> None:
    array = np.asarray(numbers.toarray() if hasattr(numbers, "toarray") else numbers, dtype=np.float64)
    if not np.isfinite(array).all():
        raise Unsound(f"{what} holds {array[~np.isfinite(array)].ravel()[0]}")
