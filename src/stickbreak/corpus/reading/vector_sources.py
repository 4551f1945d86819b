"""One function that reads real vectors in any format, with their groups if there are any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stickbreak.corpus.arguments import checked_limits, checked_optional_name, checked_path
from stickbreak.corpus.folder import is_corpus_folder
from stickbreak.corpus.patch_shape import PatchShape
from stickbreak.corpus.reading.decoding import checked_encoding
from stickbreak.corpus.reading.files import start_of, without_packing
from stickbreak.corpus.reading.formats import is_folder
from stickbreak.corpus.reading.number_columns import csv_numbers, parquet_numbers
from stickbreak.corpus.reading.patches import IMAGE_SUFFIXES, read_patches
from stickbreak.corpus.reading.tables import USUAL_DELIMITERS, checked_delimiter
from stickbreak.corpus.stored import open_array
from stickbreak.corpus.vector_folder import is_vector_folder, open_vectors, patches_in
from stickbreak.corpus.vectors import GroupedVectors
from stickbreak.exceptions import InputError, NoDocuments, ReadError
from stickbreak.storage.places import PathLike

__all__ = ["TABLES", "VECTOR_FORMATS", "VectorTable", "detect_vector_format", "read_vectors"]

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
                vectors, names = parquet_numbers(source, group_field, columns, limits)
            else:
                usual = USUAL_DELIMITERS[kind]
                vectors, names = csv_numbers(source, group_field, columns, encoding, delimiter, usual, limits)
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
    """Find the format of an input that holds vectors.

    Parameters
    ----------
    path : Path
        A file or folder.
    format : str or None
        The format asked for, one of VECTOR_FORMATS.

    Returns
    -------
    str
        One of VECTOR_FORMATS.

    Raises
    ------
    ReadError
        If the path does not exist or its format cannot be told.
    InputError
        If `format` is unknown.
    """
    if format is not None and (not isinstance(format, str) or format not in VECTOR_FORMATS):
        raise InputError(f"format {format!r:.40} holds no vectors; use one of {', '.join(VECTOR_FORMATS)}")
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
        raise ReadError(
            f"the format of {path} is not clear from its name or content; name one of {', '.join(VECTOR_FORMATS)}"
        )
    return found
