"""Checkpoints of stochastic inference: globals and number of steps; the order of batches follows from the lap."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.checkpoint import KIND, is_table, read_state, require, whole_number
from stickbreak.fitting.loop import Trace
from stickbreak.numerics.ranges import are_sticks, are_sums
from stickbreak.storage import persistence
from stickbreak.variational.model import Model
from stickbreak.variational.stochastic import StreamState


def write_stream_checkpoint(
    path: str | os.PathLike[str], state: StreamState, objective: float, trace: Trace, identity: dict[str, Any]
) -> None:
    """Replace the checkpoint at `path`, atomically; `objective` is that of the last lap in nats."""
    arrays = {name: getattr(state, name) for name in ("counts", "tokens", "rho", "omega")}
    meta = {
        "identity": identity,
        "scale": state.scale,
        "n_steps": state.n_steps,
        "objective": objective,
        "trace": trace.columns,
    }
    persistence.write_folder(path, kind=KIND, arrays=arrays, meta=meta, overwrite=True)


def read_stream_checkpoint(
    path: str | os.PathLike[str], model: Model, identity: dict[str, Any]
) -> tuple[StreamState, float, Trace] | None:
    """Return the state, the objective and the trace of a checkpoint, or None if there is none at `path`.

    Raises
    ------
    InputError
        If the checkpoint is of other documents or settings.
    ModelFormatError
        If it is no checkpoint, or its parts do not fit together.
    """
    return read_state(path, identity, lambda *parts: _restored(*parts, signed=model.likelihood.signed))


def _restored(
    arrays: Mapping[str, NDArray], meta: Mapping[str, Any], identity: Mapping[str, Any], *, signed: bool
) -> tuple[StreamState, float, Trace]:
    """Put the state of a checkpoint together again."""
    W, K = identity["shape"][1], arrays["rho"].size
    shapes = {"counts": (W, K), "tokens": (K,), "rho": (K,), "omega": (K,)}
    for name, shape in shapes.items():
        require(K >= 1 and is_table(arrays[name], *shape), f"{name} is no finite table of {W} words and {K} topics")
    rho, omega = arrays["rho"], arrays["omega"]
    require(are_sticks(rho, omega), "its sticks are out of range")
    require(are_sums(arrays["counts"], signed=signed) and are_sums(arrays["tokens"]), "its counts are out of range")
    scale, objective = float(meta["scale"]), float(meta["objective"])
    n_steps = whole_number("n_steps", meta["n_steps"])
    require(0 < scale <= 1 and n_steps >= 0 and np.isfinite(objective), "its scale, n_steps or objective cannot be")
    state = StreamState(arrays["counts"], scale, arrays["tokens"], rho, omega, n_steps)
    return state, objective, Trace(meta["trace"])
