"""Which documents, or groups, of a collection: those that a user selects, those that are held out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["checked_seed", "held_out_rows", "selected_rows"]


def selected_rows(selection: ArrayLike, n_rows: int, what: str) -> np.ndarray:
    """Return the rows that an array of int or a mask selects; `what` they are ("document") is for the message."""
    rows = np.asarray(selection)
    if rows.dtype == bool:
        if rows.shape != (n_rows,):
            raise InputError(f"a mask of shape {rows.shape} cannot select from {n_rows} {what}s; give one bool each")
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.zeros(0, dtype=np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(f"{what}s are selected by a slice, a flat array of int or a mask, not by {selection!r}")
    if rows.min() < -n_rows or rows.max() >= n_rows:
        raise InputError(f"there is no {what} {rows.max() if rows.max() >= n_rows else rows.min()}; there are {n_rows}")
    return rows


def checked_seed(seed: Any, *, negative: bool = False) -> int:
    """Return the seed of a split, which may be a number of NumPy; an InputError for what is none."""
    if not isinstance(seed, Integral) or (seed < 0 and not negative):
        raise InputError(f"seed is {seed!r:.40}; give a whole number{'' if negative else ' from 0 upwards'}")
    return int(seed)


def held_out_rows(n_rows: int, held_out: Any, seed: int, what: str) -> np.ndarray:
    """Draw the rows to hold out.

    Parameters
    ----------
    n_rows : int
        All rows.
    held_out : float or int
        The share of rows to hold out, between 0 and 1, or (from 1 upwards) their number. Rounded, but at least one
        row goes to each side.
    seed : int
        The same seed gives the same rows.
    what : str
        What a row is ("document"), for the message.

    Returns
    -------
    ndarray of bool of shape (n_rows,)

    Raises
    ------
    InputError
        If `held_out` leaves one side without rows.
    """
    is_number = isinstance(held_out, Real) and not isinstance(held_out, bool)
    if not is_number or not (0 < held_out < 1 or (1 <= held_out < n_rows and held_out == int(held_out))) or n_rows < 2:
        raise InputError(
            f"cannot hold out {held_out!r:.40} of {n_rows} {what}s; give a share between 0 and 1, or a number "
            f"from 1 to one less than there are {what}s"
        )
    n_held = min(max(round(held_out * n_rows) if held_out < 1 else int(held_out), 1), n_rows - 1)
    held = np.zeros(n_rows, dtype=bool)
    held[np.random.default_rng(checked_seed(seed)).permutation(n_rows)[:n_held]] = True
    return held
