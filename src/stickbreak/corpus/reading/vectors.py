"""Real vectors in any format, with their groups if there are any: arrays, tables, folders, images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from stickbreak.corpus.arguments import checked_limits, checked_optional_name, checked_path
from stickbreak.corpus.array_files import open_array
from stickbreak.corpus.folder import is_corpus_folder
from stickbreak.corpus.reading.decoding import Dirt, checked_encoding
from stickbreak.corpus.reading.fields import listed
from stickbreak.corpus.reading.files import ReadLimits, start_of, without_packing
from stickbreak.corpus.reading.formats import is_folder
from stickbreak.corpus.reading.parquet import open_parquet, read_table, readable, types_of
from stickbreak.corpus.reading.patches import IMAGE_SUFFIXES, read_patches
from stickbreak.corpus.reading.tables import USUAL_DELIMITERS, Table, checked_delimiter, numbers_in
from stickbreak.corpus.vector_folder import PatchShape, is_vector_folder, open_vectors, patches_in
from stickbreak.corpus.vectors import GroupedVectors
from stickbreak.exceptions import InputError, NoDocuments, ReadError
from stickbreak.storage.places import PathLike


def _parquet_numbers(
    path: Path, group_field: str | None, columns: Sequence[str] | None, limits: ReadLimits
) -> tuple[Any, tuple[str, ...]]:
    """Read the columns of numbers of a Parquet file, or its one column of lists of numbers, and that of the groups."""
    with open_parquet(path, limits) as file:
        with readable(path):
            types = types_of(file.schema_arrow)
        chosen = _chosen(path, list(types), group_field, columns)
        for name in chosen:
            if not (_is_number(types[name]) or (len(chosen) == 1 and _is_list(types[name]))):
                groups = (
                    f", or name it as that of the groups (--group-field {name!s:.40})" if group_field is None else ""
                )
                raise ReadError(
                    f"{path}: the column {name!r:.40} holds {types[name]!s:.60}, not numbers; leave it out of the "
                    f"file{groups}"
                )
        table = read_table(file, path, limits, [*chosen, *([] if group_field is None else [group_field])])
    if table.num_rows and _is_list(types[chosen[0]]):
        with readable(path, chosen[0]):
            table, chosen = _spread(table, path, chosen[0], group_field)
    if group_field is not None:
        with readable(path, group_field):  # names that are no UTF-8
            table[group_field].validate(full=True)
    return table, chosen


def _csv_numbers(
    path: Path,
    group_field: str | None,
    columns: Sequence[str] | None,
    encoding: str,
    delimiter: str | None,
    usual: str,
    limits: ReadLimits,
) -> tuple[Any, tuple[str, ...]]:
    """Read the columns of numbers of a table with a delimiter, and that of the groups; numbers are no header."""
    import pyarrow as pa

    table = Table.open(path, encoding, delimiter, usual, limits)
    header = list(table.columns)
    if header == [str(number) for number in range(len(header))]:
        header = [f"x{number}" for number in range(len(header))]
    chosen = _chosen(path, header, group_field, columns)
    parts: dict[str, list[Any]] = {name: [] for name in [*chosen, *([] if group_field is None else [group_field])]}
    for chunk in replace(table, columns=tuple(header)).chunks(list(parts), Dirt()):
        for name, values in chunk.items():
            where = f"{path}: the column {name!r:.40}"
            parts[name].append(values if name == group_field else pa.array(numbers_in(values, where)))
    kinds = {name: pa.large_string() if name == group_field else pa.float64() for name in parts}
    return pa.table({name: pa.chunked_array(values, kinds[name]) for name, values in parts.items()}), chosen


def _chosen(path: Path, known: list[str], group_field: str | None, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns of the numbers; refuse those that are missing or there twice."""
    chosen = tuple(name for name in known if name != group_field) if columns is None else tuple(columns)
    for name in (*chosen, *(() if group_field is None else (group_field,))):
        if known.count(name) != 1:
            what = f"has no column {name!r:.40}" if name not in known else f"has several columns {name!r:.40}"
            raise ReadError(f"{path} {what}; the columns are: {listed(known)}")
    if not chosen:
        raise ReadError(f"{path} has no column except that of the groups; give columns of numbers")
    return chosen


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


VECTOR_FORMATS = ("npy", "csv", "tsv", "parquet", "vectors", "images")
"""Names of the formats of vectors, as `format=` takes them."""

_BY_SUFFIX = {
    ".npy": "npy",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    **dict.fromkeys(IMAGE_SUFFIXES, "images"),
}
_NAME_ONE = f"give --format NAME (in Python: format), one of {', '.join(VECTOR_FORMATS)}"
_BY_START = ((b"\x93NUMPY", "npy"), (b"PAR1", "parquet"))
TABLES = ("csv", "tsv", "parquet")
"""The formats whose columns have names."""


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Vectors read from a file or folder, and what the input says about them.

    Attributes
    ----------
    vectors : GroupedVectors
        The vectors, in one group if the input does not name groups.
    grouped : bool
        Whether the input has groups.
    columns : tuple of str or None
        The names of the coordinates, for a table.
    patches : PatchShape or None
        The shape of the patches, if the input says that the vectors are patches of images.
    """

    vectors: GroupedVectors
    grouped: bool
    columns: tuple[str, ...] | None = None
    patches: PatchShape | None = None


def read_vectors(
    path: PathLike,
    *,
    format: str | None = None,
    group_field: str | None = None,
    columns: Sequence[str] | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    patch_size: int = 8,
    n_patches: int | None = 1000,
    limits: object = None,
) -> VectorTable:
    r"""Read real vectors, with or without groups.

    Parameters
    ----------
    path : str or PathLike
        What to read: a NumPy array (N, dim), a table (CSV, TSV, Parquet) with a row for each vector, a folder of
        vectors (`write_vectors`, `read_patches` with `out`), an image or a folder of images.
    format : {"npy", "csv", "tsv", "parquet", "vectors", "images"}, optional
        The format. By default it is recognised from the name and the content.
    group_field : str, optional
        For tables: the column with the group of each row. Without it there are no groups.
    columns : sequence of str, optional
        For tables: the columns of numbers, in order. The default is all columns except that of the groups.
    encoding : str
        Encoding of CSV and TSV.
    delimiter : str, optional
        For CSV and TSV: the character between two fields, or "tab". By default it is recognised from the first rows.
    patch_size : int, default=8
        For images: side of a patch. The vectors are coordinates of patches without their mean, in `patch_basis`.
    n_patches : int or None, default=1000
        For images: maximum number of patches of each image, drawn at random. None: all.
    limits : ReadLimits, optional
        Limits of the length of a row and of the unpacked bytes of a compressed file.

    Returns
    -------
    VectorTable
        Arrays and folders are memory-mapped.

    Raises
    ------
    ReadError
        If the input cannot be read as requested.
    InputError
        If an argument is unknown or does not apply to the format, or a value is not finite.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("meadow,length,width\nA,5.1,3.5\nB,4.9,3.0\nA,4.7,3.2\n")
    >>> table = read_vectors(path, group_field="meadow")
    >>> table.vectors, table.columns
    (GroupedVectors(2 groups, 3 vectors of 2 float64), ('length', 'width'))
    """
    source = checked_path(path, "read_vectors")
    limits, encoding = checked_limits(limits), checked_encoding(encoding)
    delimiter, group_field = checked_delimiter(delimiter), checked_optional_name(group_field, "group_field")
    kind = detect_vector_format(source, format)
    if group_field is not None and kind not in TABLES:
        raise InputError(
            f"{source} has no columns, so --group-field {group_field!r:.40} does not apply; leave it out (in Python: "
            "group_field), or give a table"
        )
    if kind in TABLES:
        with _naming(source):
            if kind == "parquet":
                table, names = _parquet_numbers(source, group_field, columns, limits)
            else:
                usual = USUAL_DELIMITERS[kind]
                table, names = _csv_numbers(source, group_field, columns, encoding, delimiter, usual, limits)
            if not table.num_rows:
                raise NoDocuments(f"{source} holds no vectors; give at least one row")
            if group_field is not None:
                vectors = GroupedVectors.from_table(table, group_field, names)
            else:
                vectors = GroupedVectors.from_values(np.column_stack([table[name].to_numpy() for name in names]))
        return VectorTable(vectors, group_field is not None, names)
    if kind == "npy":
        return VectorTable(_array(source), grouped=False)
    if kind == "vectors":
        return VectorTable(open_vectors(source), grouped=True, patches=patches_in(source))
    vectors = read_patches(source, size=patch_size, n_patches=n_patches, mean="project")
    return VectorTable(vectors, grouped=True, patches=PatchShape(patch_size, projected=True))


def _array(path: Path) -> GroupedVectors:
    """Open an array (N, dim), memory-mapped."""
    values = open_array(path, "vectors")
    if values.ndim == 2 and not len(values):
        raise NoDocuments(f"{path} holds no vectors; give at least one row")
    with _naming(path):
        return GroupedVectors.from_values(values)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say of which file the vectors are that cannot be."""
    try:
        yield
    except ReadError:
        raise
    except InputError as error:
        raise error if isinstance(error, NoDocuments) else ReadError(f"{path}: {error}") from error


def detect_vector_format(path: Path, format: str | None = None) -> str:
    """Find the format of an input that holds vectors."""
    if format is not None and (not isinstance(format, str) or format not in VECTOR_FORMATS):
        raise InputError(f"format {format!r:.40} holds no vectors; {_NAME_ONE}")
    if is_folder(path, format, folders=("vectors",), either=frozenset(("images",))):
        if format is None and is_corpus_folder(path):
            raise ReadError(f"{path} holds a corpus of words, not vectors; fit it with a method for words")
        return format or ("vectors" if is_vector_folder(path) else "images")
    named = format or _BY_SUFFIX.get(Path(without_packing(path.name)).suffix)
    if named is not None:
        return named
    start = start_of(path, 16)
    found = next((kind for signature, kind in _BY_START if start.startswith(signature)), None)
    if found is None:
        raise ReadError(f"the format of {path} is not clear from its name or content; {_NAME_ONE}")
    return found
