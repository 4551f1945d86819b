"""Tables of runs and of what passes cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.harness import systems
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.side_by_side.groups import Group, groups_of
from benchmarks.side_by_side.points import BASE

# Nats per token below the best: time to quality.
CLOSE = 0.02


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
        parts.append(f"{clock} of a pass against {'topics' if axis == 'K' else axis}:")
        rows = []
        for name, of_system in points.items():
            cells = {f"{x:,}": f"{of_system[x]:,.1f}" if x in of_system else "" for x in values}
            rows.append({"system": name, **cells})
        parts.append(table(rows))
    return "\n\n".join(parts)
