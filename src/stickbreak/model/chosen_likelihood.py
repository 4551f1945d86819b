"""The likelihood of a fit, a name or an object: what stands for it in saved models and checkpoints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError
from stickbreak.model.parameters import packed, unpacked
from stickbreak.storage.checksums import checksum


def described_both(given: Any, fitted: Any, families: Mapping[str, type], arrays: dict[str, NDArray]) -> dict[str, Any]:
    """Return the fitted likelihood as plain values, and the given one where that is an object, too."""
    parameter = None if isinstance(given, str) else described("given", given, families, arrays)
    return {"likelihood": described("likelihood", fitted, families, arrays), "given": parameter}


def described(name: str, likelihood: Any, families: Mapping[str, type], arrays: dict[str, NDArray]) -> dict[str, Any]:
    """Return a likelihood of ours as plain values; its tables go to `arrays`, under names that begin with `name`.

    Raises
    ------
    InputError
        If its class is none of `families`: loading it would have to run the code of its class.
    """
    family: Any = type(likelihood)
    if family not in families.values():
        raise InputError(
            f"the likelihood {family.__name__} is your own class, which a saved model cannot hold; "
            "save the fitted attributes yourself."
        )
    given = {field.name: getattr(likelihood, field.name) for field in fields(family)}
    values = {field: packed(f"{name}.{field}", value, arrays) for field, value in given.items()}
    return {"family": family.__name__, "values": values}


def from_description(description: Any, families: Mapping[str, type], arrays: dict[str, NDArray]) -> Any:
    """Return the likelihood that `described` was given."""
    ours = {family.__name__: family for family in families.values()}
    return ours[description["family"]](**{k: unpacked(v, arrays) for k, v in description["values"].items()})


def named(likelihood: Any) -> str:
    """Return a likelihood as a checkpoint can hold it: its name, or that of its class and a checksum of its prior."""
    if isinstance(likelihood, str):
        return likelihood
    prior = likelihood.posterior(np.zeros((likelihood.n_rows, 1)), np.zeros(1))
    parts = prior if isinstance(prior, tuple) else vars(prior).values() if hasattr(prior, "__dict__") else [prior]
    tables = [np.asarray(part, dtype=np.float64).ravel() for part in parts]
    values = json.dumps(likelihood.hyperparameters, sort_keys=True)
    return f"{type(likelihood).__name__} {checksum(np.concatenate(tables))} {values}"
