"""The types of arrays, as signatures name them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Int32 = NDArray[np.int32]
