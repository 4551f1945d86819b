"""Real vectors in tables, a row for each: Parquet, CSV and TSV, with a column of groups or without."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stickbreak.corpus.reading.decoding import Dirt
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.corpus.reading.parquet import opened, read_table, readable, types_of
from stickbreak.corpus.reading.tables import Table
from stickbreak.corpus.vectors import GroupedVectors
from stickbreak.exceptions import NoDocuments, ReadError

__all__ = ["NumberColumns", "csv_numbers", "parquet_numbers"]

_MOST_SHOWN = 12

NumberColumns = tuple[GroupedVectors, tuple[str, ...]]  # with the names of the coordinates


def parquet_numbers(
    path: Path, group_field: str | None, columns: Sequence[str] | None, limits: ReadLimits
) -> NumberColumns:
    """Read the columns of numbers of a Parquet file, or its one column of lists of numbers.

    Parameters
    ----------
    path : Path
        The file.
    group_field : str or None
        Column of the groups; None: one group of all.
    columns : sequence of str or None
        Those of the numbers, in order; None: all but the groups.
    limits : ReadLimits
        How much the columns may unpack to, and how many rows may be declared.

    Raises
    ------
    ReadError
        If the file is damaged, or a column is missing or holds something else.
    InputError
        If a number is missing, not finite, or lists differ in length.
    """
    with opened(path, limits) as file:
        with readable(path):
            types = types_of(file.schema_arrow)
        chosen = _chosen(path, list(types), group_field, columns)
        for name in chosen:
            if not (_is_number(types[name]) or (len(chosen) == 1 and _is_list(types[name]))):
                raise _no_numbers(path, name, f"holds {types[name]!s:.60}", group_field)
        table = read_table(file, path, limits, [*chosen, *([] if group_field is None else [group_field])])
    if not table.num_rows:
        raise NoDocuments(f"{path} holds no vectors; give at least one row")
    if _is_list(types[chosen[0]]):
        with readable(path, chosen[0]):
            table, chosen = _spread(table, path, chosen[0], group_field)
    if group_field is not None:
        with readable(path, group_field):  # names that are no UTF-8
            table[group_field].validate(full=True)
        return GroupedVectors.from_table(table, group_field, chosen), chosen
    values = np.column_stack([np.asarray(table[name].to_numpy()) for name in chosen])
    return GroupedVectors.from_values(values), chosen


def csv_numbers(
    path: Path,
    group_field: str | None,
    columns: Sequence[str] | None,
    encoding: str,
    delimiter: str | None,
    usual: str,
    limits: ReadLimits,
) -> NumberColumns:
    """Read the columns of numbers of a table with a delimiter; a first row of numbers is not a header.

    Parameters
    ----------
    path, group_field, columns, limits
        As of `parquet_numbers`; without a header columns are called x0, x1, ...
    encoding, delimiter, usual
        As of `stickbreak.corpus.reading.tables.Table.opened`.

    Raises
    ------
    ReadError
        If the table is damaged, a column is missing, or a field is not a number; the line is named.
    """
    table = Table.opened(path, encoding, delimiter, usual, limits)
    header = list(table.columns)
    if header == [str(number) for number in range(len(header))]:
        header = [f"x{number}" for number in range(len(header))]
    chosen = _chosen(path, header, group_field, columns)
    wanted = [*chosen, *([] if group_field is None else [group_field])]
    table = replace(table, columns=tuple(header))
    parts: list[np.ndarray] = []
    groups: list[str] = []
    for chunk in table.chunks(wanted, Dirt()):
        parts.append(np.column_stack([_numbers(path, name, chunk[name], group_field) for name in chosen]))
        if group_field is not None:
            groups += chunk[group_field].to_pylist()
    if not parts:
        raise NoDocuments(f"{path} holds no vectors; give at least one row")
    values = np.concatenate(parts)
    if group_field is None:
        return GroupedVectors.from_values(values), chosen
    numbered = {name: g for g, name in enumerate(dict.fromkeys(groups))}
    label = np.array([numbered[name] for name in groups])
    offsets = np.concatenate(([0], np.cumsum(np.bincount(label))))
    return GroupedVectors.from_values(values[np.argsort(label, kind="stable")], offsets, list(numbered)), chosen


def _numbers(path: Path, name: str, column: Any, group_field: str | None) -> np.ndarray:
    """Return a column of numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return np.asarray(pc.utf8_trim_whitespace(column).cast(pa.float64()))
    except pa.ArrowInvalid:
        wrong = next(text for text in column.to_pylist() if _number(text) is None)
        raise _no_numbers(path, name, f"holds {wrong!r:.40}", group_field) from None


def _chosen(path: Path, known: list[str], group_field: str | None, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns of the numbers; refuse those that are missing or there twice."""
    chosen = tuple(name for name in known if name != group_field) if columns is None else tuple(columns)
    for name in (*chosen, *(() if group_field is None else (group_field,))):
        if known.count(name) != 1:
            what = f"has no column {name!r:.40}" if name not in known else f"has several columns {name!r:.40}"
            shown = ", ".join(f"{column!r:.40}" for column in known[:_MOST_SHOWN])
            more = f" and {len(known) - _MOST_SHOWN} more" if len(known) > _MOST_SHOWN else ""
            raise ReadError(f"{path} {what}; the columns are: {shown}{more}")
    if not chosen:
        raise ReadError(f"{path} has no column except that of the groups; give columns of numbers")
    return chosen


def _no_numbers(where: Path | str, name: str, holds: str, group_field: str | None) -> ReadError:
    groups = f", or name it as that of the groups (--group-field {name!s:.40})" if group_field is None else ""
    return ReadError(f"{where}: the column {name!r:.40} {holds}, not numbers; leave it out of the file{groups}")


def _number(field: str) -> float | None:
    try:
        number = float(field)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_kind(kind) for is_kind in lists) and _is_number(kind.value_type)


def _spread(table: Any, path: Path, column: str, group_field: str | None) -> tuple[Any, tuple[str, ...]]:
    """Make columns of a column of lists."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = table[column]
    lengths = pc.list_value_length(lists)
    dim = lengths[0].as_py()
    if not dim or lengths.null_count or not pc.all(pc.equal(lengths, dim)).as_py():
        raise ReadError(
            f"{path}: the lists of the column {column!r:.40} are not equally long; give lists of the same length"
        )
    values = pc.list_flatten(lists).to_numpy().reshape(-1, dim)
    names = tuple(f"{column}_{j}" for j in range(dim))
    arrays = {name: pa.array(values[:, j]) for j, name in enumerate(names)}
    return pa.table(arrays | ({} if group_field is None else {group_field: table[group_field]})), names
