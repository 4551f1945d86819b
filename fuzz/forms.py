"""One collection in every form in which it can be given: matrices, tables, frames, groups; none may change a bit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from stickbreak.corpus import Corpus, GroupedVectors

Forms = dict[str, Any]

WHOLE_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
ARRAYS = {"csr": sparse.csr_array, "csc": sparse.csc_array, "coo": sparse.coo_array, "lil": sparse.lil_array}


def of_counts(counts: np.ndarray) -> Forms:
    """Return the forms of a table of small whole counts (D, W)."""
    n_words, matrix = counts.shape[1], sparse.csr_matrix(counts)
    names = [f"word{w}" for w in range(n_words)]
    forms: Forms = {"Corpus": Corpus.from_counts(matrix), "Corpus of words": Corpus.from_counts(matrix, names)}
    forms |= {kind: matrix.asformat(kind) for kind in FORMATS}
    forms |= {f"{kind}_array": make(matrix) for kind, make in ARRAYS.items()}
    forms |= {f"csr {name}": matrix.astype(name) for name in WHOLE_TYPES}
    forms |= {f"dense {name}": counts.astype(name) for name in WHOLE_TYPES}
    forms |= {
        "csr unsorted": _unsorted(matrix),
        "csr duplicates": _with_duplicates(matrix),
        "csc duplicates": _with_duplicates(matrix.T.tocsr()).T,
        "coo duplicates": _with_duplicates(matrix).tocoo(),
        "csr explicit zeros": _with_zeros(matrix),
        "coo explicit zeros": _with_zeros(matrix).tocoo(),
        "csr 64-bit indices": _with_long_indices(matrix),
        "csr read-only": _read_only(matrix),
        "csr big-endian": sparse.csr_matrix((matrix.data.astype(">i4"), matrix.indices, matrix.indptr), matrix.shape),
        "dense Fortran": np.asfortranarray(counts),
        "dense Fortran float32": np.asfortranarray(counts, dtype=np.float32),
        "dense big-endian": counts.astype(">f8"),
        "dense every second": np.repeat(np.repeat(counts, 2, axis=0), 2, axis=1)[::2, ::2],
        "dense backwards": np.ascontiguousarray(counts[::-1, ::-1])[::-1, ::-1],
        "dense read-only": _frozen(counts),
        "list of lists": counts.tolist(),
        "list of arrays": list(counts),
        "frame": pd.DataFrame(counts),
        "frame of words": pd.DataFrame(counts, columns=names, index=[f"document {d}" for d in range(len(counts))]),
        "frame float32": pd.DataFrame(counts.astype(np.float32)),
        "frame of mixed types": pd.DataFrame({w: counts[:, w].astype(WHOLE_TYPES[w % 10]) for w in range(n_words)}),
        "frame nullable": pd.DataFrame(counts).astype("Int64"),
        "frame sparse": pd.DataFrame.sparse.from_spmatrix(matrix),
        "frame sparse float": pd.DataFrame.sparse.from_spmatrix(matrix.astype(np.float64)),
    }
    return forms


def of_vectors(values: np.ndarray) -> Forms:
    """Return the forms of one table of vectors (N, dim)."""
    return {
        "array": values,
        "Fortran": np.asfortranarray(values),
        "every second": np.repeat(values, 2, axis=0)[::2],
        "backwards": np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1],
        "read-only": _frozen(values),
        "frame": pd.DataFrame(values),
        "frame of names": pd.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])]),
        **(
            {} if values.dtype == np.float32 else {"list of lists": values.tolist(), "big-endian": values.astype(">f8")}
        ),
    }


def of_groups(groups: GroupedVectors) -> Forms:
    """Return the forms of groups of vectors; a table has no empty groups."""
    values, label = groups.values, np.repeat(np.arange(groups.n_groups), groups.group_sizes)
    table = pd.DataFrame(values, columns=[f"x{j}" for j in range(groups.dim)])
    table["group"] = [f"group {g:03}" for g in label]
    apart = np.argsort(np.arange(label.size) - groups.offsets[label], kind="stable")  # all first ones, all second ones
    tables = {"from_table": table, "from_table, groups apart": table.iloc[apart]} if groups.group_sizes.all() else {}
    return {
        "GroupedVectors": groups,
        "from_values": GroupedVectors.from_values(values.copy(), groups.offsets.astype(np.int32)),
        "from_values Fortran": GroupedVectors.from_values(np.asfortranarray(values), groups.offsets.tolist()),
        "from_values every second": GroupedVectors.from_values(np.repeat(values, 2, axis=0)[::2], groups.offsets),
        "from_values read-only": GroupedVectors.from_values(_frozen(values), groups.offsets),
        "from_arrays": GroupedVectors.from_arrays(iter(groups)),
        "from_arrays with names": GroupedVectors.from_arrays(groups, [f"{g}" for g in range(groups.n_groups)]),
        **{name: GroupedVectors.from_table(made, "group") for name, made in tables.items()},
        "all selected": groups[np.arange(groups.n_groups)],
        "list of arrays": list(groups),
        "tuple of Fortran arrays": tuple(np.asfortranarray(array) for array in groups),
        **({} if values.dtype == np.float32 else {"list of lists": [array.tolist() for array in groups]}),
    }


def state_of(X: Any) -> bytes:
    """Return all that a form holds: its numbers, places, types, and whether it may be written to."""
    if isinstance(X, Corpus):
        return state_of(X.counts)
    if isinstance(X, GroupedVectors):
        return state_of(X.values) + state_of(X.offsets)
    if isinstance(X, np.ndarray):
        return f"{X.dtype} {X.shape} {X.strides} {X.flags.writeable} ".encode() + X.tobytes("A")
    if sparse.issparse(X) and X.format in ("csr", "csc", "coo", "bsr", "dia"):
        names = {"coo": ("row", "col"), "dia": ("offsets",)}.get(X.format, ("indices", "indptr"))
        sums = [X.has_canonical_format, X.has_sorted_indices] if X.format in ("csr", "csc") else []
        return repr((type(X), X.shape, sums)).encode() + b"".join(state_of(getattr(X, n)) for n in ("data", *names))
    if isinstance(X, pd.DataFrame):
        return f"{X.dtypes.tolist()} {X.to_csv()}".encode()
    return pickle.dumps(X)


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return some of the documents or vectors, in this order."""
    return X[rows]


def _each_row(matrix: Any, change: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]) -> Any:
    """Return the CSR matrix whose rows are (indices, data) after `change`."""
    rows = [change(matrix.indices[a:b], matrix.data[a:b]) for a, b in zip(matrix.indptr, matrix.indptr[1:])]  # noqa: B905
    indptr = np.concatenate(([0], np.cumsum([indices.size for indices, _ in rows]))).astype(np.int32)
    indices, data = (np.concatenate([row[i] for row in rows]) for i in (0, 1))
    return sparse.csr_matrix((data, indices, indptr), shape=matrix.shape)


def _unsorted(matrix: Any) -> Any:
    return _each_row(matrix, lambda indices, data: (indices[::-1], data[::-1]))


def _with_duplicates(matrix: Any) -> Any:
    """Every count above one is cut in two, at both ends of its row."""

    def cut(indices: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        large = data > 1
        return np.append(indices, indices[large]), np.append(data - large, np.ones(large.sum(), data.dtype))

    return _each_row(matrix, cut)


def _with_zeros(matrix: Any) -> Any:
    """Every row has a stored zero at its first and last column, where there is none."""

    def add(indices: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        free = np.setdiff1d([0, matrix.shape[1] - 1], indices).astype(indices.dtype)
        order = np.argsort(both := np.append(indices, free))
        return both[order], np.append(data, np.zeros(free.size, data.dtype))[order]

    return _each_row(matrix, add)


def _with_long_indices(matrix: Any) -> Any:
    made = matrix.copy()  # the constructor would make them short again
    made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


def _read_only(matrix: Any) -> Any:
    made = matrix.copy()
    for array in (made.data, made.indices, made.indptr):
        array.flags.writeable = False
    return made


def _frozen(array: np.ndarray) -> np.ndarray:
    made = array.copy()
    made.flags.writeable = False
    return made
