"""Snapshots of stochastic inference: globals and number of steps; the order of batches follows from the lap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.laps import Packed
from stickbreak.numerics.ranges import are_sticks, are_sums
from stickbreak.variational.stochastic import StreamState


def stream_snapshot(state: StreamState, objective: float) -> Packed:
    """Return where stochastic inference stands; `objective` is that of the last lap in nats."""
    arrays = {name: getattr(state, name) for name in ("counts", "tokens", "rho", "omega")}
    return arrays, {"scale": state.scale, "n_steps": state.n_steps, "objective": objective}


def restored_stream(
    arrays: Mapping[str, NDArray], values: Mapping[str, Any], n_rows: int, *, signed: bool
) -> tuple[StreamState, float]:
    """Return the state and the objective of a snapshot; the arrays are copied.

    Parameters
    ----------
    arrays, values
        What `stream_snapshot` returned.
    n_rows : int
        Rows of a table of statistics (words W).
    signed : bool
        Whether statistics may be negative.

    Raises
    ------
    KeyError, TypeError, ValueError
        If its parts do not fit together.
    """
    arrays = {name: array.copy() for name, array in arrays.items()}
    W, K = n_rows, arrays["rho"].size
    shapes = {"counts": (W, K), "tokens": (K,), "rho": (K,), "omega": (K,)}
    for name, shape in shapes.items():
        require(K >= 1 and is_table(arrays[name], *shape), f"{name} is not a finite table of {W} words and {K} topics")
    rho, omega = arrays["rho"], arrays["omega"]
    require(are_sticks(rho, omega), "its sticks are out of range")
    require(are_sums(arrays["counts"], signed=signed) and are_sums(arrays["tokens"]), "its counts are out of range")
    scale, objective = float(values["scale"]), float(values["objective"])
    n_steps = whole_number("n_steps", values["n_steps"])
    require(0 < scale <= 1 and n_steps >= 0 and np.isfinite(objective), "its scale, n_steps or objective cannot be")
    state = StreamState(arrays["counts"], scale, arrays["tokens"], rho, omega, n_steps)
    return state, objective
