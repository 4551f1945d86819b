"""Tables: data frames that answer questions, and weights of topics; printed, or written to a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from stickbreak.cli.output import check_output, print_json, print_rows, printable, say, show, strict_json
from stickbreak.exceptions import InputError
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from stickbreak.corpus import Corpus

__all__ = [
    "SparseWeightTable", "WeightTable", "check_table_file", "check_weight_file", "csv_lines", "document_weights",
    "jsonl_lines", "tell_table", "with_notes", "write_weights",
]  # fmt: skip

TABLE_FORMATS = (".csv", ".json", ".parquet")
_SHARES = frozenset("share share_a share_b share_of_word mean_weight corpus_weight weight low high probability".split())
_POINTS = frozenset(("change", "difference"))  # differences of shares, in percentage points
_DIGITS = {
    "npmi": ".3f", "c_v": ".3f", "umass": ".1f", "exclusivity": ".2f", "coherence": ".3f", "p": ".2g", "lift": ".1f",
    "relevance": ".2f", "distance": ".3f", "similarity": ".2f",
}  # fmt: skip
_HEADS = {
    "npmi": "NPMI",
    "umass": "UMass",
    "c_v": "C_V",
    "change": "points per year",
    "difference": "points of difference",
}
_LEAST_P = 0.001  # of which a person is told that it is less
_WITHOUT_PARTNER = -1  # the number of a topic that is in one of two models only
_MOST_CHARACTERS = 200  # of a cell that is shown to a person


def check_table_file(path: Path | None, *inputs: Location) -> None:
    """Refuse a file name whose ending names no format, or that is an input."""
    if path is None:
        return
    if path.suffix not in TABLE_FORMATS:
        raise InputError(f"--out {path} has no known ending; use {', '.join(TABLE_FORMATS)}")
    check_output(path, *inputs)


def with_notes(
    frame: pd.DataFrame,
    *,
    heading: str = "",
    closing: str = "",
    values: Mapping[str, Any] | None = None,
    ends: bool = False,
) -> pd.DataFrame:
    """Return a table with what is said of all its rows.

    Parameters
    ----------
    frame : DataFrame
    heading, closing : str
        Sentences for a person, above and below the table.
    values : mapping, optional
        What JSON has beside the rows.
    ends : bool
        Of a long table print the first and the last rows.
    """
    noted = frame.copy()
    noted.attrs = {"heading": heading, "closing": closing, "values": dict(values or {}), "ends": ends}
    return noted


def tell_table(frame: pd.DataFrame, *, as_json: bool, as_csv: bool, out: Path | None, rows: int) -> None:
    """Print a table, at most some rows of it for a person, or write all of it to a file."""
    notes = frame.attrs
    plain = frame.assign(
        **{name: frame[name].dt.strftime("%Y-%m-%d") for name in frame.columns if frame[name].dtype.kind == "M"}
    )
    if out is not None:
        _write(frame, plain, out)
        say(f"{len(frame):,} rows written to {out}")
    elif as_json:
        print_json({**notes.get("values", {}), "rows": _records(plain)})
    elif as_csv:
        for line in _csv_lines(plain):
            typer.echo(line, nl=False)
    else:
        if notes.get("heading"):
            show(notes["heading"])
        last = rows // 2 if notes.get("ends") and len(plain) > rows else 0
        _print(plain.drop(plain.index[rows - last : len(plain) - last]))
        if len(plain) > rows:
            show(
                f"and {len(plain) - rows:,} {'rows between' if last else 'more rows'}: --csv prints all, "
                "--rows NUMBER more"
            )
        if notes.get("closing"):
            show(notes["closing"])


def _print(frame: pd.DataFrame) -> None:
    """Print rows for a person: shares in percent, changes and their intervals in percentage points."""
    points = _POINTS | {"low", "high"} if "change" in frame else _POINTS
    columns = [_cells(name, frame[name], points=name in points) for name in frame.columns]
    left = [j for j, name in enumerate(frame.columns) if frame[name].dtype.kind not in "biufcmM"]
    print_rows(
        [_HEADS.get(name, name.replace("_", " ")) for name in frame.columns],
        list(zip(*columns, strict=True)),
        left=left,
    )


def _cells(name: str, column: pd.Series, *, points: bool) -> list[str]:
    """Return what a column shows."""
    if name in ("topic_a", "topic_b"):
        return ["none" if number == _WITHOUT_PARTNER else str(number) for number in column.tolist()]
    if column.dtype.kind != "f":
        texts = [printable(" ".join(("" if _is_missing(v) else str(v)).split())) for v in column]
        return [text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "..." for text in texts]
    if points:
        return ["" if value != value else f"{100 * value:+.2f}" for value in column.tolist()]
    form = ".2%" if name in _SHARES else _DIGITS.get(name, ",.12g")
    texts = ["" if value != value else format(value, form) for value in column.tolist()]  # NaN is not itself
    if name == "p":
        return [f"<{_LEAST_P}" if p < _LEAST_P else text for p, text in zip(column.tolist(), texts, strict=True)]
    return texts


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows for `print_json`; what is missing becomes null."""
    columns = {
        name: [None if _is_missing(value) else value for value in frame[name].tolist()] for name in frame.columns
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _csv_lines(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a header and a line for each row, with their line ends; a missing number is empty."""
    yield csv_line(list(frame.columns))
    for row in zip(*(frame[name].tolist() for name in frame.columns), strict=True):
        yield csv_line([_csv_value(value) for value in row])


def _csv_value(value: Any) -> Any:
    if isinstance(value, str):
        return csv_cell(value)
    return "" if _is_missing(value) else value


def _is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, NaT or NA."""
    import pandas as pd

    return value is None or value is pd.NA or bool(value != value)  # NaN is not itself


def _write(frame: pd.DataFrame, plain: pd.DataFrame, path: Path) -> None:
    """Write a table in the format that the file's name says, complete or not at all."""
    with replace_file(path) as temporary:
        if path.suffix == ".parquet":
            frame.to_parquet(temporary, index=False)
            return
        with open(temporary, "w", encoding="utf-8", newline="", errors="backslashreplace") as file:
            if path.suffix == ".csv":
                file.writelines(_csv_lines(plain))
            else:
                json.dump({"rows": _records(plain)}, file, allow_nan=False, indent=1)
                file.write("\n")


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

    def arrays(self) -> dict[str, np.ndarray]:
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

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the members of a file that `scipy.sparse.load_npz` reads."""
        import numpy as np

        rows = self.of_rows(slice(0, self.n_rows))
        return {
            "format": np.array(b"csr"), "data": rows.data, "indices": rows.indices, "indptr": rows.indptr,
            "shape": np.array(rows.shape),
        }  # fmt: skip


def document_weights(model: Any, corpus: Corpus) -> WeightTable:
    """Return the weights of the topics in documents; NaN for those without a word of the model."""
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
    """Refuse a file name whose ending names no format."""
    if path is not None and path.suffix not in WEIGHT_FORMATS:
        raise InputError(f"--out {path} has no known ending; use {', '.join(WEIGHT_FORMATS)}")


def csv_lines(table: WeightTable) -> Iterator[str]:
    """Yield the table as CSV: a header, then a line for each row.

    A spreadsheet takes no name for a formula: those that would be one get a single quote in front. Control characters
    become U+FFFD, but for line ends and tabs inside a name.
    """
    yield csv_line([table.row, *map(csv_cell, table.columns)])
    for name, row in _rows(table):
        yield csv_line([csv_cell(name), *(weight if weight == weight else "" for weight in row)])  # NaN: empty


def jsonl_lines(table: WeightTable) -> Iterator[str]:
    """Yield the table as JSON lines: {"document": name, "weights": [...]}; of a tree "topic" and "weight"."""
    for name, row in _rows(table):
        yield strict_json(table.record(name, row)) + "\n"


def _rows(table: WeightTable) -> Iterator[tuple[str, Sequence[float]]]:
    for names, columns in table.blocks():
        cells = (column.tolist() for column in columns)
        yield from ((name, row) for name, *row in zip(names, *cells, strict=True))


def write_weights(table: WeightTable, path: Path) -> None:
    """Write weights of topics in the format that the file's name says, complete or not at all."""
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
    """Return a name as a spreadsheet takes it: as text, never as a formula."""
    text = printable(name.replace("\r\n", "\n"), keep="\n\t")
    is_formula = name[:1] in ("\t", "\r", "\n") or text.lstrip()[:1] in tuple(_FORMULA)
    return "'" + text if is_formula else text


def csv_line(row: list[Any]) -> str:
    """Return a line; a name with what separates cells in some countries is quoted, too."""
    line = io.StringIO()
    if any(separator in cell for cell in row if isinstance(cell, str) for separator in _SEPARATORS):
        csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerow(row)
    else:
        csv.writer(line, lineterminator="\n").writerow(row)
    return line.getvalue()
