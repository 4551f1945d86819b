"""Runs of one system with one K at the start on one corpus, together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.harness import systems
from benchmarks.harness.records import Record


@dataclass(frozen=True)
class Group:
    """The runs of one system with one K at the start on one corpus: seeds and repeats."""

    corpus: str
    K: int
    label: str
    records: list[Record]

    def values(self, name: str) -> np.ndarray:
        """Return a number of each run, without those that could not be computed."""
        return np.array([r[name] for r in self.records if r.get(name) is not None], dtype=np.float64)

    def median(self, name: str) -> float:
        """Return the median over runs, NaN if there is none."""
        return float(np.median(self.values(name))) if self.values(name).size else float("nan")


def groups_of(records: list[Record]) -> list[Group]:
    """Return runs by corpus, K at the start and system; the best completion first."""
    found: dict[tuple[str, int, str], list[Record]] = {}
    for record in records:
        found.setdefault((record["title"], record["K"], systems.title(record)), []).append(record)
    groups = [Group(*name, runs) for name, runs in found.items()]
    corpora = list(dict.fromkeys(group.corpus for group in groups))
    return sorted(groups, key=lambda g: (corpora.index(g.corpus), g.K, -g.median("completion")))
