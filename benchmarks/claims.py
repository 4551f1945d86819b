"""What becomes of the papers' claims: run the scripts of examples/papers, and write the tables of the page.

Without `--run` the tables are those of the results that are kept beside the scripts, with the settings that were used.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness import pages
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table

if TYPE_CHECKING:
    from examples.papers.study import Claim

DOCS = Path(__file__).parents[1] / "docs" / "benchmarks"
SCRIPTS = {
    "hughes": (
        "hughes_fig2",
        "hughes_fig3",
        "hughes_fig4",
        "hughes_fig5",
        "hughes_fig6",
        "hughes_gibbs",
        "hughes_nyt",
        "hughes_cost",
        "hughes_fig7",
    ),
    "burkhardt": ("burkhardt_fig1", "burkhardt_fig2", "burkhardt_fig3", "burkhardt_growth"),
    "downey": ("downey_fig3", "downey_small", "downey_table4", "downey_large", "downey_fig4"),
    "wang": ("wang_fig4", "wang_fig5", "wang_fig8"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    names = [name for scripts in SCRIPTS.values() for name in scripts]
    parser.add_argument("--run", nargs="+", default=[], choices=[*names, "all"], help="run these first: hours")


def shown(value: object) -> str:
    """Return a setting as it is written on a command line."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def command(name: str, words: Sequence[str]) -> str:
    """Return the command line of a script with other settings."""
    return shlex.join(["python", "-m", f"examples.papers.{name}", *(["--set", *words] if words else [])])


def commands_of(parts: Sequence[str]) -> str:
    """Return the command lines that write tables, as they stand on the pages of benchmarks."""
    found = {}
    for page in pages.pages(DOCS):
        for words in pages.commands(page):
            if "--write" in words:
                written = words[words.index("--write") + 1 :]
                found[written[0] if written else words[0]] = f"python -m benchmarks {shlex.join(words)}"
    return ", ".join(f"`{found[part]}`" for part in parts)


def deciding(name: str, claim: Claim) -> list[str]:
    """Return the script that would decide a claim, and what to set: of another script, if `decides` begins with one."""
    words = claim.decides.split()
    return [name, *words] if not words or "=" in words[0] else words


def rows_of(name: str) -> list[Record]:
    """Return a row for each claim that a script judges: from its result, or from the tables of other pages."""
    study = import_module(f"examples.papers.{name}").STUDY
    common = import_module("examples.papers.study")
    path = Path(common.RESULTS) / f"{name}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"changed": {}, "claims": []}
    found = {claim["claim"]: claim for claim in kept["claims"]}
    changed = [f"{key}={shown(value)}" for key, value in kept["changed"].items()]
    rows = []
    for claim in study.claims:
        if claim.parts:
            measured, verdict = claim.judge(common.rows_of_parts(claim.parts))
            row = {"measured": measured, "confirmed": common.said(verdict)}
        else:
            row = found.get(claim.says, {"measured": common.NOT_RUN, "confirmed": common.NOT_DECIDED})
        script, *words = deciding(name, claim)
        decides = f"To decide: `{command(script, words)}`." if row["confirmed"] == common.NOT_DECIDED else ""
        rows.append(
            {
                "claim": claim.says,
                "figure": claim.figure,
                "command": commands_of(claim.parts) if claim.parts else f"`{command(name, changed)}`",
                "measured": row["measured"],
                "confirmed": row["confirmed"],
                "why": f"{claim.why} {decides}".strip(),
            }
        )
    return rows


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
    return [pages.write(f"claims-{paper}", part(paper), options.tables) for paper in SCRIPTS]
