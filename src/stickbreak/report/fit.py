"""How a fit went and with which settings, for the reports of words and of vectors."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from stickbreak.report.data import FitReport, finite_or_none

_TRACE_POINTS = 1000


class FittedRun(Protocol):
    """What is read here of a fitted model; every estimator has it."""

    objective_name: ClassVar[str]
    unit: ClassVar[str]
    objective_: float
    n_laps_: int
    converged_: bool
    stop_reason_: str
    start_seconds_: float
    moves_: Sequence[dict[str, Any]]
    learned_: list[str]
    left_out_: tuple[str, ...]

    @property
    def trace_(self) -> Mapping[str, Any]:
        """Equally long arrays, one entry per lap."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


def describe_fit(model: FittedRun, n_found: int) -> FitReport:
    """Read the trace, the settings and the reason for stopping off a fitted model of `n_found` topics."""
    trace = {
        name: np.asarray(values, dtype=np.float64)
        for name, values in model.trace_.items()
        if not re.search(r"_\d+$", name)  # columns of one of several chains: those of the kept one have plain names
    }
    n_entries = max((values.size for values in trace.values()), default=0)
    trace = {name: values for name, values in trace.items() if values.size == n_entries}
    trace.setdefault("lap", np.arange(1.0, n_entries + 1.0))
    keep = np.unique(np.linspace(0, n_entries - 1, min(n_entries, _TRACE_POINTS)).round().astype(int))
    return FitReport(
        family=type(model).__name__,
        objective_name=model.objective_name,
        n_laps=model.n_laps_,
        converged=model.converged_,
        stop_reason=model.stop_reason_,
        seconds=finite_or_none(float(trace["seconds"].sum())) if n_entries and "seconds" in trace else None,
        start_seconds=finite_or_none(model.start_seconds_),
        objective=finite_or_none(model.objective_),
        n_found=int(n_found),
        settings=_settings(model),
        trace={name: tuple(finite_or_none(v) for v in values[keep]) for name, values in sorted(trace.items())},
        moves=tuple(model.moves_),
        left_out=model.left_out_,
        unit=model.unit,
    )


def _settings(model: FittedRun) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a model as text, by name; beside those that were learned what they became."""
    parameters = model.get_params(deep=False)
    texts = {name: _setting_text(value) for name, value in parameters.items()}
    if parameters.get("learn", ()) is None:
        texts["learn"] = ", ".join(model.learned_) or "none"
    for name in model.learned_:
        given = f" from {texts[name]}" if name in texts else ""
        texts[name] = f"{getattr(model, name + '_'):.4g}, learned{given}"
    return tuple(sorted(texts.items()))


def _setting_text(value: Any) -> str:
    """Write a parameter for a reader; arrays and objects by their kind only."""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if value is None or isinstance(value, str | bool | int | np.integer):
        return str(value)
    if isinstance(value, Sequence) and all(isinstance(v, str | bool | int | float) for v in value) and len(value) < 20:
        return ", ".join(str(v) for v in value) or "none"
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"array of shape {tuple(shape)}"
