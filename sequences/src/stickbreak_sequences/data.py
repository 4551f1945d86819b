"""Sequences of vectors, or of symbols and their counts, as people have them and as a fit takes them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from stickbreak.corpus.arguments import is_missing
from stickbreak.corpus.splits import held_out_rows
from stickbreak.exceptions import InputError
from stickbreak.variational.documents import runs
from stickbreak_sequences.chain import Steps

ADVICE = "give a list of arrays, one for each sequence, or one array and `lengths`"


@dataclass(frozen=True)
class Sequences:
    """Steps of several sequences, one sequence after the other.

    Attributes
    ----------
    steps : ndarray of shape (N, dim), or csr_array of shape (N, W)
        A vector at each step; or the counts of W symbols.
    offsets : ndarray of shape (D + 1,)
        Sequence d is the steps offsets[d] to offsets[d + 1].
    symbols : tuple of str or None
        The names of the symbols; None of vectors.
    names : tuple of str
        The names of the sequences.
    columns : tuple of str or None
        The names of the columns, where X was a table.
    rows, order : ndarray of shape (N,) or None
        Of a table the row of each step, and its value in the column of the order.
    """

    steps: Steps
    offsets: NDArray[np.int64]
    symbols: tuple[str, ...] | None
    names: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    rows: NDArray[np.int64] | None = None
    order: NDArray | None = None

    @property
    def n_sequences(self) -> int:
        """Number of sequences D."""
        return self.offsets.size - 1

    n_documents = n_sequences

    @property
    def n_steps(self) -> int:
        """Number of steps N."""
        return int(self.offsets[-1])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Steps of each sequence, (D,)."""
        return np.diff(self.offsets)

    def __getitem__(self, rows: Any) -> Sequences:
        """Return some of the sequences, by their numbers, a slice or a mask."""
        rows = np.atleast_1d(np.arange(self.n_sequences)[rows])
        offsets, place = runs(self.offsets, rows)
        names = tuple(self.names[d] for d in rows)
        of_table = {
            what: None if of is None else of[place] for what, of in (("rows", self.rows), ("order", self.order))
        }
        return replace(self, steps=self.steps[place], offsets=offsets, names=names, **of_table)  # type: ignore[arg-type]

    def split(self, held_out: float, seed: int = 0) -> tuple[Sequences, Sequences]:
        """Hold out a share or number of the sequences; return the others and these."""
        held = held_out_rows(self.n_sequences, held_out, seed, "sequence")
        return self[~held], self[held]

    @classmethod
    def of(
        cls,
        X: Any,
        lengths: ArrayLike | None = None,
        sequence: Hashable | None = None,
        order: Hashable | None = None,
        *,
        symbols: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        date_format: str | None = None,
    ) -> Sequences:
        """Make sequences of what a person has.

        Parameters
        ----------
        X : Sequences, list, array or DataFrame
            A list of sequences; or all steps one after the other with `lengths`; or a table with a row for each step.
            A sequence is a table of numbers, (n, dim): a vector at each step; a flat row of whole numbers or texts: a
            symbol at each step; or a sparse table of counts, (n, W): counts of symbols at each step. One table or flat
            row alone is one sequence: each text of ["abcab", "bca"] is a symbol.
        lengths : array-like of int, optional
            Steps of each sequence, where X is one array.
        sequence, order : column names, optional
            Of a table: the column that says which sequence a row is of, and the one that orders its rows: numbers, or
            dates such as 2026-11-23. Without `order` they stay in their order. The other columns are the vectors, or
            one column of texts the symbols.
        symbols : sequence of str, optional
            The symbols of the fit. Others leave their step without an observation.
        columns : sequence of str, optional
            The columns of the vectors of the fit, which are taken from a table by their names.
        date_format : str, optional
            How dates in the column of the order are written, such as "%d.%m.%Y".

        Returns
        -------
        Sequences

        Raises
        ------
        InputError
            If that cannot be read as sequences.
        """
        if lengths is not None and (isinstance(X, Sequences) or hasattr(X, "groupby")):
            raise InputError(
                f"lengths cut one array, but X is a {type(X).__name__}; give sequence, or leave lengths out."
            )
        if isinstance(X, Sequences):
            return X._as(symbols, columns)
        if hasattr(X, "columns") and hasattr(X, "groupby"):
            return _of_table(X, sequence, order, columns, date_format)._as(symbols, columns)
        if sequence is not None or order is not None:
            raise InputError(f"sequence and order name columns, but X is a {type(X).__name__}; give a DataFrame.")
        if lengths is not None:
            whole: Any = sparse.csr_array(cast(Any, X)) if sparse.issparse(X) else _array(X, 0)
            sizes = _checked_lengths(lengths, whole.shape[0])
            cuts = np.concatenate(([0], np.cumsum(sizes)))
            X = [whole[a:b] for a, b in pairwise(cuts)]
        elif sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object):
            X = [X]
        if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
            raise InputError(f"X is a {type(X).__name__}; {ADVICE}.")
        X = list(X)
        if X and all(np.isscalar(part) or is_missing(part) for part in X):
            X = [X]
        parts = [part if sparse.issparse(part) else _array(part, d) for d, part in enumerate(X)]
        return _joined(parts, tuple(map(str, range(len(parts)))))._as(symbols, columns)

    def _as(self, symbols: Sequence[str] | None, columns: Sequence[str] | None) -> Sequences:
        """Return the same over the symbols or the columns of a fit."""
        if self.symbols is None and self.columns and columns and self.columns != tuple(columns):
            return replace(self, steps=self.steps[:, _places(self.columns, columns)], columns=tuple(columns))
        if symbols is None or self.symbols == tuple(symbols):
            return self
        if self.symbols is None:
            raise InputError("the model has states of symbols, but these are sequences of vectors; give symbols.")
        place = {name: w for w, name in enumerate(symbols)}
        column = np.array([place.get(name, -1) for name in self.symbols], np.int64)
        counts = sparse.coo_array(self.steps)
        keep = column[counts.col] >= 0
        entries = (counts.data[keep], (counts.row[keep], column[counts.col[keep]]))
        known = sparse.csr_array(entries, shape=(self.n_steps, len(place)))
        return replace(self, steps=known, symbols=tuple(symbols))


def _array(part: Any, d: int) -> NDArray:
    try:
        array = np.asarray(part)
        if array.dtype.kind in "US" and not isinstance(part, np.ndarray):
            array = np.asarray(part, dtype=object)  # else NaN among texts is the text "nan"
    except (TypeError, ValueError):
        array = np.empty(())
    if not array.ndim:
        raise InputError(f"sequence {d} is not a table or a flat row; {ADVICE}.")
    return array


def _places(known: Iterable[Hashable], columns: Iterable[str]) -> list[int]:
    """Return where the columns of a fit are among those of a table."""
    have = list(map(str, known))
    for name in columns:
        if have.count(name) != 1:
            what = "not a column" if name not in have else "the name of several columns"
            raise InputError(
                f"the fit had vectors with {name!r:.40}, which is {what} of these; give all its columns, each once."
            )
    return [have.index(name) for name in columns]


def _checked_lengths(lengths: ArrayLike, n: int) -> NDArray[np.int64]:
    sizes = np.asarray(lengths)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any() or int(sizes.sum()) != n:
        raise InputError(f"lengths do not cut the {n} steps of X; give whole numbers that sum to {n}.")
    return sizes.astype(np.int64)


def _joined(parts: Sequence[Any], names: tuple[str, ...]) -> Sequences:
    """Join sequences of one kind."""
    filled = [part for part in parts if part.shape[0]]
    if not filled:
        raise InputError("there is no step in any sequence; give at least one.")
    offsets = np.concatenate(([0], np.cumsum([part.shape[0] for part in parts]))).astype(np.int64)
    if all(sparse.issparse(part) for part in filled):
        return _counts(filled, offsets, names)
    if any(sparse.issparse(part) or part.ndim not in (1, 2) for part in filled) or len({p.ndim for p in filled}) > 1:
        raise InputError(f"the sequences are of different kinds; {ADVICE}.")
    if filled[0].ndim == 1:
        if any(part.dtype.kind not in "iuUSOb" for part in filled):
            raise InputError(
                "a flat sequence holds numbers that are not whole; give a table (n, 1) for vectors of one number, or "
                "symbols as texts or whole numbers."
            )
        return _symbols(np.concatenate([part.astype(object) for part in filled]), offsets, names)
    if len({part.shape[1] for part in filled}) > 1:
        raise InputError("the vectors of the sequences have different lengths; give tables with the same columns.")
    try:
        values = np.concatenate(filled).astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("a sequence holds something else than numbers; give tables of numbers.") from None
    if not np.isfinite(values).all() or not values.shape[1]:
        raise InputError("a vector is empty or holds NaN or infinity; leave such steps out.")
    return Sequences(np.ascontiguousarray(values), offsets, None, names)


def _counts(filled: Sequence[Any], offsets: NDArray[np.int64], names: tuple[str, ...]) -> Sequences:
    if len({part.shape[1] for part in filled}) > 1:
        raise InputError("the sparse sequences have different numbers of columns; give the same symbols to all.")
    counts = sparse.csr_array(sparse.vstack(filled), dtype=np.float64)
    if not np.isfinite(counts.data).all() or (counts.data < 0).any():
        raise InputError("a count is negative, NaN or infinite; give counts of symbols.")
    return Sequences(counts, offsets, tuple(map(str, range(counts.shape[1]))), names)


def _symbols(flat: NDArray, offsets: NDArray[np.int64], names: tuple[str, ...]) -> Sequences:
    """Return a symbol at each step; a step without one (None, NaN, an empty text) has no observation."""
    missing = _are_missing(flat)
    kept = flat[~missing].tolist()
    numbers = all(type(x) is int for x in kept)
    known = sorted(set(kept) if numbers else {str(x) for x in kept})
    place = {str(name): w for w, name in enumerate(known)}
    columns = np.array([place[str(x)] for x in kept], np.int64)
    entries = (np.ones(columns.size), (np.flatnonzero(~missing), columns))
    counts = sparse.csr_array(entries, shape=(flat.size, len(known)))
    return Sequences(counts, offsets, tuple(map(str, known)), names)


def _are_missing(values: Any) -> NDArray[np.bool_]:
    """Tell which values are missing, or empty texts."""
    return np.array([is_missing(x) or (isinstance(x, str) and x == "") for x in values.tolist()], bool)


def _order_of(column: Any, name: Hashable, date_format: str | None) -> Any:
    """Return what a column of numbers, dates or texts of these is sorted by."""
    import pandas as pd

    texts = column.dtype.kind not in "fiubmM"
    if (_are_missing(column.astype(object)) if texts else column.isna()).any():
        raise InputError(f"the column {name!r:.40} has rows without a value; give each step its place.")
    if not texts or not column.map(lambda x: isinstance(x, str)).any():
        return column
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.notna().all():
        return numbers
    dates = pd.to_datetime(column, format=date_format or "ISO8601", utc=True, errors="coerce")
    if dates.isna().any():
        wrong = column[dates.isna()].iloc[0]
        raise InputError(
            f"the column {name!r:.40} holds {wrong!r:.40}, which is no number and no date such as "
            f"{date_format or '2026-11-23'}; say how dates are written (--date-format %d.%m.%Y; in Python convert them "
            "by pandas.to_datetime)."
        )
    return dates


def _of_table(
    table: Any,
    sequence: Hashable | None,
    order: Hashable | None,
    chosen: Sequence[str] | None,
    date_format: str | None,
) -> Sequences:
    """Return the sequences of a table with a row for each step, in the order of their first rows."""
    for what, name in (("sequence", sequence), ("order", order)):
        if name is not None and name not in table.columns:
            raise InputError(f"{what} is {name!r}, but the columns are {', '.join(map(str, table.columns))}.")
    table = table.reset_index(drop=True)
    group, rows = np.zeros(len(table), np.int64), np.arange(len(table))
    names: tuple[str, ...] = ("0",)
    if sequence is not None:
        group, values = table[sequence].factorize(use_na_sentinel=False)
        names = tuple(map(str, values))
    if order is not None:
        rows = _order_of(table[order], order, date_format).sort_values(kind="stable").index.to_numpy()
    rows = rows[np.argsort(group[rows], kind="stable")]
    columns = table.iloc[rows].drop(columns=[name for name in (sequence, order) if name is not None])
    if chosen is not None:
        columns = columns.iloc[:, _places(columns.columns, chosen)]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=len(names))))).astype(np.int64)
    wrong = [str(name) for name, dtype in columns.dtypes.items() if dtype.kind not in "fiub"]
    if len(wrong) == columns.shape[1] == 1:
        found = _symbols(columns.iloc[:, 0].astype(object).to_numpy(), offsets, names)
    elif wrong or not columns.shape[1]:
        raise InputError(
            f"the columns of the steps are neither all numbers nor one of texts ({', '.join(wrong)[:80] or 'none'}); "
            "name the columns of the sequences and of their order (--group-field and --dates; in Python: sequence and "
            "order), and keep the columns of vectors (--keep) or the one of symbols (--text; in Python "
            "give X[['who', 'page']])."
        )
    else:
        values = columns.to_numpy(dtype=np.float64, na_value=np.nan)
        found = _joined([values[a:b] for a, b in pairwise(offsets)], names)
    of_order = None if order is None else table[order].astype(object).to_numpy()[rows]
    return replace(found, columns=tuple(map(str, columns.columns)), rows=rows, order=of_order)
