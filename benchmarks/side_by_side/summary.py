"""Small tables over all corpora: who leads at equal time, every system, every setting that was tried."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import systems
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.side_by_side.groups import Group

# Processor seconds.
TIMES = (1.0, 3.0, 10.0, 30.0)

Row = dict[str, object]


def at_time(group: Group, seconds: float) -> float | None:
    """Return the median over runs of the score after some processor seconds; None if a run has none yet.

    Between two looks it is read off the line between them in the logarithm of time; after its last a run has its last.
    """
    found = []
    for record in group.records:
        _, spent, scores = np.array(record["trajectory"]).T
        if spent[0] > seconds:
            return None
        found.append(np.interp(np.log(seconds), np.log(spent), scores))
    return float(np.median(found))


def equal_time(groups: list[Group]) -> str:
    """Return a table of the best of ours and of the peers after the same processor seconds, on each corpus."""
    rows: list[Row] = []
    for corpus, K in dict.fromkeys((group.corpus, group.K) for group in groups):
        here = [group for group in groups if (group.corpus, group.K) == (corpus, K)]
        for seconds in TIMES:
            ours, peers = (_best([g for g in here if g.is_ours is mine], seconds) for mine in (True, False))
            rows.append(
                {
                    "corpus": corpus,
                    "K at the start": K,
                    "processor seconds": f"{seconds:g}",
                    "best of ours": _named(ours),
                    "best of the peers": _named(peers),
                    "ahead": f"{ours[0] - peers[0]:+.4f}" if ours and peers else "",
                }
            )
    return table(rows)


def _best(groups: list[Group], seconds: float) -> tuple[float, str] | None:
    scores = [(score, group.label) for group in groups if (score := at_time(group, seconds)) is not None]
    return max(scores, default=None)


def _named(found: tuple[float, str] | None) -> str:
    return f"{found[0]:.4f} {found[1]}" if found else ""


def by_corpus(groups: list[Group]) -> str:
    """Return a table of all corpora: a row for each system and K at the start, defaults before settings."""
    corpora = list(dict.fromkeys(group.corpus for group in groups))
    order = list(systems.SYSTEMS)
    rows: dict[tuple[int, str], Row] = {}
    for group in sorted(groups, key=lambda g: (g.K, order.index(g.system), bool(g.records[0]["settings"]))):
        start: Row = {"K at the start": group.K, "system": group.label, **dict.fromkeys(corpora, "")}
        rows.setdefault((group.K, group.label), start)[group.corpus] = _score_and_cost(group)
    return table(list(rows.values()))


def _score_and_cost(group: Group) -> str:
    """Return completion, topics in use and processor seconds in short."""
    return f"{group.median('completion'):.4f} ({group.median('topics'):.0f}; {group.median('cpu_seconds'):.1f} s)"


def studied(records: list[Record]) -> list[Record]:
    """Return the runs with settings, and those without of the same system, corpus, K, seed and limit: the defaults."""

    def place(record: Record) -> tuple[object, ...]:
        return tuple(record[part] for part in ("system", "corpus", "K", "seed", "repeat", "limit"))

    varied = {place(record) for record in records if record["settings"]}
    return [record for record in records if place(record) in varied]
