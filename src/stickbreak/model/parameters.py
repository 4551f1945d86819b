"""Parameters of an estimator as plain values and arrays, and back: what a saved model holds of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
