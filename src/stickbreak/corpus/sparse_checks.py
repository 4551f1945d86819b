"""What is broken inside a sparse matrix: its raw arrays, checked before any compiled code follows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["fault_of_coordinates", "fault_of_diagonals", "fault_of_rows", "fault_of_sparse"]


def fault_of_sparse(X: Any) -> str | None:
    """Find what is broken inside a SciPy sparse matrix of two dimensions.

    Parameters
    ----------
    X : scipy sparse matrix or array
        Of any format; its arrays are looked at, never converted.

    Returns
    -------
    str or None
        What is wrong, as a clause of a sentence; None if its arrays agree with each other and with its shape.
    """
    if not all(0 <= size <= np.iinfo(np.int64).max for size in X.shape):
        return f"its shape is {tuple(X.shape)}"
    if X.format in ("csr", "csc", "bsr"):
        return fault_of_rows(X.format, X.shape, X.data, X.indices, X.indptr)
    if X.format == "coo":
        return fault_of_coordinates(X.shape, X.data, [X.row, X.col])
    if X.format == "dia":
        return fault_of_diagonals(X.data, X.offsets)
    return _fault_of_lists(X) if X.format == "lil" else _fault_of_keys(X)


def fault_of_rows(
    format: str, shape: tuple[int, int], data: np.ndarray, indices: np.ndarray, indptr: np.ndarray
) -> str | None:
    """Find what is broken in compressed rows, columns or rows of blocks.

    Parameters
    ----------
    format : {"csr", "csc", "bsr"}
        Which of them.
    shape : tuple of int
        (D, W).
    data : ndarray of shape (nnz,), or (n_blocks, R, C) for "bsr"
        Values.
    indices, indptr : ndarray
        Columns (rows for "csc"), and where the row (column) of each begins.

    Returns
    -------
    str or None
    """
    fault = (
        _fault_of_values(data, 3 if format == "bsr" else 1)
        or _fault_of_indices("indices", indices)
        or _fault_of_indices("indptr", indptr)
    )
    if fault:
        return fault
    rows, columns = shape if format != "csc" else (shape[1], shape[0])
    if format == "bsr":
        R, C = data.shape[1:]
        if R < 1 or C < 1 or rows % R or columns % C:
            return f"blocks of {R} x {C} do not fill the shape {tuple(shape)}"
        rows, columns = rows // R, columns // C
    if indptr.size != rows + 1:
        return f"indptr has {indptr.size} entries where its shape asks for {rows + 1}"
    if indptr[0] != 0 or bool(np.any(indptr[1:] < indptr[:-1])):
        return "indptr must begin with 0 and never fall"
    if len(indices) != len(data) or int(indptr[-1]) > len(indices):
        return f"indptr ends at {int(indptr[-1])} for {len(indices)} indices and {len(data)} values"
    return _fault_of_range("an index", indices[: int(indptr[-1])], columns)


def fault_of_coordinates(shape: tuple[int, int], data: np.ndarray, coordinates: Iterable[np.ndarray]) -> str | None:
    """Find what is broken in coordinates of entries.

    Parameters
    ----------
    shape : tuple of int
        (D, W).
    data : ndarray of shape (nnz,)
        Values.
    coordinates : iterable of ndarray of shape (nnz,)
        The rows, and the columns.

    Returns
    -------
    str or None
    """
    fault = _fault_of_values(data, 1)
    if fault:
        return fault
    for what, places, size in zip(("row", "column"), coordinates, shape, strict=True):
        fault = _fault_of_indices(f"{what} numbers", places)
        if fault is None and len(places) != len(data):
            fault = f"it has {len(places)} {what} numbers for {len(data)} values"
        fault = fault or _fault_of_range(f"a {what} number", places, size)
        if fault:
            return fault
    return None


def fault_of_diagonals(data: np.ndarray, offsets: np.ndarray) -> str | None:
    """Find what is broken in diagonals.

    Parameters
    ----------
    data : ndarray of shape (n_diagonals, length)
        Values, those of column j at place j.
    offsets : ndarray of shape (n_diagonals,)
        Which diagonals.

    Returns
    -------
    str or None
    """
    fault = _fault_of_values(data, 2) or _fault_of_indices("offsets", offsets)
    if fault:
        return fault
    if len(offsets) != len(data):
        return f"it has {len(offsets)} offsets for {len(data)} diagonals"
    return "an offset occurs twice" if np.unique(offsets).size < offsets.size else None


def _fault_of_lists(X: Any) -> str | None:
    """Find what is broken in lists of rows (LIL): two arrays of lists."""
    D = X.shape[0]
    for lists in (X.rows, X.data):
        if not isinstance(lists, np.ndarray) or lists.shape != (D,) or not all(isinstance(row, list) for row in lists):
            return f"it has no list for each of its {D} rows"
    if any(len(row) != len(values) for row, values in zip(X.rows, X.data, strict=True)):
        return "a row has more column numbers than values, or fewer"
    return _fault_of_numbers("a column number", (column for row in X.rows for column in row), X.shape[1])


def _fault_of_keys(X: Any) -> str | None:
    """Find what is broken in a dictionary of entries (DOK)."""
    keys = list(X.keys())
    if not all(isinstance(key, tuple) and len(key) == 2 for key in keys):
        return "a key is not a pair of row and column"
    for axis, what in enumerate(("row", "column")):
        fault = _fault_of_numbers(f"a {what} number", (key[axis] for key in keys), X.shape[axis])
        if fault:
            return fault
    return None


def _fault_of_values(data: Any, n_dimensions: int) -> str | None:
    if not isinstance(data, np.ndarray) or data.ndim != n_dimensions:
        return f"its values have {np.ndim(data)} dimensions, not {n_dimensions}"
    return None


def _fault_of_indices(what: str, array: Any) -> str | None:
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        return f"its {what} are not an array of one dimension"
    return None if array.dtype.kind == "i" else f"its {what} have the dtype {array.dtype}, not signed integers"


def _fault_of_range(what: str, places: np.ndarray, size: int) -> str | None:
    if places.size and (places.min() < 0 or places.max() >= size):
        wrong = int(places.min()) if places.min() < 0 else int(places.max())
        return f"{what} is {wrong}, outside of 0 to {size - 1}"
    return None


def _fault_of_numbers(what: str, numbers: Iterable[Any], size: int) -> str | None:
    for number in numbers:
        if not isinstance(number, int | np.integer) or not 0 <= number < size:
            return f"{what} is {number!r:.40}, outside of 0 to {size - 1}"
    return None
