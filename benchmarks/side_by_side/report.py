"""Write tables and plots of all runs so far, of one or more files, into the documentation."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.harness import pages, systems
from benchmarks.harness.machine import setting
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.side_by_side import plots, summary
from benchmarks.side_by_side.groups import Group, groups_of
from benchmarks.side_by_side.points import BASE

# Nats per token below the best: time to quality.
CLOSE = 0.02
LEAD = (
    "Completion of the best of ours and of the peers after the same processor seconds (medians; lines between looks):"
)
STUDY = "Completion (topics that hold 99 % of the tokens; processor seconds), medians:"


def latest(paths: list[Path], measurements: tuple[str, ...] = ("run", "cost")) -> list[Record]:
    """Return the runs of some files: of several with the same key the last one, whatever its sources and its limit."""
    keys = {"run": ("fingerprint", "K", "seed", "repeat", "corpus"), "cost": ("repeat", *BASE)}
    found: dict[str, Record] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["kind"] in measurements:
                names = ("kind", "system", "settings", *keys[record["kind"]])
                found[json.dumps([record[name] for name in names])] = record
    return list(found.values())


def spread(group: Group, name: str, form: Callable[[float], str]) -> str:
    """Return the median, and the range where runs differ in what is shown."""
    values = group.values(name)
    if values.size == 0:
        return ""
    low, middle, high = (form(value) for value in (values.min(), np.median(values), values.max()))
    return middle if low == high else f"{middle} ({low} to {high})"


def reached(record: Record, score: float) -> float | None:
    """Return the processor seconds after which a run was at least that good."""
    return next((seconds for _, seconds, found in record["trajectory"] if found >= score), None)


def quality_rows(groups: list[Group]) -> list[dict[str, object]]:
    """Return the rows of one corpus."""
    goals = {k: max(g.median("completion") for g in groups if g.K == k) - CLOSE for k in {g.K for g in groups}}
    rows: list[dict[str, object]] = []
    for group in groups:
        times = [reached(record, goals[group.K]) for record in group.records]
        there = [time for time in times if time is not None]
        rows.append(
            {
                "K at the start": group.K,
                "system": group.label,
                "runs": len(group.records),
                "completion": spread(group, "completion", "{:.4f}".format),
                "left-to-right": spread(group, "left_to_right", "{:.3f}".format),
                "topics (99 % of tokens)": spread(group, "topics", "{:.0f}".format),
                "K": spread(group, "K_at_the_end", "{:.0f}".format),
                "UMass": spread(group, "umass", "{:.0f}".format),
                "NPMI": spread(group, "npmi", "{:.3f}".format),
                "NPMI, held out": spread(group, "npmi_held_out", "{:.3f}".format),
                "seconds": spread(group, "seconds", "{:.1f}".format),
                "processor seconds": spread(group, "cpu_seconds", "{:.1f}".format),
                f"processor seconds to {CLOSE:g} below the best": f"{np.median(there):.1f}"
                if len(there) == len(times)
                else "",
                "tokens a second": spread(group, "tokens_per_second", _two_digits),
                "peak MiB": spread(group, "peak_mib", "{:.0f}".format),
                "of these at the start": spread(group, "start_mib", "{:.0f}".format),
            }
        )
    return rows


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.0f}"


def quality(records: list[Record]) -> str:
    """Return a table for each corpus."""
    groups, parts = groups_of(records), []
    for corpus in dict.fromkeys(group.corpus for group in groups):
        chosen = [group for group in groups if group.corpus == corpus]
        about = chosen[0].records[0]
        sizes = (
            f"{about['documents']:,} documents, {about['words']:,} words, {about['tokens']:,.0f} tokens to learn from"
        )
        docs = sorted({record["left_to_right_documents"] for group in chosen for record in group.records})
        limits = sorted({record["limit"] for group in chosen for record in group.records})
        given = f"{' or '.join(f'{limit:g}' for limit in limits)} processor seconds at most"
        parts.append(f"**{corpus}**: {sizes}; left-to-right on {' or '.join(map(str, docs))} documents; {given}.")
        parts.append(table(quality_rows(chosen)))
    return "\n\n".join(parts)


def axis_points(records: list[Record], axis: str) -> dict[str, dict[int, float]]:
    """Return, of each system, the median milliseconds of a pass at the values of one axis, the others as in BASE.

    They are the processor's, or for threads those of the clock on the wall.
    """
    clock = "seconds_of_a_pass" if axis == "threads" else "cpu_seconds_of_a_pass"
    others = {name: value for name, value in BASE.items() if name != axis}
    found: dict[str, dict[int, list[float]]] = {}
    for record in records:
        if all(record[name] == value for name, value in others.items()):
            of_system = found.setdefault(systems.title(record), {})
            of_system.setdefault(record[axis], []).append(1000 * record[clock])
    return {name: {x: float(np.median(y)) for x, y in sorted(points.items())} for name, points in found.items()}


def costs(records: list[Record]) -> str:
    """Return a table for each axis that has more than one point."""
    parts = []
    for axis in BASE:
        points = axis_points(records, axis)
        values = sorted({x for of_system in points.values() for x in of_system})
        points = {name: of_system for name, of_system in points.items() if len(of_system) > 1}
        if not points:
            continue
        clock = "Milliseconds by the clock on the wall" if axis == "threads" else "Processor milliseconds"
        parts.append(f"{clock} of a pass against {plots.AXES[axis]}:")
        rows = []
        for name, of_system in points.items():
            cells = {f"{x:,}": f"{of_system[x]:,.1f}" if x in of_system else "" for x in values}
            rows.append({"system": name, **cells})
        parts.append(table(rows))
    return "\n\n".join(parts)


def parts(paths: list[Path], pictures: Path) -> dict[str, str]:
    """Return the generated parts of the pages from some files of runs, and draw their pictures.

    Parameters
    ----------
    paths : list of Path
        JSON lines of `run` and `cost`.
    pictures : Path
        The folder of the pictures, beside the pages.
    """
    runs, costs_of_passes = latest(paths, ("run",)), latest(paths, ("cost",))
    if not runs and not costs_of_passes:
        sys.exit(f"There is no run in {', '.join(map(str, paths))}; make some: python -m benchmarks run.")
    pictures.mkdir(parents=True, exist_ok=True)
    defaults, varied = [record for record in runs if not record["settings"]], summary.studied(runs)
    found = {}
    if defaults:
        groups = groups_of(defaults)
        drawn = plots.draw_runs(groups, pictures)
        found["run"] = [setting(defaults), LEAD, summary.equal_time(groups), quality(defaults), *drawn]
    if varied:
        found["settings"] = [setting(varied), STUDY, summary.by_corpus(groups_of(varied))]
    if costs_of_passes:
        drawn = plots.draw_costs({axis: axis_points(costs_of_passes, axis) for axis in BASE}, pictures)
        found["cost"] = [setting(costs_of_passes), costs(costs_of_passes), *drawn]
    return {name: "\n\n".join(pieces) for name, pieces in found.items()}


def write(paths: list[Path], docs: Path) -> list[Path]:
    """Write these parts; return their files."""
    return [pages.write(name, text, docs) for name, text in parts(paths, docs / pages.PICTURES).items()]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    results = [Path("benchmarks/results/runs.jsonl"), Path("benchmarks/results/cost.jsonl")]
    parser.add_argument("results", nargs="*", type=Path, default=results, help="files of runs and costs")
    parser.add_argument("--docs", type=Path, default=pages.DOCS, help="the folder of the pages")


def run(options: argparse.Namespace) -> str:
    """Write the parts; return the names of their files."""
    return "\n".join(str(path) for path in write(options.results, options.docs))
