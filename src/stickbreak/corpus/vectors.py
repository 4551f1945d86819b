"""Groups of real vectors: what is modelled where a document has vectors (image patches, say) in place of words."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from stickbreak.corpus.arguments import is_missing, wrong_input
from stickbreak.corpus.splits import checked_seed, first_halves, held_out_rows, selected_rows
from stickbreak.corpus.validation import checked_names
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_BLOCK = 1 << 22  # numbers that are looked at at once


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupedVectors:
    """N vectors of `dim` numbers in G groups, made by `from_values`, `from_arrays`, `from_table` or `read_patches`.

    The constructor does not check its arguments; `from_values` does. Groups may be empty or have one vector.

    Attributes
    ----------
    values : ndarray of shape (N, dim)
        float32 or float64. They may be memory-mapped and are never copied as a whole. Do not change them in place.
    offsets : ndarray of int64 of shape (G + 1,)
        Group g has the rows offsets[g] to offsets[g + 1] - 1 of the values.
    names : tuple of str or None
        The name of each group.

    Examples
    --------
    >>> vectors = GroupedVectors.from_arrays([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]])
    >>> vectors
    GroupedVectors(2 groups, 3 vectors of 2 float64)
    >>> vectors[1:].values
    array([[4., 5.]])
    """

    values: np.ndarray
    offsets: np.ndarray
    names: tuple[str, ...] | None = None

    @classmethod
    def from_values(
        cls, values: Any, offsets: ArrayLike | None = None, names: Sequence[str] | None = None
    ) -> GroupedVectors:
        """Check values and offsets and return them as groups.

        Parameters
        ----------
        values : array-like of shape (N, dim)
            float32 and float64 are used as they are, including memory-mapped arrays, which are read once to look for
            NaN. Other numbers become float64.
        offsets : array-like of int of shape (G + 1,), optional
            Non-decreasing, from 0 to N. The default is one group of all vectors.
        names : sequence of str of length G, optional
            The names of the groups.

        Returns
        -------
        GroupedVectors

        Raises
        ------
        InputError
            If the values are not a table of finite numbers, or the offsets or names do not fit.
        """
        values = checked_values(values)
        offsets = _checked_offsets(np.array([0, len(values)]) if offsets is None else offsets, len(values))
        return cls(values, offsets, _checked_group_names(names, offsets.size - 1))

    @classmethod
    def from_arrays(
        cls, arrays: Iterable[Any], names: Sequence[str] | None = None, *, dim: int | None = None
    ) -> GroupedVectors:
        """Join arrays, one for each group.

        Parameters
        ----------
        arrays : iterable of array-like of shape (N_g, dim)
            An empty array (also of shape (0,)) is a group without vectors. If all are float32, the result is float32.
        names : sequence of str, optional
            The names of the groups.
        dim : int, optional
            Dimension of the vectors. It is needed only if all groups are empty.

        Returns
        -------
        GroupedVectors
        """
        if not isinstance(arrays, Iterable):
            raise InputError(f"arrays is {arrays!r:.40}; give a list of arrays, one for each group")
        groups = [_as_array(array, g) for g, array in enumerate(arrays)]
        if not groups:
            raise InputError("there are no groups; give at least one array of vectors")
        filled = [array for array in groups if array.size]
        if not filled and dim is not None:
            offsets = np.zeros(len(groups) + 1, np.int64)
            return cls(np.zeros((0, dim)), offsets, _checked_group_names(names, len(groups)))
        if not filled:
            raise InputError("all groups are empty; give at least one vector")
        dim = filled[0].shape[-1] if filled[0].ndim else 0
        for g, array in enumerate(groups):
            if array.size and (array.ndim != 2 or array.shape[1] != dim):
                raise InputError(f"group {g} is of shape {array.shape}; give a table of {dim} columns for each group")
        offsets = np.concatenate(([0], np.cumsum([len(array) if array.size else 0 for array in groups])))
        return cls.from_values(np.concatenate(filled), offsets, names)

    @classmethod
    def from_table(cls, table: Any, group: Hashable, columns: Sequence[Hashable] | None = None) -> GroupedVectors:
        """Make groups from a table with a row for each vector.

        Parameters
        ----------
        table : pandas.DataFrame or pyarrow.Table
            The rows of a group need not be adjacent; they keep their order within the group.
        group : str, or another name of a column of the table
            The column with the group of each row. Groups come in the order of their first rows; their names are the
            values as text.
        columns : sequence of such names, optional
            The columns of numbers, in order. The default is all columns except `group`.

        Returns
        -------
        GroupedVectors
        """
        found = next((getattr(table, name) for name in ("column_names", "columns") if hasattr(table, name)), None)
        if found is None:
            raise InputError(f"the table is a {type(table).__name__}; give a pandas.DataFrame or pyarrow.Table")
        known = list(found)
        columns = [name for name in known if name != group] if columns is None else list(columns)
        missing = [name for name in (group, *columns) if name not in known]
        if missing or not columns:
            what = f"no column {missing[0]!r}" if missing else "no column except that of the groups"
            raise InputError(f"the table has {what}; it has {', '.join(map(str, known))}")
        twice = [name for name in (group, *columns) if known.count(name) > 1]
        if twice:
            raise InputError(f"the table has several columns {twice[0]!r}; give each a different name")
        label, first = _group_of_rows(table[group])
        order = np.argsort(label, kind="stable")
        single = all(_column(table[name]).dtype == np.float32 for name in columns)
        values = np.empty((label.size, len(columns)), np.float32 if single else np.float64)
        for j, name in enumerate(columns):
            try:
                column = _column(table[name]).astype(values.dtype, copy=False)
            except (TypeError, ValueError):
                raise InputError(
                    f"column {name!r} does not hold numbers; name the columns to use in `columns`"
                ) from None
            broken = np.flatnonzero(~np.isfinite(column))
            if broken.size:
                raise InputError(_not_finite(int(broken[0]), repr(name), column[broken[0]]))
            values[:, j] = column[order]
        offsets = np.concatenate(([0], np.cumsum(np.bincount(label, minlength=len(first)))))
        return cls.from_values(values, offsets, first)

    @property
    def n_groups(self) -> int:
        """Number of groups G, including empty ones."""
        return int(self.offsets.size - 1)

    @property
    def n_vectors(self) -> int:
        """Number of vectors N."""
        return len(self.values)

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return int(self.values.shape[1])

    @property
    def group_sizes(self) -> np.ndarray:
        """Number of vectors of each group, (G,)."""
        return np.diff(self.offsets)

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names of the groups, or "0", "1", ... if they have none."""
        return self.names or tuple(str(g) for g in range(self.n_groups))

    def __len__(self) -> int:
        return self.n_groups

    def __repr__(self) -> str:
        return f"GroupedVectors({self.n_groups} groups, {self.n_vectors} vectors of {self.dim} {self.values.dtype})"

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield the vectors of each group, (N_g, dim)."""
        for start, stop in pairwise(self.offsets.tolist()):
            yield self.values[start:stop]

    @overload
    def __getitem__(self, selection: int | np.integer) -> np.ndarray: ...

    @overload
    def __getitem__(self, selection: slice | ArrayLike) -> GroupedVectors: ...

    def __getitem__(self, selection: int | np.integer | slice | ArrayLike) -> GroupedVectors | np.ndarray:
        """Return some of the groups, or the vectors of one group.

        Parameters
        ----------
        selection : int, slice, array of int or array of bool
            A slice of step 1 shares the memory of these vectors (and so stays on disk if they do).

        Returns
        -------
        GroupedVectors or ndarray of shape (N_g, dim)
            The chosen groups (there may be none), or for one integer the vectors of that group.
        """
        if isinstance(selection, int | np.integer) and not isinstance(selection, bool):
            g = int(selected_rows(np.array([selection]), self.n_groups, "group")[0]) % self.n_groups
            return self.values[self.offsets[g] : self.offsets[g + 1]]
        if isinstance(selection, slice):
            start, stop, step = selection.indices(self.n_groups)
            if step == 1:
                stop = max(start, stop)
                a, b = int(self.offsets[start]), int(self.offsets[stop])
                names = None if self.names is None else self.names[start:stop]
                return replace(self, values=self.values[a:b], offsets=self.offsets[start : stop + 1] - a, names=names)
            groups = np.arange(start, stop, step)
        else:
            groups = selected_rows(selection, self.n_groups, "group")
        groups = groups % max(self.n_groups, 1)
        sizes = self.group_sizes[groups]
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][groups] - offsets[:-1], sizes)
        names = None if self.names is None else tuple(self.names[g] for g in groups)
        return replace(self, values=self.values[rows], offsets=offsets, names=names)

    def split(self, held_out: float = 0.1, *, seed: int = 0) -> tuple[GroupedVectors, GroupedVectors]:
        """Split the groups at random into two parts.

        Parameters
        ----------
        held_out : float or int
            The share of groups to hold out, between 0 and 1, or (from 1 upwards) their number. The result is
            rounded, but at least one group goes to each side.
        seed : int
            The same seed gives the same split.

        Returns
        -------
        train, held : GroupedVectors
            Each in the order of these groups.
        """
        held = held_out_rows(self.n_groups, held_out, seed, "group")
        return self[~held], self[held]

    def halves(self, *, seed: int = 0) -> tuple[GroupedVectors, GroupedVectors]:
        """Split the vectors of every group at random into two halves, for held-out scores.

        A group of n vectors gives (n + 1) // 2 to the first half. Each group has its own random stream, keyed by
        `seed` and its place.

        Parameters
        ----------
        seed : int
            The same seed gives the same halves.

        Returns
        -------
        observed, held_out : GroupedVectors
            The same groups, with the vectors in their order. Both halves are in memory, even if these vectors are not.
        """
        chosen = first_halves(self.offsets, checked_seed(seed, negative=True))
        sizes = (self.group_sizes + 1) // 2
        first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return (
            replace(self, values=self.values[chosen], offsets=first),
            replace(self, values=self.values[~chosen], offsets=self.offsets - first),
        )


def checked_values(values: Any) -> np.ndarray:
    """Check that values are a table of finite numbers; return them as float32 or float64, shared where they are."""
    wrong = wrong_input(values)
    if wrong is not None:
        raise InputError(wrong.of_vectors("an array of numbers, a row for each vector"))
    try:
        array = np.asarray(values) if isinstance(values, np.matrix) else np.asanyarray(values)
        if array.dtype.kind not in "biufO":
            raise InputError(f"vectors must be a table (N, dim) of real numbers, not {array.dtype}; convert them")
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"vectors must be a table (N, dim) of numbers: {error}") from None
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"vectors must be a table (N, dim) with at least one of each, not of shape {array.shape}")
    step = max(_BLOCK // array.shape[1], 1)
    for start in range(0, len(array), step):
        broken = np.argwhere(~np.isfinite(array[start : start + step]))
        if len(broken):
            row, column = start + int(broken[0, 0]), int(broken[0, 1])
            raise InputError(_not_finite(row, str(column), array[row, column]))
    return array


def vectors_of_documents(vectors: Any, n_documents: int) -> np.ndarray | GroupedVectors:
    """Check that there is a vector of each document, or a group of vectors: a table, or text of JSON in its place.

    A column of a table that holds lists may have them as text: [0.25, -1.5].
    """
    if not isinstance(vectors, GroupedVectors) and getattr(vectors, "ndim", 0) != 2:
        rows = [_listed(one, row) for row, one in enumerate(vectors)]
        deep = {one.ndim for one in rows}
        if deep == {1} and len({one.size for one in rows}) > 1:
            row = next(row for row, one in enumerate(rows) if one.size != rows[0].size)
            raise InputError(
                f"the vector of document {row} has {rows[row].size} numbers, but that of the first {rows[0].size}; "
                "give vectors of one length"
            )
        vectors = np.array(rows) if deep == {1} else GroupedVectors.from_arrays(rows)
    if len(vectors) != n_documents:
        raise InputError(
            f"there are {len(vectors)} vectors for {n_documents} documents; give one for each, in their order"
        )
    return vectors if isinstance(vectors, GroupedVectors) else checked_values(vectors)


def _listed(one: Any, row: int) -> np.ndarray:
    """Return the vector, or the vectors, of a document."""
    value = one.as_py() if hasattr(one, "as_py") else one
    try:
        array = np.asarray(json.loads(value) if isinstance(value, str) else value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros(())
    if array.ndim not in (1, 2):
        shown = " ".join(f"{value!r:.40}".split())
        raise InputError(
            f"the vector of document {row} is {shown}; give a list of numbers for each document, as [0.25, -1.5]"
        )
    return array


def _not_finite(row: int, column: str, value: float) -> str:
    return (
        f"the value in row {row}, column {column} is {value}; vectors must be finite (neither NaN nor inf), so remove "
        "or repair it"
    )


def _as_array(group: Any, g: int) -> np.ndarray:
    try:
        array = np.asarray(group)
    except (TypeError, ValueError):
        raise InputError(f"group {g} is not a table of numbers; give rows of equally many numbers") from None
    wrong = wrong_input(group) or wrong_input(array)
    if wrong is not None and array.size:
        raise InputError(f"group {g}: {wrong.what}; give rows of equally many numbers")
    return array


def _checked_offsets(offsets: ArrayLike, n_vectors: int) -> np.ndarray:
    array = np.asarray(offsets)
    if array.ndim != 1 or array.size < 2 or array.dtype.kind not in "iu":
        raise InputError(
            f"offsets have dtype {array.dtype} and shape {array.shape}; give G + 1 whole numbers for G groups"
        )
    array = array.astype(np.int64)
    if array[0] != 0 or array[-1] != n_vectors:
        raise InputError(
            f"offsets go from {array[0]} to {array[-1]}, but there are {n_vectors} vectors; give offsets from 0 to "
            f"{n_vectors}"
        )
    falls = np.flatnonzero(array[1:] < array[:-1])
    if falls.size:
        g = int(falls[0])
        raise InputError(
            f"offsets decrease from {array[g]} to {array[g + 1]} at group {g}; give the first row of each group"
        )
    return array


def _checked_group_names(names: Sequence[str] | None, n_groups: int) -> tuple[str, ...] | None:
    try:
        return checked_names(names, (n_groups, 0))
    except InputError as error:
        raise InputError(str(error).replace("document", "group")) from None


def _column(column: Any) -> np.ndarray:
    """Return a column of a pandas or pyarrow table as an array."""
    return np.asarray(column.to_numpy())


def _group_of_rows(column: Any) -> tuple[np.ndarray, list[str]]:
    """Return the number of each row's group, in the order in which groups first occur, and the names of groups."""
    numbers: dict[Any, int] = {}
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
    label = np.empty(len(values), np.int64)
    for row, value in enumerate(values):
        if is_missing(value) or (isinstance(value, str) and not value.strip()):
            raise InputError(f"row {row} has no group (a missing value); remove the row or name its group")
        label[row] = numbers.setdefault(value, len(numbers))
    names: dict[str, Any] = {}
    for value in numbers:
        other = names.setdefault(str(value), value)
        if other is not value:
            raise InputError(f"groups {other!r} and {value!r} have the same name as text; convert them to one type")
    return label, list(names)
