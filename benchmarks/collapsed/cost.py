"""The time of a lap of collapsed inference and its memory, by the number of topics, for one and two threads."""

from __future__ import annotations

import argparse
import resource

import numpy as np

from benchmarks.collapsed.fits import fit_of, splits_and_topics
from benchmarks.harness.corpora import load_split
from benchmarks.harness.tables import table


def cost(names: list[str], topics: list[int]) -> list[dict[str, object]]:
    """Return the time of a lap against K, for one and two threads, by the clock on the wall; and the memory."""
    rows: list[dict[str, object]] = []
    for name in names:
        train = load_split(name).train
        for n_topics in topics:
            row: dict[str, object] = {"corpus": name, "K": n_topics}
            for n_jobs in (1, 2):
                model = fit_of(n_topics=n_topics, n_laps=12, merge_laps=0, n_jobs=n_jobs)
                model.fit(train)
                row[f"s per pass, {n_jobs} threads"] = f"{np.median(model.trace_['seconds'][-5:]):.3f}"
            row["MiB of q(z)"] = f"{sum(array.nbytes for array in model._kept.arrays.values()) / 2**20:.0f}"
            row["MiB of the process, at most"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            rows.append(row)
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    splits_and_topics(parser, splits=["20news"], topics=[50, 100, 200, 400, 1000])


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table(cost(options.splits, options.topics))
