"""What becomes of the papers' claims: run the scripts of examples/papers, and write the tables of the page.

Without `--run` the tables are those of the results that are kept beside the scripts, with the settings that were used.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.harness import pages
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table

SCRIPTS = {
    "hughes": ("hughes_fig2", "hughes_fig3", "hughes_fig4", "hughes_fig5", "hughes_fig6", "hughes_fig7"),
    "burkhardt": ("burkhardt_fig1", "burkhardt_fig2", "burkhardt_fig3"),
    "downey": ("downey_small", "downey_table4", "downey_fig4"),
    "wang": ("wang_fig4", "wang_fig5", "wang_fig8"),
}
PARTS = tuple(f"claims-{paper}" for paper in SCRIPTS)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    names = [name for scripts in SCRIPTS.values() for name in scripts]
    parser.add_argument("--run", nargs="+", default=[], choices=[*names, "all"], help="run these first: hours")


def shown(value: object) -> str:
    """Return a setting as it is written on a command line."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def command(name: str, changed: Record) -> str:
    """Return the command line that made a result."""
    line = f"python -m examples.papers.{name}"
    words = " ".join(f"{key}={shown(value)}" for key, value in changed.items())
    return f"{line} --set {words}" if words else line


def rows_of(name: str) -> list[Record]:
    """Return a row for each claim that a script judges: from its result, or that it was not run."""
    study = import_module(f"examples.papers.{name}").STUDY
    path = Path(import_module("examples.papers.study").RESULTS) / f"{name}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"changed": {}, "claims": []}
    found = {claim["claim"]: claim for claim in kept["claims"]}
    return [
        {
            "claim": claim.says,
            "figure": claim.figure,
            "command": f"`{command(name, kept['changed'])}`",
            "measured": found[claim.says]["measured"]
            if claim.says in found
            else import_module("examples.papers.study").NOT_RUN,
            "confirmed": found[claim.says]["confirmed"] if claim.says in found else "",
            "why": claim.why,
        }
        for claim in study.claims
    ]


def cost_of(name: str) -> str:
    """Return a line on what a result cost, when it was made, and how its data differ from the paper's."""
    study = import_module(f"examples.papers.{name}").STUDY
    path = Path(import_module("examples.papers.study").RESULTS) / f"{name}.json"
    if not path.exists():
        return f"- `{name}`: not run. {study.differs}"
    kept = json.loads(path.read_text(encoding="utf-8"))
    line = f"- `{name}`: {kept['seconds']:,} processor seconds, {kept['date']}, commit {kept['commit']}."
    return f"{line} {study.differs}"


def part(paper: str) -> str:
    """Return the table of a paper, and a line for each of its scripts."""
    rows = [row for name in SCRIPTS[paper] for row in rows_of(name)]
    return "\n".join([table(rows), "", *map(cost_of, SCRIPTS[paper])])


def run(options: argparse.Namespace) -> str:
    """Run scripts if that is wanted; return all tables."""
    names = [name for scripts in SCRIPTS.values() for name in scripts]
    chosen = names if "all" in options.run else options.run
    failed = [
        name
        for name in chosen
        if subprocess.run([sys.executable, "-m", f"examples.papers.{name}", "--keep"], check=False).returncode
    ]
    text = "\n\n".join(map(part, SCRIPTS))
    if failed:
        raise pages.Incomplete(f"failed: {', '.join(failed)}\n\n{text}")
    return text


def write(options: argparse.Namespace) -> list[Path]:
    """Write a part for each paper; return the files."""
    return [pages.write(f"claims-{paper}", part(paper), options.docs) for paper in SCRIPTS]
