"""Checks at the door: what cannot be a corpus is refused in one sentence; the rest is trusted from here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.arguments import wrong_input
from stickbreak.corpus.csr import row_of_entry
from stickbreak.exceptions import InvalidCorpus
from stickbreak.storage.memory import memory_installed

_LARGEST_COUNT = np.iinfo(np.int32).max
_BYTES_OF_A_ROW = 32  # its place, its length, and as much again for what works on them
_BYTES_OF_AN_ENTRY = 8  # at least; they are in the memory already
_FEWEST = 10  # rows and columns, from which on one of them can stand out
_MUCH = 0.3  # of all counts, in one column: the most frequent word of a language has less than a tenth
_IN_NEARLY_ALL = 0.95  # of the rows


def canonical_counts(X: Any) -> sp.csr_matrix:
    """Check counts and bring them into the one form that the rest of stickbreak relies on."""
    matrix = _as_csr(X)
    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        what = "documents (rows)" if matrix.shape[0] == 0 else "words (columns)"
        raise InvalidCorpus(f"counts of shape {matrix.shape} have no {what}; a corpus needs at least one of each")
    _check_values(matrix)
    _check_size(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.astype(np.int64) if matrix.dtype.kind in "biu" else matrix.copy()  # sums must not wrap around
        matrix.sum_duplicates()
    if not np.all(matrix.data):
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return _with_dtype(matrix)


def checked_sparse(X: Any) -> Any:
    """Check a sparse matrix inside, then bring it into rows: compiled code would follow broken arrays anywhere."""
    if not sp.issparse(X):
        return X
    X = cast(Any, X)  # SciPy's stubs narrow it to a class that has no methods
    if len(X.shape) != 2:
        raise InvalidCorpus(f"counts must have two dimensions (documents, words), not {len(X.shape)}")
    if X.dtype.kind not in "biuf":
        raise InvalidCorpus(f"counts must be numbers, not of dtype {X.dtype}; pass integer or float counts")
    try:
        if X.format in ("csr", "csc", "bsr"):
            _check_numbers(X.indices, X.indptr, X.data)
            if X.indptr.size and (X.indptr[0] != 0 or (X.indptr[1:] < X.indptr[:-1]).any()):  # SciPy passes some over
                raise ValueError("its indptr must begin with 0 and never fall")
            sound = type(X)((X.data, X.indices, X.indptr), shape=X.shape)  # with the same arrays: X stays as it is
            sound.check_format(full_check=True)
            X = sound
        elif X.format != "dia":
            X = _coordinates(X)
        X = _summable(X)
        return X if X.format == "csr" else _rows(X)
    except (TypeError, ValueError, ArithmeticError, IndexError, AttributeError) as error:
        if isinstance(error, InvalidCorpus):
            raise
        said = " ".join(f"{error}".split())
        raise InvalidCorpus(f"the sparse matrix of counts is broken inside: {said:.120}; build it again") from error


def _check_numbers(indices: Any, indptr: Any, data: Any) -> None:
    """Refuse arrays that SciPy's own check would follow, or copy with other numbers."""
    for name, array in (("indices", indices), ("indptr", indptr)):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind != "i":
            raise ValueError(f"its {name} are not an array of signed integers of one dimension")
    if not isinstance(data, np.ndarray):
        raise ValueError("its values are no array")


def _coordinates(X: Any) -> Any:
    """Return coordinates that are inside of the shape, of a matrix of coordinates, lists or keys."""
    X = X.tocoo(copy=False)
    _check_numbers(X.row, X.col, X.data)
    return sp.coo_matrix((X.data, (X.row, X.col)), shape=X.shape)


def _summable(X: Any) -> Any:
    """Return float16 as float32: SciPy neither sorts such values nor adds them up."""
    return X.astype(np.float32) if X.dtype == np.float16 else X


def _rows(X: Any) -> Any:
    """Convert a sound sparse matrix of another format into rows."""
    if X.format == "dia":  # a diagonal outside of the shape holds nothing, and its number may overflow
        if np.asarray(X.offsets).dtype.kind != "i":
            raise ValueError("its offsets are no whole numbers")
        offsets = np.asarray(X.offsets, np.int64)
        if np.unique(offsets).size < offsets.size or offsets.size != len(X.data):
            raise ValueError("its offsets are not one for each diagonal")
        inside = (offsets > -X.shape[0]) & (offsets < X.shape[1])
        X = sp.dia_matrix((X.data[inside], offsets[inside]), shape=X.shape)
    needed, installed = _BYTES_OF_A_ROW * X.shape[0] + _BYTES_OF_AN_ENTRY * X.nnz, memory_installed()
    too_large = (
        f"counts of shape {tuple(X.shape)} with {X.nnz} entries need about {needed / 2**30:.3g} GiB in rows, more than "
        "this machine has; leave out empty documents"
    )
    if needed > installed:
        raise InvalidCorpus(too_large)
    if X.format == "coo" and X.dtype.kind in "biu":
        if X.nnz and X.data.max() > _LARGEST_COUNT:
            at = int(X.data.argmax())
            raise InvalidCorpus(_too_large(f"the count in row {X.row[at]}, column {X.col[at]} is {X.data[at]}"))
        if X.dtype.kind == "b" or (X.nnz and (X.data.min() < 0 or X.data.sum() > np.iinfo(X.dtype).max)):
            X = X.astype(np.int64)  # its duplicates are added up, and a sum must not wrap around
    try:
        return X.tocsr()
    except MemoryError as error:
        raise InvalidCorpus(too_large) from error


def _as_csr(X: Any) -> sp.csr_matrix:
    matrix: sp.csr_matrix
    if sp.issparse(X):
        matrix = sp.csr_matrix(checked_sparse(X))
    else:
        matrix = sp.csr_matrix(_as_dense(X))
    if matrix.dtype.kind not in "biuf":
        raise InvalidCorpus(f"counts must be numbers, not of dtype {matrix.dtype}; pass integer or float counts")
    return matrix


def _as_dense(X: Any) -> np.ndarray:
    wrong = wrong_input(X)
    if wrong is None:
        try:
            array = np.asarray(X)
            wrong = wrong_input(array)  # of lists
            if wrong is None and array.dtype == object:
                array = _without_missing(X) if hasattr(X, "iloc") else array.astype(np.float64)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            message = f"counts must be numbers in a table of documents x words; this is not: {error}"
            raise InvalidCorpus(message) from None
    if wrong is not None:
        raise InvalidCorpus(wrong.of_counts()) from None
    if array.ndim != 2:
        raise InvalidCorpus(f"counts must have two dimensions (documents, words), not {array.ndim}")
    if array.dtype.kind not in "biuf":
        raise InvalidCorpus(f"counts must be numbers, not of dtype {array.dtype}; pass integer or float counts")
    array = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    return cast(np.ndarray, _summable(array))


def _without_missing(table: Any) -> np.ndarray:
    """Return a table with columns of several types, what is missing as NaN."""
    if not table.shape[1]:
        return np.empty(table.shape)
    return np.column_stack(
        [np.asarray(table.iloc[:, j].to_numpy(dtype=np.float64, na_value=np.nan)) for j in range(table.shape[1])]
    )


def _check_values(matrix: sp.csr_matrix) -> None:
    """Refuse the first entry that is NaN, infinite or negative, naming its place."""
    data = matrix.data
    if data.size == 0 or data.dtype.kind in "bu":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = data.dtype.kind == "f" and not np.isfinite(data.sum(dtype=np.float64))
    if suspect:  # some value is not finite, or only their sum
        broken = np.flatnonzero(~np.isfinite(data))
        if broken.size:
            raise InvalidCorpus(
                _entry(matrix, int(broken[0])) + "; counts must be finite (neither NaN nor inf), so remove or repair it"
            )
    if data.min() < 0:
        at = int(np.flatnonzero(data < 0)[0])
        raise InvalidCorpus(_entry(matrix, at) + "; counts cannot be negative (Negative values in data)")


def _check_size(matrix: sp.csr_matrix) -> None:
    if matrix.data.size and matrix.data.max() > _LARGEST_COUNT:
        raise InvalidCorpus(_too_large(_entry(matrix, int(matrix.data.argmax()))))


def _too_large(entry: str) -> str:
    return f"{entry}; counts above {_LARGEST_COUNT} are not supported, so scale them down"


def _entry(matrix: sp.csr_matrix, at: int) -> str:
    return f"the count in row {row_of_entry(matrix, at)}, column {int(matrix.indices[at])} is {matrix.data[at]}"


def _with_dtype(matrix: sp.csr_matrix) -> sp.csr_matrix:
    data = matrix.data
    whole = data.dtype.kind != "f" or bool(np.all(data == np.floor(data)))
    _check_size(matrix)  # of the sums
    wanted = np.int32 if whole else np.float64
    return matrix if data.dtype == wanted else matrix.astype(wanted)


def checked_vocabulary(vocabulary: Iterable[str] | None, shape: tuple[int, int]) -> tuple[str, ...] | None:
    """Check that a vocabulary names every column once."""
    if vocabulary is None:
        return None
    words = _strings(vocabulary, "the vocabulary")
    if len(words) != shape[1]:
        hint = "; words seem to be in the rows, so transpose the counts" if len(words) == shape[0] else ""
        raise InvalidCorpus(
            f"the vocabulary has {len(words)} words but the counts have {shape[1]} columns"
            + (hint or "; give the vocabulary that belongs to these counts")
        )
    if len(set(words)) < len(words):
        seen: dict[str, int] = {}
        for column, word in enumerate(words):
            if word in seen:
                raise InvalidCorpus(
                    f"the vocabulary holds {word!r} twice, for the columns {seen[word]} and {column}; "
                    "add up these columns or rename one"
                )
            seen[word] = column
    return words


def checked_names(names: Iterable[str] | None, shape: tuple[int, int]) -> tuple[str, ...] | None:
    """Check that there is a name for each document (two documents may bear the same)."""
    if names is None:
        return None
    checked = _strings(names, "the list of document names")
    if len(checked) != shape[0]:
        raise InvalidCorpus(
            f"there are {len(checked)} document names for {shape[0]} documents; give one name for each document"
        )
    return checked


def _strings(values: Iterable[str], what: str) -> tuple[str, ...]:
    if isinstance(values, str):
        raise InvalidCorpus(f"{what} is one string ({values[:40]!r}); give a list of strings")
    if not isinstance(values, Iterable):
        raise InvalidCorpus(f"{what} is {values!r:.40}; give a list of strings")
    strings = tuple(values)
    for position, value in enumerate(strings):
        if not isinstance(value, str):
            raise InvalidCorpus(f"{what} holds {value!r} at position {position}, which is not a string; give strings")
    return tuple(str(value) for value in strings)  # numpy's str_ become plain str


def columns_of_no_counts(counts: sp.csr_matrix) -> list[int]:
    """Return columns that outweigh all others and are in nearly all rows, as ids, years, prices and times are."""
    D, W = counts.shape
    if min(D, W) < _FEWEST:
        return []
    totals = np.bincount(counts.indices, counts.data, W)
    left, found = totals.sum(), []
    for column in map(int, np.argsort(-totals, kind="stable")[: W // _FEWEST]):
        if totals[column] <= _MUCH * left or (counts.indices == column).sum() < _IN_NEARLY_ALL * D:
            break
        found.append(column)
        left -= totals[column]
    return found
