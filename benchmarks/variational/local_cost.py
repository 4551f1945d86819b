"""Nanoseconds of the local step per (distinct type, active topic, iteration), beside the floor of a core.

What is counted is exact: for each document and each of its sweeps, the distinct types of the document times the topics
that it holds in that sweep, summed. (A local step that may make s sweeps at most ends with the topics of sweep s; so
steps with s = 1, 2, ... tell.) Restarts are off. What is timed, on one thread, is the local step of all documents:

- whole: from the globals to the summaries' raw material; that is exp(E log phi) of the batch, gathering each document's
  rows of it, all sweeps, and the last logarithms. Divided by all that is counted.
- sweeps: what further sweeps take; the seconds of the step less those of a step with one sweep, divided by what is
  counted in the further sweeps. This compares with the floor, which reuses the rows of a document.

"fresh" documents begin with all topics, "warm" ones where the lap before has left them. The globals are those of the
third and the fourth lap from the start by LDA, without merges.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness.corpora import load_split
from benchmarks.harness.fits import after_each_lap
from benchmarks.harness.tables import table
from stickbreak import VariationalHDP
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.local_step import LocalSettings, local_step
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.words import Batch

# C with intrinsics on one core with AVX-512.
FLOOR = "0.15 to 0.23"


class Count(NamedTuple):
    """What the sweeps of a local step have to do."""

    first: float  # types x topics in the first sweep of every document
    total: float  # and in all sweeps
    types: float  # types in all sweeps
    sweeps: float  # mean of the documents


def counted(
    batch: Batch, parameters: GlobalParameters, alpha: float, start: DocumentTopics | None, settings: LocalSettings
) -> Count:
    """Count, sweep by sweep, over the documents that have not stopped yet."""
    first = total = all_types = sweeps = 0.0
    n_documents = batch.n_documents
    with ThreadExecutor(1) as executor:
        for sweep in range(1, settings.max_sweeps + 1):
            visit = local_step(batch, parameters, alpha, start, settings._replace(max_sweeps=sweep), executor)
            # The others stopped before.
            rows = np.flatnonzero(visit.sweeps == sweep)
            if rows.size == 0:
                break
            types, topics = np.diff(batch.indptr)[rows], np.diff(visit.documents.indptr)[rows]
            total += float(types @ topics)
            all_types += float(types.sum())
            first = first or total
            sweeps += rows.size
            batch = batch.selected(rows)
            start = start.selected(rows) if start is not None else None
    return Count(first, total, all_types, sweeps / n_documents)


def seconds(
    batch: Batch,
    parameters: GlobalParameters,
    alpha: float,
    start: DocumentTopics | None,
    settings: LocalSettings,
    repeats: int,
) -> tuple[float, float]:
    """Return the least seconds of a local step with one sweep, and of one with all; they take turns."""
    taken = []
    with ThreadExecutor(1) as executor:
        for _ in range(repeats):
            for most in (1, settings.max_sweeps):
                begin = time.perf_counter()
                local_step(batch, parameters, alpha, start, settings._replace(max_sweeps=most), executor)
                taken.append(time.perf_counter() - begin)
    return min(taken[::2]), min(taken[1::2])


def rows_of(name: str, n_topics: int, repeats: int) -> list[dict[str, object]]:
    """Return the rows of a corpus, fresh and warm."""
    split = load_split(name)
    model = VariationalHDP(learn=(), n_topics=n_topics, n_laps=4, moves=("reorder",), tolerance=0.0, random_state=0)
    _, _, before, after = (fitted._parameters() for fitted in after_each_lap(model, split.train))
    batch, settings = Batch.from_corpus(split.train, model._likelihood), model._settings()._replace(restarts=0)
    with ThreadExecutor(1) as executor:
        left = local_step(batch, before, model.alpha, None, settings, executor).documents
    rows = []
    for kind, start in (("fresh", None), ("warm", left)):
        count = counted(batch, after, model.alpha, start, settings)
        one, whole = seconds(batch, after, model.alpha, start, settings, repeats)
        rows.append(
            {
                "corpus": name,
                "K": n_topics,
                "documents": kind,
                "sweeps, mean": f"{count.sweeps:.1f}",
                "topics in a sweep, mean": f"{count.total / count.types:.1f}",
                "counted, 1e6": f"{count.total / 1e6:.1f}",
                "whole, ms": f"{1e3 * whole:.1f}",
                "whole, ns": f"{1e9 * whole / count.total:.2f}",
                "sweeps, ns": f"{1e9 * (whole - one) / (count.total - count.first):.2f}"
                if count.total > count.first
                else "",
                "floor, ns": FLOOR,
            }
        )
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos", "nips"])
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 400])
    parser.add_argument("--repeats", type=int, default=5)


@threadpool_limits.wrap(limits=1, user_api="blas")
def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows = []
    for name in options.splits:
        for n_topics in options.topics:
            rows += rows_of(name, n_topics, options.repeats)
    return table(rows)
