"""What the scripts of the papers' figures have in common: settings, runs that are kept, verdicts, pictures.

A script names the paper's own settings. `--quick` puts small ones in their place, to see in seconds that it runs;
`--set NAME=VALUE` changes single ones. `--keep` writes what was measured to `results/`, from which `python -m
benchmarks claims` makes the page of claims, with the settings that were really used.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness.figures import pyplot
from benchmarks.harness.machine import commit
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table

RESULTS = Path(__file__).parent / "results"
PICTURES = Path("docs/benchmarks/pictures")
TABLES = Path(__file__).parents[2] / "benchmarks" / "tables"
TINY = "planted:120:200:5:40"  # the documents of --quick
NOT_RUN = "not run"
PART = "in part"
NOT_DECIDED = "not decided"
Outcome = bool | str | None  # confirmed, not, PART, or not decided
Verdict = tuple[str, Outcome]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper in a line of ours, and how the runs judge it.

    `judge` takes the records and returns what was measured and whether that confirms the claim (`PART`: in some cases;
    None: not decided, and `decides` is what to set, after the name of another script, to decide it). With `parts` it
    takes the rows of these tables of the pages of benchmarks in place of the records.
    """

    says: str
    figure: str
    judge: Callable[[list[Record]], Verdict]
    why: str = ""
    decides: str = ""
    parts: Sequence[str] = ()


@dataclass(frozen=True)
class Study:
    """A table or figure of a paper.

    `paper` are its own settings, on the corpora that are here; `differs` says what cannot be as in the paper. `keys`
    makes the runs of settings, `measure` does one run, `rows` makes the table and `draw` the picture.
    """

    name: str
    paper: Record
    quick: Record
    differs: str
    keys: Callable[[Record], list[Record]]
    measure: Callable[[Record], Record]
    rows: Callable[[list[Record]], list[Record]]
    claims: Sequence[Claim]
    draw: Callable[[list[Record], Any], Any] | None = None


def in_all(fine: Sequence[Any]) -> Outcome:
    """Return whether a claim holds in all cases, in some of them (`PART`), or in none."""
    n = sum(map(bool, fine))
    return PART if 0 < n < len(fine) else n > 0


def change(settings: Record, words: Sequence[str]) -> Record:
    """Return settings with NAME=VALUE put in; values are JSON, and what is no JSON is text."""
    changed = dict(settings)
    for word in words:
        name, _, value = word.partition("=")
        if name not in settings:
            sys.exit(f"There is no setting {name!r}; the settings are {', '.join(settings)}.")
        try:
            changed[name] = json.loads(value)
        except json.JSONDecodeError:
            changed[name] = value
    return changed


def rows_of_parts(names: Sequence[str]) -> list[Record]:
    """Return the rows of tables that benchmarks have written."""
    rows: list[Record] = []
    for name in names:
        columns: list[str] = []
        for line in (TABLES / f"{name}.md").read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("|") else []
            if columns and cells and cells[0] != "---":
                rows.append(dict(zip(columns, cells, strict=True)))
            columns = columns or cells if cells else []
    return rows


def number(cell: str) -> float:
    """Return the number that a cell of a table begins with."""
    return float(cell.split()[0].replace(",", ""))


def said(verdict: Outcome) -> str:
    """Return a verdict in words."""
    return NOT_DECIDED if verdict is None else PART if verdict == PART else "yes" if verdict else "no"


def judged(study: Study, records: list[Record]) -> list[Record]:
    """Return a row for each claim: what was measured, and whether it is confirmed."""
    out: list[Record] = []
    for claim in study.claims:
        measured, verdict = claim.judge(rows_of_parts(claim.parts) if claim.parts else records)
        row = {"claim": claim.says, "figure": claim.figure, "measured": measured, "confirmed": said(verdict)}
        out.append(row)
    return out


def keep(study: Study, settings: Record, records: list[Record], seconds: float) -> Path:
    """Write what was measured, with its settings, beside the scripts; return the file."""
    path = RESULTS / f"{study.name}.json"
    kept = {
        "changed": {name: value for name, value in settings.items() if value != study.paper[name]},
        "settings": settings,
        "seconds": round(seconds),
        "date": datetime.now(tz=UTC).date().isoformat(),
        "commit": commit(),
        "claims": [row for row, claim in zip(judged(study, records), study.claims, strict=True) if not claim.parts],
        "rows": study.rows(records),
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def picture(study: Study, records: list[Record], path: Path) -> None:
    """Draw the figure into a file; the suffix of its name says the format."""
    if study.draw is not None:
        plt = pyplot()
        plt.rcParams["svg.hashsalt"] = study.name
        figure = study.draw(records, plt)
        path.parent.mkdir(parents=True, exist_ok=True)
        about = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=80, **about)
        plt.close(figure)


def run(study: Study, settings: Record, out: Path) -> list[Record]:
    """Do the runs of some settings, or take them from a file where they were done before."""
    return Records(out).run(study.measure, study.keys(settings))


def parser_of(study: Study, about: str) -> argparse.ArgumentParser:
    """Return the parser of a script."""
    parser = argparse.ArgumentParser(
        prog=f"python -m examples.papers.{study.name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"settings of the paper: {json.dumps(study.paper)}\nquick: {json.dumps(study.quick)}",
    )
    parser.add_argument("--quick", action="store_true", help="small settings: seconds, no corpora needed")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="other settings")
    parser.add_argument("--picture", type=Path, help="draw into this file")
    parser.add_argument("--out", type=Path, help="runs done, kept (benchmarks/results/papers/NAME.jsonl)")
    parser.add_argument("--keep", action="store_true", help="write results/NAME.json and the picture of the page")
    return parser


def main(study: Study, about: str | None, words: Sequence[str] | None = None) -> list[Record]:
    """Run a script: print its table and what becomes of the claims; return the records."""
    options = parser_of(study, about or "").parse_args(words)
    settings = change({**study.paper, **study.quick} if options.quick else study.paper, options.set)
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as place:
        kept = Path("benchmarks/results/papers") / f"{study.name}.jsonl"
        out = options.out or (Path(place) / "runs.jsonl" if options.quick else kept)
        records = run(study, settings, out)
    print(table(study.rows(records)))
    for row in judged(study, records):
        print(f"\n{row['figure']}: {row['claim']}\n  {row['measured']}\n  confirmed: {row['confirmed']}")
    if options.picture:
        picture(study, records, options.picture)
    if options.keep:
        seconds = sum(record.get("seconds", 0.0) for record in records) or time.process_time() - begin
        print(keep(study, settings, records, seconds))
        picture(study, records, PICTURES / f"{study.name}.svg")
    return records
