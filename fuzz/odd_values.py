"""Values that no parameter should choke on: nonsense, ends of ranges, wrong types."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from fuzz.models import FITS, Fit, Model, documents

NONSENSE: dict[str, Any] = {
    "nan": np.nan, "inf": np.inf, "-inf": -np.inf, "-1": -1, "0": 0, "0.5": 0.5, "-0.0": -0.0, "5e-324": 5e-324,
    "1e308": 1e308, "10**30": 10**30, "10**400": 10**400, "-10**400": -(10**400), "'x'": "x", "''": "", "None": None,
    "[]": [], "[nan]": [np.nan], "['x']": ["x"], "[[]]": [[]], "[None]": [None], "(1, 2)": (1, 2), "{}": {},
    "True": True, "b'x'": b"x", "object()": object(), "float32(1)": np.float32(1), "int64(2)": np.int64(2),
    "array(1.5)": np.array(1.5), "array([[1.]])": np.array([[1.0]]), "array([nan])": np.array([np.nan]),
    "array(['x'])": np.array(["x"]), "1+2j": 1 + 2j, "nan32": np.float32("nan"), "a lone surrogate": "\ud800",
    "a path with a null": "a\0b",
}  # fmt: skip
"""Name -> value; what is sound for some parameters (0, 0.5, True) is tried as well."""

SMALL = {
    "TopicModel": "topics", "VariationalHDP": "variational", "HybridHDP": "hybrid", "GibbsHDP": "gibbs",
    "LDA": "lda", "BackoffTreeTopics": "tree", "GaussianHDP": "gaussian", "GaussianDPMixture": "gaussian mixture",
}  # fmt: skip
"""Estimator -> its small fit."""

INHERITED = (
    "get_params",
    "set_params",
    "get_metadata_routing",
    "set_fit_request",
    "set_transform_request",
    "set_output",
    "fit_transform",
)
GIVEN = ("X", "observed", "held_out")  # arguments that hold documents


class Nonsense(NamedTuple):
    """One odd value, and where it is put."""

    estimator: str
    where: str  # a parameter, or a method and its argument
    value: str  # name in `NONSENSE`
    run: Callable[[], Any]


def of_parameters() -> Iterator[Nonsense]:
    """Yield a fit for each parameter of each estimator and each odd value."""
    for estimator, name in SMALL.items():
        fit = FITS[name]
        for parameter in fit.model().get_params(deep=False):
            for value in NONSENSE:
                yield Nonsense(estimator, parameter, value, _fitting(fit, parameter, NONSENSE[value]))


def _fitting(fit: Fit, parameter: str, value: Any) -> Callable[[], Any]:
    def run() -> None:
        from fuzz.soundness import check

        laps = {} if parameter == "n_laps" else {"n_laps": min(fit.n, 8)}
        model = fit.model().set_params(**laps, **{parameter: value})
        check(model.fit(fit.documents()), fit.documents())

    return run


def of_arguments(fitted: dict[str, Model]) -> Iterator[Nonsense]:
    """Yield a call for each argument of each public method of fitted models and each odd value."""
    for estimator, model in fitted.items():
        data = documents(FITS[SMALL[estimator]].data)
        for method, function in inspect.getmembers(type(model), inspect.isfunction):
            if method.startswith("_") or method in INHERITED:
                continue
            parameters = list(inspect.signature(function).parameters.values())[1:]
            sound = {
                p.name: _sound(p.name, data) for p in parameters if p.default is p.empty and p.kind != p.VAR_KEYWORD
            }
            for parameter in parameters:
                if parameter.kind == parameter.VAR_KEYWORD or parameter.name in ("y", "callback"):
                    continue
                for value in NONSENSE:
                    given = {**sound, parameter.name: NONSENSE[value]}
                    yield Nonsense(estimator, f"{method}({parameter.name})", value, _calling(model, method, given))


def _sound(name: str, data: Any) -> Any:
    if name in GIVEN:
        return data
    return {"path": "/dev/null/x", "leaves": [0], "leaf": 0, "n_leaves": 2, "k": 2}.get(name, 1)


def _calling(model: Model, method: str, given: dict[str, Any]) -> Callable[[], Any]:
    return lambda: getattr(model, method)(**given)


def ends(estimator: type[Model]) -> dict[str, tuple[list[float], list[float]]]:
    """Return, for each parameter with a range of real numbers, the ends within it and numbers just outside."""
    found = {}
    for name, constraints in estimator._parameter_constraints.items():
        ranges = [c for c in (constraints if isinstance(constraints, list) else []) if isinstance(c, Interval)]
        for range_ in ranges:
            if range_.type not in (Real, Integral):
                continue
            step = _whole_step if range_.type is Integral else _real_step
            low, high, inside, outside = range_.left, range_.right, [], []
            if low is not None:
                closed = range_.closed in ("left", "both")
                inside.append(low if closed else step(low, 1))
                outside.append(step(low, -1) if closed else low)
            if high is not None:
                closed = range_.closed in ("right", "both")
                inside.append(high if closed else step(high, -1))
                outside.append(step(high, 1) if closed else high)
            found[name] = inside, outside
    return found


def _real_step(x: float, sign: int) -> float:
    return math.nextafter(float(x), sign * math.inf)


def _whole_step(x: float, sign: int) -> int:
    return int(x) + sign
