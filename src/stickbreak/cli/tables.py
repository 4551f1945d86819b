"""Tables: data frames that answer questions, and weights of topics; printed, or written to a file."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from stickbreak.cli.output import check_output, print_json, printable, say, show, strict_json
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    import pandas as pd

    from stickbreak.corpus import Corpus

__all__ = [
    "WEIGHT_FORMATS", "WeightTable", "check_table_file", "csv_text", "document_weights", "print_rows", "print_topics",
    "table_in", "tell_table", "with_notes", "without_quote", "write_weights",
]  # fmt: skip

TABLE_FORMATS = (".csv", ".json", ".parquet")
WEIGHT_FORMATS = (".csv", ".jsonl", ".npz", ".parquet")
_SHARES = "share share_a share_b share_of_word share_right chance mean_weight corpus_weight weight low high probability"
_FORMATS = {
    **dict.fromkeys(_SHARES.split(), ".2%"),
    **{"npmi": ".3f", "c_v": ".3f", "umass": ".1f", "exclusivity": ".2f", "coherence": ".3f", "p": ".2g"},
    **{"observed": ".1f", "expected": ".1f", "lift": ".1f", "relevance": ".2f", "distance": ".3f", "similarity": ".2f"},
    **dict.fromkeys(("factor", "factor_low", "factor_high"), ".3g"),
}
_HEADS = {
    "npmi": "NPMI",
    "umass": "UMass",
    "c_v": "C_V",
    "change": "points per year",
    "difference": "points of difference",
    "estimate": "points",
}
_DAYS = "%Y-%m-%d"  # how days are written
_LEAST_P = 0.001  # of which a person is told that it is less
_WITHOUT_PARTNER = -1  # the number of a topic that is in one of two models only
_MOST_CHARACTERS = 200  # of a cell that is shown to a person
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # how formulas of spreadsheets begin


def check_table_file(path: Path | None, *inputs: Location, formats: Sequence[str] = TABLE_FORMATS) -> None:
    """Refuse a file name whose ending names no format, or that is an input."""
    if path is None:
        return
    if path.suffix not in formats:
        raise InputError(f"--out {path} has no known ending; use {', '.join(formats)}")
    check_output(path, *inputs)


def table_in(path: Path, option: str) -> pd.DataFrame:
    """Return a table that a person wrote as CSV, or that --json printed; a cell of CSV is a text."""
    import pandas as pd

    try:
        if path.suffix == ".json":
            told = json.loads(path.read_text(encoding="utf-8-sig"))
            return pd.DataFrame(told["rows"] if isinstance(told, dict) else told)
        with open(path, encoding="utf-8-sig") as file:
            mark = max(",;\t", key=file.readline().count)  # spreadsheets of some countries: semicolons
        return pd.read_csv(path, sep=mark, dtype=str, keep_default_na=False, encoding="utf-8-sig").fillna("")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReadError(f"{option}: {path} cannot be read ({error}); give a CSV file in UTF-8, or JSON") from error


def with_notes(
    frame: pd.DataFrame,
    *,
    heading: str = "",
    closing: str = "",
    values: Mapping[str, Any] | None = None,
    ends: bool = False,
    picture: str = "",
    days: str = "",
) -> pd.DataFrame:
    """Return a table with what is said of all its rows, and how a person reads its days."""
    noted = frame.copy()
    told = {"heading": heading, "closing": closing, "ends": ends, "picture": picture, "days": days}
    noted.attrs = {**told, "values": dict(values or {})}
    return noted


def tell_table(frame: pd.DataFrame, *, as_json: bool, as_csv: bool, out: Path | None, rows: int) -> None:
    """Print a table, at most some rows of it for a person, or write all of it to a file."""
    notes = frame.attrs
    if out is not None:
        _write(frame, out)
        say(f"{len(frame):,} rows written to {out}")
    elif as_json:
        print_json({**notes.get("values", {}), "rows": _records(frame)})
    elif as_csv:
        typer.echo(csv_text(frame), nl=False)
    elif notes.get("picture"):
        show(notes["picture"])
    else:
        if notes.get("heading"):
            show(notes["heading"])
        last = rows // 2 if notes.get("ends") and len(frame) > rows else 0
        _print(_with_days(frame.drop(frame.index[rows - last : len(frame) - last]), notes.get("days") or _DAYS))
        if len(frame) > rows:
            left_out = f"{len(frame) - rows:,} {'rows between' if last else 'more rows'}"
            show(f"and {left_out}: --csv prints all, --rows NUMBER more")
        if notes.get("closing"):
            show(notes["closing"])


def _print(frame: pd.DataFrame) -> None:
    """Print rows for a person: shares in percent, changes and their intervals in percentage points."""
    points = {"change", "difference", "estimate"} | ({"low", "high"} if {"change", "estimate"} & set(frame) else set())
    cells = [[_cell(name, value, points=name in points) for value in frame[name].tolist()] for name in frame.columns]
    left = [j for j, name in enumerate(frame.columns) if frame[name].dtype.kind not in "biufcmM"]
    heads = [_HEADS.get(name, name.replace("_", " ")) for name in frame.columns]
    print_rows(heads, list(zip(*cells, strict=True)), left=left)


def _cell(name: str, value: Any, *, points: bool) -> str:
    """Return what a cell shows."""
    import pandas as pd

    if pd.isna(value):
        return ""
    if name in ("topic_a", "topic_b") and value == _WITHOUT_PARTNER:
        return "none"
    if not isinstance(value, float):
        text = printable(" ".join(str(value).split()))
        return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "..."
    if points:
        return f"{100 * value:+.2f}"
    if name == "p" and value < _LEAST_P:
        return f"<{_LEAST_P}"
    return format(value, _FORMATS.get(name, ",.12g"))


def print_rows(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int], least: Sequence[int] = ()
) -> None:
    """Print a table: ruled and folded on a terminal, one line a row elsewhere."""
    if not sys.stdout.isatty():
        lines = [tuple(columns), *rows]
        widths = [max(len(line[j]) for line in lines) for j in range(len(columns))]
        widths[: len(least)] = map(max, least, widths)
        for line in lines:
            cells = (
                f"{cell:<{w}}" if j in left else f"{cell:>{w}}"
                for j, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            show("  ".join(cells).rstrip())
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for j, name in enumerate(columns):
        table.add_column(name, justify="left" if j in left else "right", overflow="fold", style=None if j else "bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # Text: words are no markup
    Console().print(table)


def print_topics(topics: Sequence[Mapping[str, str]]) -> None:
    """Print topics, each as the names of its columns and what is in them; words are in the last one."""
    if topics:
        rows = [tuple(map(printable, topic.values())) for topic in topics]
        print_rows(tuple(topics[0]), rows, left=(len(topics[0]) - 1,), least=(5, 7))


def _with_days(frame: pd.DataFrame, written: str = _DAYS) -> pd.DataFrame:
    """Write days as 2026-11-28, or in another format."""
    days = [name for name in frame.columns if frame[name].dtype.kind == "M"]
    return frame.assign(**{name: frame[name].dt.strftime(written) for name in days})


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows for JSON; what is missing becomes None."""
    plain = _with_days(frame).astype(object)
    rows: list[dict[str, Any]] = plain.where(plain.notna(), None).to_dict("records")
    return rows


def csv_text(frame: pd.DataFrame, *, header: bool = True) -> str:
    """Return a table as CSV; what is missing is empty.

    A spreadsheet takes no text for a formula: what would be one gets a single quote in front. Control characters
    become U+FFFD, but for line ends and tabs. Where a text has what separates cells in some countries, all texts are
    quoted.
    """
    plain = frame.copy()
    for j, kind in enumerate(frame.dtypes):
        if kind.kind == "O":
            plain.isetitem(j, [_csv_cell(cell) for cell in frame.iloc[:, j].tolist()])
    plain.columns = [_csv_cell(name) for name in frame.columns]  # two labels may be alike
    texts = (cell for j, kind in enumerate(plain.dtypes) if kind.kind == "O" for cell in plain.iloc[:, j].tolist())
    apart = any(isinstance(cell, str) and (";" in cell or "\t" in cell) for cell in (*plain.columns, *texts))
    quoting = csv.QUOTE_NONNUMERIC if apart else csv.QUOTE_MINIMAL
    text = io.StringIO()
    plain.to_csv(text, index=False, header=header, quoting=quoting, date_format=_DAYS, lineterminator="\n")
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    """Return a text as a spreadsheet takes it: never as a formula."""
    if not isinstance(value, str):
        return value
    text = printable(value.replace("\r\n", "\n"), keep="\n\t")
    is_formula = value[:1] in ("\t", "\r", "\n") or text.lstrip()[:1] in _FORMULA
    return "'" + text if is_formula else text


def without_quote(cell: str) -> str:
    """Return the text of a cell that `_csv_cell` may have written."""
    text = cell.strip()
    return text[1:].lstrip() if text.startswith("'") and text[1:].lstrip()[:1] in _FORMULA else text


def _write(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the format that the file's name says, complete or not at all."""
    with replace_file(path) as temporary:
        if path.suffix == ".parquet":
            frame.to_parquet(temporary, index=False)
        elif path.suffix == ".csv":
            _write_lines([csv_text(frame)], temporary)
        else:
            _write_lines([json.dumps({"rows": _records(frame)}, allow_nan=False, indent=1), "\n"], temporary)


def _write_lines(lines: Iterator[str] | Sequence[str], path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="", errors="backslashreplace") as file:
        file.writelines(lines)


@dataclass(frozen=True, slots=True)
class WeightTable:
    """Weights of topics, a row for each document, group or vector; of a tree for each document and leaf."""

    row: str  # what a row is: "document", "group", "vector"
    names: Sequence[str]  # of the rows
    columns: tuple[str, ...] | None  # "topic_0", ...; None where a document has few of very many topics
    of_rows: Callable[[slice], Any]

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the names and the weights of consecutive rows, in blocks that need little memory; one at the least."""
        import pandas as pd

        from stickbreak.prediction.words import document_blocks

        if self.columns is None:
            entries = self.of_rows(slice(0, len(self.names))).tocoo()
            names = pd.Series([self.names[d] for d in entries.row.tolist()], dtype="string")
            yield pd.DataFrame({self.row: names, "topic": entries.col.astype("int64"), "weight": entries.data})
            return
        for rows in list(document_blocks(len(self.names), len(self.columns))) or [slice(0, 0)]:
            frame = pd.DataFrame(self.of_rows(rows), columns=list(self.columns), dtype="float64")
            frame.insert(0, self.row, pd.Series(self.names[rows], dtype="string"), allow_duplicates=True)
            yield frame

    def csv(self) -> Iterator[str]:
        """Yield the table as CSV, block by block."""
        for i, frame in enumerate(self.frames()):
            yield csv_text(frame, header=i == 0)

    def jsonl(self) -> Iterator[str]:
        """Yield the table as JSON lines: {"document": name, "weights": [...]}; of a tree "topic" and "weight"."""
        for frame in self.frames():
            if self.columns is None:
                rows: Any = _records(frame)
            else:
                weights = frame.iloc[:, 1:].to_numpy().tolist()  # NaN, which is not itself: without weights
                weights = [row if row[0] == row[0] else None for row in weights]
                rows = ({self.row: n, "weights": row} for n, row in zip(frame.iloc[:, 0], weights, strict=True))
            yield from (strict_json(row) + "\n" for row in rows)


def document_weights(model: Any, corpus: Corpus) -> WeightTable:
    """Return the weights of the topics in documents; NaN for those without a word of the model."""
    import numpy as np
    from scipy.sparse import issparse

    nothing = model.transform(corpus[:0])  # the weights of no document: how those of any come
    if issparse(nothing):
        return WeightTable("document", corpus.document_names, None, lambda rows: model.transform(corpus[rows]))

    def of_rows(rows: slice) -> Any:
        weights = np.array(model.transform(corpus[rows]))
        weights[corpus[rows].document_lengths == 0] = float("nan")
        return weights

    columns = tuple(f"topic_{k}" for k in range(nothing.shape[1]))
    return WeightTable("document", corpus.document_names, columns, of_rows)


def write_weights(table: WeightTable, path: Path) -> None:
    """Write weights of topics in the format that the file's name says, complete or not at all."""
    with replace_file(path) as temporary:
        if path.suffix == ".npz":
            _write_npz(table, temporary)
        elif path.suffix == ".parquet":
            _write_parquet(table, temporary)
        else:
            _write_lines(table.csv() if path.suffix == ".csv" else table.jsonl(), temporary)


def _write_npz(table: WeightTable, file: Path) -> None:
    """Write names and weights; those of a tree as `scipy.sparse.load_npz` reads them."""
    import numpy as np

    if table.columns is None:
        rows = table.of_rows(slice(0, len(table.names)))
        arrays = {name: getattr(rows, name) for name in ("data", "indices", "indptr", "shape")}
        arrays["format"] = np.array(b"csr")
    else:
        arrays = {"weights": np.concatenate([frame.iloc[:, 1:].to_numpy() for frame in table.frames()])}
    with open(file, "wb") as handle:  # savez would change a name that does not end in .npz
        np.savez_compressed(handle, allow_pickle=False, names=np.array(table.names, dtype=np.str_), **arrays)


def _write_parquet(table: WeightTable, file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    try:
        for frame in table.frames():
            columns = [pa.array(frame.iloc[:, j], from_pandas=True) for j in range(frame.shape[1])]
            part = pa.table(columns, names=list(frame.columns))
            writer = writer or pq.ParquetWriter(file, part.schema)
            writer.write_table(part)
    finally:
        if writer is not None:
            writer.close()
