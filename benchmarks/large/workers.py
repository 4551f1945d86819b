"""Seconds of a pass on one thread, two threads, one process and two processes of workers, for each family.

The setups take turns, pass by pass: each has a process of its own, which makes a pass when it is its turn, so that a
change of the machine's speed meets all of them. The first passes are not counted. Seconds are of the clock on the wall.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import stickbreak
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.large.fits import prepared
from stickbreak.corpus import open_corpus

BEFORE = 3  # passes that are not counted: the start and what it leaves behind
FAMILIES: dict[str, tuple[Callable[..., Any], Record]] = {
    "variational": (
        stickbreak.VariationalHDP,
        {"moves": (), "init": "near-uniform", "batches_at_once": 2, "n_batches": 16},
    ),
    "hybrid": (stickbreak.HybridHDP, {"batch_size": 1000, "batches_at_once": 8, "init": "random"}),
    "gibbs": (stickbreak.GibbsHDP, {"representation": "partially-collapsed", "init": "random", "burn_in": 0}),
    "tree": (stickbreak.BackoffTreeTopics, {"stages": (), "stage_sweeps": 1}),  # one pass over a part
}
SETUPS: dict[str, Record] = {
    "1 thread": {"threads": 1},
    "2 threads": {"threads": 2},
    "1 thread, files": {"threads": 1, "files": True},
    "2 threads, files": {"threads": 2, "files": True},
    "1 process": {"threads": 1, "processes": 1},
    "2 processes": {"threads": 1, "processes": 2},
}
IN_FILES = ("variational", "gibbs", "tree")  # families that can keep what belongs to documents in files


def passes(turn: Connection, folder: str, family: str, setup: Record, n_topics: int, n_passes: int) -> None:
    """Make a pass whenever a turn comes; send the seconds of each."""
    corpus, (make, given) = open_corpus(Path(folder) / "train"), FAMILIES[family]
    with tempfile.TemporaryDirectory(dir=Path(folder).parent) as scratch:
        workers: AbstractContextManager[Any] = nullcontext()
        if "processes" in setup:
            workers = stickbreak.cluster(setup["processes"], scratch=scratch)
        if setup.get("files"):
            given = {**given, "scratch": scratch}
        began = 0.0

        def wait(event: Record) -> None:
            nonlocal began
            if "lap" not in event:
                return
            turn.send(time.perf_counter() - began)
            turn.recv()
            began = time.perf_counter()

        with workers:
            model = make(n_topics=n_topics, n_laps=n_passes, n_jobs=setup["threads"], random_state=0, **given)
            turn.recv()
            began = time.perf_counter()
            model.fit(corpus, callback=wait)


def measured(folder: str, family: str, setups: list[str], n_topics: int, n_passes: int) -> dict[str, list[float]]:
    """Return the seconds of the passes of each setup."""
    context, turns, processes = multiprocessing.get_context("spawn"), {}, []
    for name in setups:
        turns[name], there = context.Pipe()
        given = (there, folder, family, SETUPS[name], n_topics, n_passes)
        processes.append(context.Process(target=passes, args=given))
        processes[-1].start()
        there.close()
    found: dict[str, list[float]] = {name: [] for name in turns}
    try:
        for _ in range(n_passes):
            for name, turn in turns.items():
                turn.send(None)
                found[name].append(turn.recv())
        for turn in turns.values():
            turn.send(None)
    except EOFError:  # one has failed, and has said why
        for process in processes:
            process.terminate()
        raise
    for process in processes:
        process.join()
    return {name: seconds[BEFORE:] for name, seconds in found.items()}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--corpus", default="rfc", help="package_summaries, rfc, or a corpus folder")
    parser.add_argument("--families", nargs="+", choices=tuple(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--topics", type=int, default=200, help="K at the start")
    parser.add_argument("--passes", type=int, default=8, help=f"of which the first {BEFORE} are not counted")
    parser.add_argument("--place", type=Path, default=Path("benchmarks/results/large"), help="folder of the counts")


def run(options: argparse.Namespace) -> str:
    """Return the table: medians of seconds of a pass, and their ratios."""
    folder, rows = prepared(options.corpus, options.place)["folder"], []
    for family in options.families:
        setups = [name for name in SETUPS if family in IN_FILES or "files" not in name]
        seconds = measured(folder, family, setups, options.topics, options.passes)
        median = {name: float(np.median(values)) for name, values in seconds.items()}
        alike = "2 threads, files" if family in IN_FILES else "2 threads"
        rows.append(
            {
                "family": family,
                **{name: f"{median[name]:.2f}" if name in median else "" for name in SETUPS},
                "two threads, times": f"{median['1 thread'] / median['2 threads']:.2f}",
                "two processes, times": f"{median['1 process'] / median['2 processes']:.2f}",
                "2 processes / 2 threads with files": f"{median['2 processes'] / median[alike]:.2f}",
            }
        )
    return table(rows)
