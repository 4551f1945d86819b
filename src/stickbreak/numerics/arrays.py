"""The types of arrays, as signatures name them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Int = NDArray[np.int64]
Int32 = NDArray[np.int32]

Array = TypeVar("Array", bound=NDArray)
Real = TypeVar("Real", Float, Float32)


def for_kernels(array: Array) -> Array:
    """Return an array as kernels take it: writable and in order, so that none is compiled for other kinds as well.

    Parameters
    ----------
    array : ndarray
        Returned as it is, if it is so already; one of a file that is mapped may only be read.

    Returns
    -------
    ndarray
    """
    found: Array = np.require(array, requirements=("C", "W"))
    return found
