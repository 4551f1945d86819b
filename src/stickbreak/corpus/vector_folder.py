"""The folder of grouped vectors: plain arrays that open memory-mapped, and the names of the groups as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from stickbreak.corpus.arguments import checked_path
from stickbreak.corpus.patch_shape import PatchShape
from stickbreak.corpus.stored import open_array, read_meta, read_strings, write_strings
from stickbreak.corpus.vectors import GroupedVectors
from stickbreak.exceptions import InputError, ReadError, WriteError
from stickbreak.storage.atomic import replace_folder
from stickbreak.storage.places import PathLike

__all__ = ["is_vector_folder", "open_vectors", "patches_in", "vectors_being_written", "write_vectors"]

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
    """Yield the memory-mapped values of a new folder of vectors to fill; the folder appears when the block ends.

    Parameters
    ----------
    path : str or PathLike
        The folder to make.
    offsets : ndarray of shape (G + 1,)
        As in `GroupedVectors`.
    dim : int
        Dimension of the vectors.
    dtype : float32 or float64
        Dtype of the values.
    names : sequence of str of length G, or None
        The names of the groups.
    patches : PatchShape, optional
        The shape of the patches, if the vectors are patches of images.
    overwrite : bool
        As in `write_vectors`.

    Yields
    ------
    ndarray of shape (N, dim)
    """
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
    """Tell whether a folder says that it holds vectors.

    Parameters
    ----------
    path : Path
        Anything.
    """
    return (path / _HEAD).is_file()


def patches_in(path: Path) -> PatchShape | None:
    """Return which patches of images a folder holds; None where it does not say, or says what its vectors are not.

    Parameters
    ----------
    path : Path
        A folder of vectors.

    Raises
    ------
    ReadError
        As `open_vectors`.
    """
    meta = read_meta(path, _HEAD, _FIELDS, what="vectors", version=_VERSION)
    patches = PatchShape.from_plain(meta.get("patches"))
    return patches if patches is not None and patches.dim == meta["dim"] else None
