"""Vectors that jobs name: held in memory, or in a folder that all workers see, which each opens once."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.batches import Cut
from stickbreak.exceptions import ReadError
from stickbreak.fitting.engine import Workers
from stickbreak.likelihoods import VectorLikelihood
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.variational.documents import runs
from stickbreak.variational.vectors.batch import VectorBatch

VALUES, OFFSETS = "values.npy", "offsets.npy"


@dataclass(frozen=True, slots=True)
class Vectors:
    """What is fitted: vectors in groups, or each in a group of its own (`offsets` None)."""

    values: NDArray  # (N, dim)
    offsets: NDArray[np.int64] | None  # (G + 1,)

    @property
    def n_tokens(self) -> int:
        """Vectors."""
        return len(self.values)

    @property
    def n_documents(self) -> int:
        """Groups, or vectors."""
        return len(self.values) if self.offsets is None else self.offsets.size - 1

    def load(self) -> Vectors:
        """Return the vectors themselves."""
        return self

    def batch(self, rows: NDArray[np.int64], likelihood: VectorLikelihood, dtype: type[np.floating]) -> VectorBatch:
        """Return some of the groups (or vectors) as a batch that counts from the likelihood's origin.  math.md (E10)"""
        if self.offsets is None:
            indptr, place = np.arange(rows.size + 1), rows
        else:
            indptr, place = runs(self.offsets, rows)
        values, origin = self.values[place], likelihood.origin
        if origin.any():  # in float64: a cast before it would lose the digits of vectors far from zero
            values = values - origin
        return VectorBatch(likelihood.from_origin(), np.ascontiguousarray(values, dtype=dtype), indptr)


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """Vectors in a folder."""

    folder: str

    def load(self) -> Vectors:
        """Open them.

        Raises
        ------
        ReadError
            If the folder is gone.
        """
        return _opened(self.folder)


def reachable(vectors: Vectors, workers: Workers | None) -> Vectors | StoredVectors:
    """Return vectors as jobs name them; workers find them in a folder."""
    if workers is None:
        return vectors
    with told_as_write_error(workers.scratch):
        folder = Path(tempfile.mkdtemp(prefix="vectors-", dir=workers.scratch))
        np.save(folder / VALUES, vectors.values)
        if vectors.offsets is not None:
            np.save(folder / OFFSETS, vectors.offsets)
    return StoredVectors(str(folder))


@lru_cache(maxsize=2)
def _opened(folder: str) -> Vectors:
    try:
        values = np.load(Path(folder) / VALUES, mmap_mode="r")
        grouped = (Path(folder) / OFFSETS).exists()
        return Vectors(values, np.load(Path(folder) / OFFSETS) if grouped else None)
    except OSError as error:
        raise ReadError(f"{folder} cannot be read ({error.strerror}); leave it alone while a fit runs.") from None


@dataclass(frozen=True, slots=True)
class BatchOfVectors:
    """Vectors of a batch, which are read when they are visited."""

    vectors: Vectors | StoredVectors
    likelihood: VectorLikelihood
    dtype: type[np.floating]
    cut: Cut

    def __call__(self) -> VectorBatch:
        """Read them."""
        return self.vectors.load().batch(self.cut.rows(), self.likelihood, self.dtype)
