"""Tables of topic weights of documents, groups and vectors: CSV, JSON lines, NumPy and Parquet."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.cli.output import printable, strict_json
from stickbreak.exceptions import InputError
from stickbreak.storage.atomic import replace_file

if TYPE_CHECKING:
    import numpy as np

    from stickbreak.corpus import Corpus

__all__ = [
    "WEIGHT_FORMATS",
    "SparseWeightTable",
    "WeightTable",
    "check_weight_file",
    "csv_cell",
    "csv_line",
    "csv_lines",
    "document_weights",
    "jsonl_lines",
    "write_weights",
]

WEIGHT_FORMATS = (".csv", ".jsonl", ".npz", ".parquet")
_FORMULA, _SEPARATORS = "=+-@\uff1d\uff0b\uff0d\uff20", ";\t"  # with the wide forms of the four

Blocks = Iterator[tuple[Sequence[str], "list[np.ndarray]"]]


@dataclass(frozen=True, slots=True)
class WeightTable:
    """Weights of topics, a row for each document, group or vector.

    Attributes
    ----------
    row : str
        What a row is: "document", "group", "vector".
    columns : tuple of str
        "topic_0", ...
    n_rows : int
    names : callable
        From a slice of rows to their names.
    of_rows : callable
        From a slice of rows to their weights, (n, K).
    """

    row: str
    columns: tuple[str, ...]
    n_rows: int
    names: Callable[[slice], Sequence[str]]
    of_rows: Callable[[slice], Any]

    def blocks(self) -> Blocks:
        """Yield the names and the columns of consecutive rows, in blocks that need little memory."""
        from stickbreak.prediction.words import document_blocks

        for block in document_blocks(self.n_rows, len(self.columns)):
            yield self.names(block), list(self.of_rows(block).T)

    def record(self, name: str, row: Sequence[float]) -> dict[str, Any]:
        """Return a line of JSON lines."""
        return {self.row: name, "weights": list(row) if row[0] == row[0] else None}  # NaN: without weights

    def arrays(self) -> "dict[str, np.ndarray]":
        """Return what an .npz file holds beside the names."""
        import numpy as np

        blocks = (np.stack(columns, axis=1) for _, columns in self.blocks())
        return {"weights": np.concatenate([np.empty((0, len(self.columns))), *blocks])}


@dataclass(frozen=True, slots=True)
class SparseWeightTable(WeightTable):
    """Weights of the leaves of a tree: a row for each document and leaf, as a document has few of many."""

    def blocks(self) -> Blocks:
        """Yield the names, the leaves and their weights."""
        rows, names = self.of_rows(slice(0, self.n_rows)).tocoo(), self.names(slice(0, self.n_rows))
        yield [names[row] for row in rows.row.tolist()], [rows.col, rows.data]

    def record(self, name: str, row: Sequence[float]) -> dict[str, Any]:
        """Return a line of JSON lines."""
        return dict(zip((self.row, *self.columns), (name, *row), strict=True))

    def arrays(self) -> "dict[str, np.ndarray]":
        """Return the members of a file that `scipy.sparse.load_npz` reads."""
        import numpy as np

        rows = self.of_rows(slice(0, self.n_rows))
        return {
            "format": np.array(b"csr"), "data": rows.data, "indices": rows.indices, "indptr": rows.indptr,
            "shape": np.array(rows.shape),
        }  # fmt: skip


def document_weights(model: Any, corpus: "Corpus") -> WeightTable:
    """Return the weights of the topics in documents; NaN for those without a word of the model.

    Parameters
    ----------
    model : fitted model
        Any family of words.
    corpus : Corpus
        Documents in the words of the model.
    """
    import numpy as np
    from scipy.sparse import issparse

    names = corpus.document_names
    nothing = model.transform(corpus[:0])  # the weights of no document: how those of any come
    if issparse(nothing):
        return SparseWeightTable(
            "document",
            ("topic", "weight"),
            len(corpus),
            lambda rows: names[rows],
            lambda rows: model.transform(corpus[rows]),
        )
    columns = tuple(f"topic_{k}" for k in range(nothing.shape[1]))

    def of_rows(rows: slice) -> Any:
        weights = np.array(model.transform(corpus[rows]))
        weights[corpus[rows].document_lengths == 0] = float("nan")
        return weights

    return WeightTable("document", columns, len(corpus), lambda rows: names[rows], of_rows)


def check_weight_file(path: Path | None) -> None:
    """Refuse a file name whose ending names no format.

    Parameters
    ----------
    path : Path or None
        The file; None stands for standard output.

    Raises
    ------
    InputError
        If it does not end in one of `WEIGHT_FORMATS`.
    """
    if path is not None and path.suffix not in WEIGHT_FORMATS:
        raise InputError(f"--out {path} has no known ending; use {', '.join(WEIGHT_FORMATS)}")


def csv_lines(table: WeightTable) -> Iterator[str]:
    """Yield the table as CSV: a header, then a line for each row.

    A spreadsheet takes no name for a formula: those that would be one get a single quote in front. Control characters
    become U+FFFD, but for line ends and tabs inside a name.

    Parameters
    ----------
    table : WeightTable

    Yields
    ------
    str
        With its line end.
    """
    yield csv_line([table.row, *map(csv_cell, table.columns)])
    for name, row in _rows(table):
        yield csv_line([csv_cell(name), *(weight if weight == weight else "" for weight in row)])  # NaN: empty


def jsonl_lines(table: WeightTable) -> Iterator[str]:
    """Yield the table as JSON lines: {"document": name, "weights": [...]}; of a tree "topic" and "weight".

    Parameters
    ----------
    table : WeightTable

    Yields
    ------
    str
        With its line end.
    """
    for name, row in _rows(table):
        yield strict_json(table.record(name, row)) + "\n"


def _rows(table: WeightTable) -> Iterator[tuple[str, Sequence[float]]]:
    for names, columns in table.blocks():
        cells = (column.tolist() for column in columns)
        yield from ((name, row) for name, *row in zip(names, *cells, strict=True))


def write_weights(table: WeightTable, path: Path) -> None:
    """Write weights of topics in the format that the file's name says, complete or not at all.

    Parameters
    ----------
    table : WeightTable
    path : Path
        Ends in .csv or .jsonl (as `csv_lines`, `jsonl_lines`), .npz (arrays "names" and "weights"; of a tree
        "names" and what `scipy.sparse.load_npz` reads: "data", "indices", "indptr", "shape", "format") or
        .parquet (columns "document", "topic_0", ...; of a tree as .csv). An existing file is replaced.

    Raises
    ------
    InputError
        If the ending is another one.
    WriteError
        If the file cannot be written.
    """
    check_weight_file(path)
    with replace_file(path) as temporary:
        if path.suffix == ".npz":
            _write_npz(table, temporary)
        elif path.suffix == ".parquet":
            _write_parquet(table, temporary)
        else:
            lines = csv_lines if path.suffix == ".csv" else jsonl_lines
            with open(temporary, "w", encoding="utf-8", newline="", errors="backslashreplace") as file:
                file.writelines(lines(table))


def _write_npz(table: WeightTable, file: Path) -> None:
    import numpy as np

    names = np.array(table.names(slice(0, table.n_rows)), dtype=np.str_)
    with open(file, "wb") as handle:  # savez would change a name that does not end in .npz
        np.savez_compressed(handle, allow_pickle=False, names=names, **table.arrays())


def _write_parquet(table: WeightTable, file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = [pa.int64() if name == "topic" else pa.float64() for name in table.columns]
    schema = pa.schema([(table.row, pa.string()), *zip(table.columns, kinds, strict=True)])
    with pq.ParquetWriter(file, schema) as writer:
        for names, columns in table.blocks():
            cells = (pa.array(column, kind, from_pandas=True) for column, kind in zip(columns, kinds, strict=True))
            arrays = [pa.array(names, pa.string()), *cells]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def csv_cell(name: str) -> str:
    """Return a name as a spreadsheet takes it: as text, never as a formula.

    Parameters
    ----------
    name : str
    """
    text = printable(name.replace("\r\n", "\n"), keep="\n\t")
    is_formula = name[:1] in ("\t", "\r", "\n") or text.lstrip()[:1] in tuple(_FORMULA)
    return "'" + text if is_formula else text


def csv_line(row: list[Any]) -> str:
    """Return a line; a name with what separates cells in some countries is quoted, too.

    Parameters
    ----------
    row : list
        Texts that `csv_cell` has returned, and numbers.
    """
    line = io.StringIO()
    if any(separator in cell for cell in row if isinstance(cell, str) for separator in _SEPARATORS):
        csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerow(row)
    else:
        csv.writer(line, lineterminator="\n").writerow(row)
    return line.getvalue()
