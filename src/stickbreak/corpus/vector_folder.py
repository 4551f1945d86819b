"""Folders of vectors that open memory-mapped, and the shape of patches of images."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from stickbreak.corpus.arguments import checked_path
from stickbreak.corpus.array_files import open_array, read_meta, read_strings, write_strings
from stickbreak.corpus.vectors import GroupedVectors
from stickbreak.exceptions import InputError, ReadError, WriteError
from stickbreak.storage.atomic import replace_folder
from stickbreak.storage.places import PathLike

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


_HEAD = "vectors.json"
_VERSION = 1
_FIELDS = ("n_groups", "n_vectors", "dim", "names")
_BLOCK = 1 << 22  # numbers that are copied at once


def write_vectors(vectors: GroupedVectors, path: PathLike, overwrite: bool = False) -> None:
    """Write grouped vectors as a folder, complete or not at all.

    Parameters
    ----------
    vectors : GroupedVectors
        What to write.
    path : str or PathLike
        The folder to make.
    overwrite : bool
        Whether an existing folder of vectors may be replaced. Anything else is never replaced.

    Raises
    ------
    WriteError
        If the folder exists and may not be replaced, or cannot be written.
    InputError
        If there are no vectors.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "vectors"
    >>> write_vectors(GroupedVectors.from_arrays([[[0.5, 1.0]], [[2.0, 3.0]]]), path)
    >>> open_vectors(path)
    GroupedVectors(2 groups, 2 vectors of 2 float64)
    """
    if not vectors.n_vectors:
        raise InputError("there are no vectors to write; give groups with at least one vector")
    source, step = vectors.values, max(_BLOCK // max(vectors.dim, 1), 1)
    with vectors_being_written(
        path, vectors.offsets, vectors.dim, source.dtype, vectors.names, overwrite=overwrite
    ) as values:
        for start in range(0, len(source), step):
            values[start : start + step] = source[start : start + step]


@contextmanager
def vectors_being_written(
    path: PathLike,
    offsets: np.ndarray,
    dim: int,
    dtype: DTypeLike,
    names: Sequence[str] | None,
    *,
    patches: PatchShape | None = None,
    overwrite: bool = False,
) -> Iterator[np.ndarray]:
    """Yield the memory-mapped values of a new folder of vectors to fill; the folder appears when the block ends."""
    target = checked_path(path, "write_vectors")
    if overwrite and target.exists() and not (target / _HEAD).is_file():
        raise WriteError(f"{target} exists and is not a folder of vectors, so it is not replaced; choose another name")
    meta = {
        "kind": "stickbreak vectors",
        "version": _VERSION,
        "n_groups": offsets.size - 1,
        "n_vectors": int(offsets[-1]),
        "dim": dim,
        "names": names is not None,
        **({} if patches is None else {"patches": patches.as_plain()}),
    }
    with replace_folder(target, overwrite=overwrite) as folder:
        shape = (int(offsets[-1]), dim)
        values = np.lib.format.open_memmap(folder / "values.npy", mode="w+", dtype=np.dtype(dtype), shape=shape)
        yield values
        values.flush()
        del values
        np.save(folder / "offsets.npy", offsets)
        write_strings(folder / "names.jsonl", names)
        (folder / _HEAD).write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")


def open_vectors(path: PathLike) -> GroupedVectors:
    """Open a folder of vectors; the values stay on disk and are read as they are used.

    Parameters
    ----------
    path : str or PathLike
        A folder written by `write_vectors`, or by `read_patches` with `out`.

    Returns
    -------
    GroupedVectors
        Its values are read-only and memory-mapped. They are read through once, to check that they are finite.

    Raises
    ------
    ReadError
        If it is not a folder of vectors, of a newer version, incomplete or damaged.
    """
    folder = Path(path)
    meta = read_meta(folder, _HEAD, _FIELDS, what="vectors", version=_VERSION)
    values, offsets = (open_array(folder / f"{name}.npy", "vectors") for name in ("values", "offsets"))
    shape = (meta["n_vectors"], meta["dim"])
    if (
        values.shape != shape
        or offsets.shape != (meta["n_groups"] + 1,)
        or values.dtype not in (np.float32, np.float64)
    ):
        raise ReadError(f"{folder} is damaged: its arrays do not match {_HEAD}; write the vectors again")
    names = read_strings(folder / "names.jsonl", meta["n_groups"], "vectors") if meta["names"] else None
    try:
        return GroupedVectors.from_values(values, np.array(offsets), names)
    except InputError as error:
        raise ReadError(f"{folder} is damaged: {error}; write the vectors again") from error


def is_vector_folder(path: Path) -> bool:
    """Tell whether a folder says that it holds vectors."""
    return (path / _HEAD).is_file()


def patches_in(path: Path) -> PatchShape | None:
    """Return which patches of images a folder holds; None where it does not say, or says what its vectors are not."""
    meta = read_meta(path, _HEAD, _FIELDS, what="vectors", version=_VERSION)
    patches = PatchShape.from_plain(meta.get("patches"))
    return patches if patches is not None and patches.dim == meta["dim"] else None
