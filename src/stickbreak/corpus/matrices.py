"""Counts as matrix files of documents x words: Matrix Market, SciPy .npz."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.files import open_binary, reading
from stickbreak.corpus.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.exceptions import ReadError

__all__ = ["read_matrix_market", "read_npz"]


def read_matrix_market(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> sp.csr_matrix:
    """Read a Matrix Market file.

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped; sparse ("coordinate") or dense ("array").

    Returns
    -------
    csr_matrix of shape (D, W)

    Raises
    ------
    ReadError
        When the file cannot be read or is malformed; SciPy's message names the line.
    """
    from scipy.io import mmread

    with open_binary(path, limits) as file:
        try:
            matrix = mmread(file)
        except (ValueError, OverflowError) as error:
            raise ReadError(
                f"{path} is not a readable Matrix Market file ({error}); repair or write it anew"
            ) from error
    return _real(sp.csr_matrix(matrix), path)


def read_npz(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> sp.csr_matrix:
    """Read a sparse matrix written by scipy.sparse.save_npz.

    Parameters
    ----------
    path : Path
        The file; pickled content is never loaded.

    Returns
    -------
    csr_matrix of shape (D, W)

    Raises
    ------
    ReadError
        When the file is no such matrix.
    """
    with reading(path):
        try:
            with open(path, "rb") as file:
                matrix = sp.load_npz(file)
        except (ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
            raise ReadError(
                f"{path} does not hold a SciPy sparse matrix ({error}); write it by scipy.sparse.save_npz"
            ) from error
    if matrix.ndim != 2:
        raise ReadError(f"{path} holds a matrix of {matrix.ndim} dimensions; two are needed (documents, words)")
    return _real(sp.csr_matrix(matrix), path)


def _real(matrix: sp.csr_matrix, path: Path) -> sp.csr_matrix:
    if np.iscomplexobj(matrix.data):
        raise ReadError(f"{path} holds complex numbers; counts must be real")
    return matrix
