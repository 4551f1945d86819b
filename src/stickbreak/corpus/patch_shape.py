"""The shape of patches as vectors (pixels, or coordinates without the mean), and the way back to pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PatchShape", "patch_basis"]

_LEAST = 3  # pixels of a side: less is no picture
_MOST = 1024


@dataclass(frozen=True, slots=True)
class PatchShape:
    """Square patches of an image as vectors.

    Attributes
    ----------
    size : int
        Side of a patch.
    projected : bool
        Whether vectors are coordinates in `patch_basis(size)`, without the mean; otherwise they are pixels.

    Examples
    --------
    >>> PatchShape(8, projected=True).dim
    63
    """

    size: int
    projected: bool = False

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return self.size**2 - self.projected

    @classmethod
    def of_square(cls, dim: int) -> PatchShape | None:
        """Return the shape of patches with `dim` pixels; None if `dim` is not the square of 3 or more.

        Parameters
        ----------
        dim : int
        """
        size = math.isqrt(dim)
        return cls(size) if size >= _LEAST and size * size == dim else None

    @classmethod
    def from_plain(cls, plain: object) -> PatchShape | None:
        """Return the shape that `as_plain` described; None if it is something else.

        Parameters
        ----------
        plain : object
            Read from a file that may be damaged.
        """
        if not isinstance(plain, Mapping):
            return None
        size, projected = plain.get("size"), plain.get("projected")
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _MOST:
            return None
        return cls(size, projected) if isinstance(projected, bool) else None

    def as_plain(self) -> dict[str, Any]:
        """Return size and projected, for JSON."""
        return {"size": self.size, "projected": self.projected}

    def pixels(self, values: np.ndarray) -> np.ndarray:
        """Return vectors (n, dim) as pictures (n, size, size).

        Parameters
        ----------
        values : ndarray of shape (n, dim)
        """
        flat = values @ patch_basis(self.size).T if self.projected else values
        return flat.reshape(len(values), self.size, self.size)


def patch_basis(size: int) -> np.ndarray:
    """Return the cosine basis of patches without its constant vector, (size^2, size^2 - 1), with orthonormal columns.

    Coordinates times the transpose of this basis are the pixels of a patch without its mean.

    Parameters
    ----------
    size : int
        Side of a patch.

    Returns
    -------
    ndarray
    """
    waves = np.cos(np.pi / size * np.outer(np.arange(size) + 0.5, np.arange(size))) * np.sqrt(2 / size)
    waves[:, 0] = np.sqrt(1 / size)
    return np.asarray(np.kron(waves, waves)[:, 1:])
