"""Parameters, fitted values and likelihoods of an estimator as plain values and arrays: what a saved model holds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError
from stickbreak.storage.checksums import checksum


def packed(name: str, value: Any, arrays: dict[str, NDArray]) -> Any:
    """Return a parameter as JSON can hold it; arrays, also those in a list, go to `arrays` and leave their name.

    Lists stay lists. A tuple becomes {"tuple": entries}, an array {"array": name} and a dict {"mapping": pairs}. So
    each comes back as what it was.
    """
    if isinstance(value, list | tuple):
        entries = [packed(f"{name}.{i}", entry, arrays) for i, entry in enumerate(value)]
        return {"tuple": entries} if isinstance(value, tuple) else entries
    if isinstance(value, dict):
        return {"mapping": [[key, packed(f"{name}.{key}", entry, arrays)] for key, entry in value.items()]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "__array__"):
        arrays[name] = np.asarray(value)
        return {"array": name}
    return None if isinstance(value, np.random.RandomState) else value


def values_of(model: Any, names: Iterable[str], arrays: dict[str, NDArray]) -> dict[str, Any]:
    """Return fitted values as JSON can hold them; those that are arrays, such as an eta by word, go to `arrays`."""
    values = {name: getattr(model, name) for name in names}
    by_word = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    return values | {name: packed(f"value.{name}", value, arrays) for name, value in by_word.items()}


def value_from(value: Any, arrays: Mapping[str, NDArray]) -> Any:
    """Return a fitted value that `values_of` has written."""
    return unpacked(value, arrays) if isinstance(value, dict) and "array" in value else value


def names_in(value: Any, n: int, of: str) -> list[str]:
    """Return saved names; a ValueError for what is not a list of n strings."""
    plain = isinstance(value, list) and all(isinstance(name, str) for name in value)
    if not plain or len(value) != n:
        raise ValueError(f"its {of} are not a list of {n} names")
    return list(value)


def unpacked(value: Any, arrays: Mapping[str, NDArray]) -> Any:
    """Return the parameter that `packed` was given; a RandomState cannot be saved and is None."""
    if isinstance(value, list):
        return [unpacked(entry, arrays) for entry in value]
    if isinstance(value, dict) and "mapping" in value:
        return {key: unpacked(entry, arrays) for key, entry in value["mapping"]}
    if isinstance(value, dict):
        return arrays[value["array"]] if "array" in value else tuple(unpacked(value["tuple"], arrays))
    return value


def described_likelihoods(
    given: Any, fitted: Any, families: Mapping[str, type], arrays: dict[str, NDArray]
) -> dict[str, Any]:
    """Return the fitted likelihood as plain values, and the given one where that is an object, too."""
    parameter = None if isinstance(given, str) else described_likelihood("given", given, families, arrays)
    return {"likelihood": described_likelihood("likelihood", fitted, families, arrays), "given": parameter}


def described_likelihood(
    name: str, likelihood: Any, families: Mapping[str, type], arrays: dict[str, NDArray]
) -> dict[str, Any]:
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


def likelihood_from(description: Any, families: Mapping[str, type], arrays: dict[str, NDArray]) -> Any:
    """Return the likelihood that `described_likelihood` was given."""
    ours = {family.__name__: family for family in families.values()}
    return ours[description["family"]](**{k: unpacked(v, arrays) for k, v in description["values"].items()})


def name_of_likelihood(likelihood: Any) -> str:
    """Return a likelihood as a checkpoint can hold it: its name, or that of its class and a checksum of its prior."""
    if isinstance(likelihood, str):
        return likelihood
    prior = likelihood.posterior(np.zeros((likelihood.n_rows, 1)), np.zeros(1))
    parts = prior if isinstance(prior, tuple) else vars(prior).values() if hasattr(prior, "__dict__") else [prior]
    tables = [np.asarray(part, dtype=np.float64).ravel() for part in parts]
    values = json.dumps(likelihood.hyperparameters, sort_keys=True)
    return f"{type(likelihood).__name__} {checksum(np.concatenate(tables))} {values}"
