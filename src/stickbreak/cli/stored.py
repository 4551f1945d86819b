"""The parameters of all estimators, from a file: help must be quick.

`make cli-docs` renews `parameters.json` from the estimators, and a test compares the two. Asking the estimators takes
more than a second: ranges of parameters are Python objects, inherited and computed, and come with Numba, SciPy and
scikit-learn. Only an estimator that is not in the file is asked, so that a new method works before it is renewed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any

from stickbreak.cli.describe import describe
from stickbreak.cli.methods import METHODS
from stickbreak.cli.parameters import Kind, Parameter

__all__ = ["STORED", "parameters_of_estimator", "stored_text"]

STORED = Path(__file__).with_name("parameters.json")


def parameters_of_estimator(estimator: str) -> Mapping[str, Parameter]:
    """Return the parameters of an estimator by their names, in the order of its signature.

    Parameters
    ----------
    estimator : str
        Name in `stickbreak`.
    """
    stored = _stored().get(estimator)
    if stored is not None:
        return stored
    from stickbreak.methods import estimator_of

    return {parameter.name: parameter for parameter in describe(estimator_of(estimator))}


@cache
def _stored() -> Mapping[str, Mapping[str, Parameter]]:
    """Read the stored file; without it every estimator is described directly."""
    if not STORED.is_file():
        return {}
    found = json.loads(STORED.read_text(encoding="utf-8"))
    return {name: {row["name"]: _parameter(row) for row in rows} for name, rows in found.items()}


def _parameter(row: Mapping[str, Any]) -> Parameter:
    kinds = tuple(Kind(**{name: _frozen(value) for name, value in kind.items()}) for kind in row["kinds"])
    return Parameter(**{name: _frozen(value) for name, value in row.items() if name != "kinds"}, kinds=kinds)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def stored_text() -> str:
    """Return what `parameters.json` should hold: every method's estimator, described."""
    estimators = []
    for method in METHODS.values():
        rows = (json.dumps(_row(parameter)) for parameter in describe(method.load()))
        estimators.append(f'"{method.estimator}": [\n' + ",\n".join(rows) + "\n]")
    return "{\n" + ",\n".join(estimators) + "\n}\n"


def _row(parameter: Parameter) -> dict[str, Any]:
    """Return a parameter for JSON, without what is as usual."""
    row = {field.name: getattr(parameter, field.name) for field in fields(parameter) if field.name != "kinds"}
    if not parameter.stream_only:
        del row["stream_only"]
    return row | {"kinds": [_unusual(kind) for kind in parameter.kinds]}


def _unusual(kind: Kind) -> dict[str, Any]:
    values = {field.name: (getattr(kind, field.name), field.default) for field in fields(kind)}
    return {name: value for name, (value, usual) in values.items() if usual is MISSING or value != usual}
