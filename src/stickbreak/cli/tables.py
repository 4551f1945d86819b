"""Tables that answer questions: printed for a person, as JSON or CSV, or written to a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from stickbreak.cli.output import next_lines, print_json, print_rows, printable, say, show
from stickbreak.cli.paths import check_output
from stickbreak.cli.weights import csv_cell, csv_line
from stickbreak.exceptions import InputError
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLE_FORMATS", "Next", "check_table_file", "tell_table", "with_notes"]

TABLE_FORMATS = (".csv", ".json", ".parquet")
_SHARES = frozenset(
    (
        "share",
        "share_a",
        "share_b",
        "share_of_word",
        "mean_weight",
        "corpus_weight",
        "weight",
        "low",
        "high",
        "probability",
    )
)
_POINTS = frozenset(("change", "difference"))  # differences of shares, in percentage points
_DIGITS = {
    "npmi": ".3f",
    "c_v": ".3f",
    "umass": ".1f",
    "exclusivity": ".2f",
    "coherence": ".3f",
    "p": ".2g",
    "lift": ".1f",
    "relevance": ".2f",
    "distance": ".3f",
    "similarity": ".2f",
}
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
    """Refuse a file name whose ending names no format, or that is an input.

    Parameters
    ----------
    path : Path or None
    *inputs : Path
        Files and folders that the command reads.

    Raises
    ------
    InputError
    """
    if path is None:
        return
    if path.suffix not in TABLE_FORMATS:
        raise InputError(f"--out {path} has no known ending; use {', '.join(TABLE_FORMATS)}")
    check_output(path, *inputs)


class Next(NamedTuple):
    """A command to go on with after a table, on the same model.

    Attributes
    ----------
    gives : str
        What it gives, in a few words.
    command : str
    options : tuple of str
    documents : bool
        Whether it also takes the documents of the table.
    """

    gives: str
    command: str
    options: tuple[str, ...] = ()
    documents: bool = False


def with_notes(
    frame: pd.DataFrame,
    *,
    heading: str = "",
    closing: str = "",
    values: Mapping[str, Any] | None = None,
    next: Sequence[Next] = (),
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
    next : sequence of Next
        Commands to go on with.
    ends : bool
        Of a long table print the first and the last rows.
    """
    found = frame.copy()
    found.attrs = {
        "heading": heading,
        "closing": closing,
        "values": dict(values or {}),
        "next": list(next),
        "ends": ends,
    }
    return found


def tell_table(
    frame: pd.DataFrame,
    *,
    as_json: bool,
    as_csv: bool,
    out: Path | None,
    rows: int,
    following: Callable[[Next], list[str]] | None = None,
) -> None:
    """Print a table, or write it to a file.

    Parameters
    ----------
    frame : DataFrame
    as_json, as_csv : bool
        Print all of it in that format.
    out : Path or None
        File to write instead.
    rows : int
        Most rows that are printed for a person.
    following : callable, optional
        Returns the words of a command to go on with.
    """
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
        if following is not None:
            for line in next_lines((one.gives, following(one)) for one in notes.get("next", ())):
                show(line)


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
