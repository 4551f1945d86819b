"""Counts in SciPy's .npz: an archive whose members are the arrays of a sparse matrix.

SciPy's own reader is not used: it believes what the members say of their sizes, and what the arrays say of each other.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.npy_header import read_array_header
from stickbreak.corpus.reading.files import reading
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.sparse_checks import fault_of_coordinates, fault_of_diagonals, fault_of_rows
from stickbreak.exceptions import ReadError
from stickbreak.storage.plain_files import open_file

__all__ = ["read_npz"]

_PIECE = 1 << 24  # bytes read at once
_BROKEN_ARCHIVE = (  # all that zipfile and the decompressors raise
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,  # also for what is not built into zipfile
    UnicodeDecodeError,
    ValueError,
    OverflowError,
)


def read_npz(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Any:
    """Read a sparse matrix written by scipy.sparse.save_npz.

    Parameters
    ----------
    path : Path
        The file; pickled content is never loaded.
    limits : ReadLimits
        How much its members may hold unpacked, and how far the shape is believed.

    Returns
    -------
    scipy sparse matrix of shape (D, W)
        In the format that it was written in; its arrays are sound.

    Raises
    ------
    ReadError
        If the file does not hold such a matrix, or asks for more than its bytes make credible.
    """
    with reading(path), open_file(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        with _unpacking(path, "the archive"):
            archive = zipfile.ZipFile(file)
        with archive:
            return _matrix(_Members(path, archive, limits, limits.most_unpacked(size)), limits)


@dataclass(slots=True)
class _Members:
    """The arrays of an archive, each read once it is asked for."""

    path: Path
    archive: zipfile.ZipFile
    limits: ReadLimits
    most: int  # bytes of a member
    n_bytes: int = 0  # read so far
    names: dict[str, list[zipfile.ZipInfo]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for member in self.archive.infolist():
            self.names.setdefault(member.filename.removesuffix(".npy"), []).append(member)

    def fault(self, what: str) -> ReadError:
        return ReadError(f"{self.path} does not hold a SciPy sparse matrix ({what}); write it by scipy.sparse.save_npz")

    def array(self, name: str, kinds: str, n_dimensions: int | None) -> np.ndarray:
        """Read an array of a kind of numbers that has as many dimensions; None: any."""
        members = self.names.get(name, [])
        if len(members) != 1:
            raise self.fault(f"it has {len(members) or 'no'} members {name!r}")
        array = self._unpacked(members[0], name)
        if array.dtype.kind not in kinds:
            raise self.fault(f"its member {name!r} has the dtype {array.dtype}")
        if n_dimensions is not None and array.ndim != n_dimensions:
            raise self.fault(f"its member {name!r} has {array.ndim} dimensions, not {n_dimensions}")
        return array.astype(np.int64) if array.dtype.kind == "u" and kinds == "iu" else array

    def _unpacked(self, member: zipfile.ZipInfo, name: str) -> np.ndarray:
        if member.file_size > self.most:
            raise ReadError(
                f"{self.path} unpacks its member {name!r} to {member.file_size} bytes; if that is right, raise the "
                f"limit with --max-unpacked-bytes (in Python: limits=ReadLimits(unpacked_bytes={member.file_size}))"
            )
        with _unpacking(self.path, f"its member {name!r}"), self.archive.open(member) as content:
            header = read_array_header(content)
            if header is None:
                raise self.fault(f"its member {name!r} is not an array of plain numbers")
            dtype, shape, order, n_header = header
            n_bytes = prod(shape) * dtype.itemsize
            if n_bytes > member.file_size - n_header:
                raise self.fault(f"its member {name!r} says {n_bytes} bytes but has {member.file_size - n_header}")
            array = np.empty(prod(shape), dtype)
            self._fill(array.view(np.uint8).data if n_bytes else memoryview(b""), content, name)
        self.n_bytes += n_header + n_bytes
        return array.reshape(shape, order=order).astype(dtype.newbyteorder("="), copy=False)

    def _fill(self, into: memoryview, content: IO[bytes], name: str) -> None:
        at = 0
        while at < len(into):
            piece = content.read(min(_PIECE, len(into) - at))
            if not piece:
                raise self.fault(f"its member {name!r} ends too early")
            into[at : at + len(piece)] = piece
            at += len(piece)


@contextmanager
def _unpacking(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except ReadError:
        raise
    except _BROKEN_ARCHIVE as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        raise ReadError(
            f"{path} does not hold a SciPy sparse matrix ({what} cannot be unpacked: {said:.80}); "
            "write it by scipy.sparse.save_npz"
        ) from error
    except MemoryError as error:
        raise ReadError(f"{path} does not fit into the memory; {what} is too large for this machine") from error


def _matrix(members: _Members, limits: ReadLimits) -> Any:
    kind = members.array("format", "SU", None)
    if kind.size != 1:
        raise members.fault("its member 'format' is not one word")
    word = kind.reshape(-1)[0]
    format = word.decode("latin-1") if isinstance(word, bytes) else str(word)
    shape = _shape(members)
    if format not in ("csr", "csc", "bsr", "coo", "dia"):
        raise members.fault(f"its format is {format!r:.40}")
    data = members.array("data", "biufc", {"bsr": 3, "dia": 2}.get(format, 1))
    if data.dtype.kind == "c":
        raise ReadError(f"{members.path} holds complex numbers; counts must be real")
    if format == "coo":
        rows, columns = _coordinates(members)
        fault = fault_of_coordinates(shape, data, (rows, columns))
    elif format == "dia":
        offsets = members.array("offsets", "iu", 1)
        fault = fault_of_diagonals(data, offsets)
    else:
        indices, indptr = members.array("indices", "iu", 1), members.array("indptr", "iu", 1)
        fault = fault_of_rows(format, shape, data, indices, indptr)
    if fault:
        raise ReadError(f"{members.path} holds a broken sparse matrix: {fault}; write it again")
    limits.check_shape(members.path, shape, members.n_bytes)
    if data.dtype == np.float16:  # which SciPy does not have
        data = data.astype(np.float32)
    if format == "coo":
        return sp.coo_matrix((data, (rows, columns)), shape=shape)
    if format == "dia":
        inside = (offsets > -shape[0]) & (offsets < shape[1])  # SciPy keeps the numbers of diagonals in fewer bits
        return sp.dia_matrix((data[inside], offsets[inside]), shape=shape)
    classes = {"csr": sp.csr_matrix, "csc": sp.csc_matrix, "bsr": sp.bsr_matrix}
    return classes[format]((data, indices, indptr), shape=shape)


def _shape(members: _Members) -> tuple[int, int]:
    sizes = members.array("shape", "iu", 1)
    if sizes.size != 2:
        raise ReadError(f"{members.path} holds a matrix of {sizes.size} dimensions; two are needed (documents, words)")
    if sizes.min() < 0:
        raise members.fault(f"its shape is {tuple(sizes.tolist())}")
    return int(sizes[0]), int(sizes[1])


def _coordinates(members: _Members) -> tuple[np.ndarray, np.ndarray]:
    if "coords" not in members.names:
        return members.array("row", "iu", 1), members.array("col", "iu", 1)
    coordinates = members.array("coords", "iu", 2)
    if len(coordinates) != 2:
        raise members.fault(f"its member 'coords' has {len(coordinates)} rows, not 2")
    return coordinates[0], coordinates[1]
