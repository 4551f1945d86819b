"""Patches of grey images as grouped vectors: a group for each image."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from stickbreak.corpus.reading.files import reading
from stickbreak.corpus.vector_folder import PatchShape, open_vectors, patch_basis, vectors_being_written
from stickbreak.corpus.vectors import GroupedVectors
from stickbreak.exceptions import InputError, ReadError, StickbreakError
from stickbreak.storage.places import PathLike
from stickbreak.storage.plain_files import open_file

Mean = Literal["remove", "project", "keep"]

IMAGE_SUFFIXES = {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
_DAMAGED = (SyntaxError, ValueError, EOFError, IndexError, TypeError, struct.error)  # what Pillow says of such a file
_BLOCK = 1 << 16  # patches that are cut at once


def read_patches(
    source: PathLike | Sequence[PathLike],
    *,
    size: int = 8,
    n_patches: int | None = None,
    stride: int = 1,
    mean: Mean = "remove",
    dtype: DTypeLike = np.float32,
    seed: int = 0,
    out: PathLike | None = None,
    overwrite: bool = False,
) -> GroupedVectors:
    """Cut images into square patches, with one group for each image.

    Images are converted to grey, from 0 (black) to 1 (white). 16-bit images are divided by 65,535; images of floats are
    used as they are. Needs Pillow (`pip install "stickbreak[images]"`).

    Parameters
    ----------
    source : path, or sequence of paths
        A folder (including its subfolders; files that are not images are skipped), or image files.
    size : int
        Side of a patch.
    n_patches : int, optional
        Size of a random sample of the patches of each image, drawn without replacement and kept in order. The default
        is all patches.
    stride : int
        Distance in pixels from one patch to the next, in both directions. `size` gives patches that do not overlap.
    mean : {"remove", "project", "keep"}
        Whether the mean of each patch is subtracted. The patches then lie in a space of size^2 - 1 dimensions. "remove"
        returns size^2 pixels, whose covariance is singular. "project" returns size^2 - 1 coordinates in the orthonormal
        basis `patch_basis(size)`, whose covariance is not. "keep" leaves the mean in.
    dtype : float32 or float64
        Dtype of the values.
    seed : int
        Seed of the sample.
    out : path, optional
        A folder of vectors to write, image by image, and to open memory-mapped. Use it for more patches than fit in
        memory.
    overwrite : bool
        Whether such a folder may be replaced.

    Returns
    -------
    GroupedVectors
        Each group has the name of its image file.

    Raises
    ------
    InputError
        If Pillow is missing, there are no images, a patch does not fit into an image, or the numbers of an image are
        outside 0 to 1 (floats) or 0 to 65,535 (whole numbers of more than 8 bits).
    """
    dtype = _checked_dtype(dtype)
    if (
        not all(_is_positive(number) for number in (size, stride, 1 if n_patches is None else n_patches))
        or (size < 2 and mean != "keep")
        or mean not in ("remove", "project", "keep")
    ):
        raise InputError(
            f"there are no patches with size={size}, stride={stride}, n_patches={n_patches}, mean={mean!r}; give "
            "positive whole numbers (size 2 or more) and mean as 'remove', 'project' or 'keep'"
        )
    files, names = _image_files(source)
    counts = np.array([_n_patches(file, size, stride, n_patches) for file in files])
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    dim = size * size - (mean == "project")
    writing = (
        nullcontext(np.empty((int(offsets[-1]), dim), dtype))
        if out is None
        else vectors_being_written(
            out, offsets, dim, dtype, names, patches=PatchShape(size, mean == "project"), overwrite=overwrite
        )
    )
    with writing as values:
        for index, file in enumerate(files):
            rows = values[offsets[index] : offsets[index + 1]]
            _cut(_grey(file), rows, size, stride, mean, np.random.default_rng([seed % 2**64, index]))
    return GroupedVectors.from_values(values, offsets, names) if out is None else open_vectors(out)


def patches_of(image: np.ndarray, size: int = 8, *, mean: Mean = "remove") -> np.ndarray:
    """Return all patches of one grey image (height, width), row by row, ((height - size + 1) (width - size + 1), dim).

    Parameters
    ----------
    image : ndarray of shape (height, width)
        An image of floats.
    size : int
        Side of a patch.
    mean : {"remove", "project", "keep"}
        As in `read_patches`.

    Returns
    -------
    ndarray
        The patches, with the dtype of the image.
    """
    n = (image.shape[0] - size + 1) * (image.shape[1] - size + 1)
    values = np.empty((n, size * size - (mean == "project")), image.dtype)
    _cut(image, values, size, 1, mean, np.random.default_rng(0))
    return values


def _image_files(source: Any) -> tuple[list[Path], tuple[str, ...]]:
    if isinstance(source, (str, os.PathLike)):
        folder = Path(source)
        if not folder.exists():
            raise ReadError(f"{folder} does not exist; check the name")
        files = (
            [folder] if folder.is_file() else sorted(f for f in folder.rglob("*") if f.suffix.lower() in IMAGE_SUFFIXES)
        )
        root = folder.parent if folder.is_file() else folder
        names = tuple(file.relative_to(root).as_posix() for file in files)
    else:
        files = [Path(file) for file in source]
        names = tuple(file.name for file in files)
    if not files:
        raise InputError(
            f"there are no images in {source}; name a folder of images ({', '.join(sorted(IMAGE_SUFFIXES))})"
        )
    return files, names


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """Open an image; what Pillow says of it while it is read becomes a ReadError."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise InputError('images are read by Pillow, which is missing: pip install "stickbreak[images]"') from error
    with reading(file):
        try:
            open_file(file).close()  # Pillow would wait for a pipe
            with Image.open(file) as image:
                yield image
        except UnidentifiedImageError as error:
            raise ReadError(f"{file} is not an image that Pillow can read; remove it or convert it") from error
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise ReadError(f"{file} declares too many pixels; cut it into smaller images, or leave it out") from error
        except _DAMAGED as error:
            if isinstance(error, StickbreakError):
                raise
            said = " ".join(str(error).split())
            raise ReadError(f"{file} is a damaged image ({said:.80}); remove it or fetch it again") from error


def _n_patches(file: Path, size: int, stride: int, wanted: int | None) -> int:
    with _opened(file) as image:
        width, height = image.size
    if min(width, height) < size:
        raise InputError(f"{file} has {width} x {height} pixels, less than a patch of {size} x {size}; leave it out")
    n = ((height - size) // stride + 1) * ((width - size) // stride + 1)
    return n if wanted is None else min(n, wanted)


def _grey(file: Path) -> np.ndarray:
    """Return an image as grey numbers from 0 to 1, (height, width) float32."""
    with _opened(file) as image:
        image.load()
        if image.mode == "F" or image.mode.startswith("I"):  # one number of more than 8 bits a pixel
            largest = 1 if image.mode == "F" else 65_535
            numbers = np.asarray(image, dtype=np.float64)
            if not ((numbers >= 0) & (numbers <= largest)).all():  # also of NaN
                raise InputError(f"{file} (mode {image.mode}) holds numbers outside 0 to {largest}; scale them to it")
            return (numbers / largest).astype(np.float32)
        try:
            grey = image.convert("L")
        except ValueError as error:
            raise InputError(f"{file} is of mode {image.mode}, which cannot become grey; convert it to RGB") from error
        return np.asarray(grey, dtype=np.float32) / np.float32(255)


def _is_positive(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and int(number) >= 1


def _checked_dtype(dtype: DTypeLike) -> np.dtype:
    """Return float32 or float64 as a dtype."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if dtype is None or found not in (np.float32, np.float64):
        raise InputError(f"dtype is {dtype!r}; give float32 or float64")
    return found


def _cut(image: np.ndarray, out: np.ndarray, size: int, stride: int, mean: Mean, rng: np.random.Generator) -> None:
    """Fill `out` with patches of an image: all, or a sample of as many as there are rows."""
    windows = np.lib.stride_tricks.sliding_window_view(image, (size, size))[::stride, ::stride]
    n = windows.shape[0] * windows.shape[1]
    places = np.arange(n) if len(out) == n else np.sort(rng.choice(n, len(out), replace=False))
    basis = patch_basis(size) if mean == "project" else None
    for start in range(0, len(out), _BLOCK):
        row, column = np.divmod(places[start : start + _BLOCK], windows.shape[1])
        patches = windows[row, column].reshape(row.size, size * size).astype(np.float64)
        if mean == "remove":
            patches -= patches.mean(axis=1, keepdims=True)
        out[start : start + _BLOCK] = patches if basis is None else patches @ basis
