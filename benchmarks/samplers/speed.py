"""Tokens per processor second of a sweep in each representation, beside tomotopy's HDPModel; and their memory.

All systems start from the same number of random topics with the same fixed alpha, gamma and eta, and sweep for some
time first: a sweep costs less once documents have few topics. Then they take turns in one process, round by round, one
thread each, so that a machine whose speed drifts treats them alike; the table has medians over rounds of processor
seconds. The number of topics drifts; K is that at the end. Memory is the most that a process of its own has in three
sweeps of one system, beyond what it had when the documents were read and kernels loaded (Linux only).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness.chains import make_chain, sweeps
from benchmarks.harness.corpora import load_split
from benchmarks.harness.peers import ALPHA, GAMMA, TomotopyHDP
from benchmarks.harness.processes import apart
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.sampling.chain import REPRESENTATIONS

PEER = "tomotopy"
SYSTEMS = (*REPRESENTATIONS, PEER)
ETA = 0.1


class Ours:
    """A chain of one representation."""

    def __init__(self, corpus: Corpus, n_topics: int, representation: str) -> None:
        self._chain = make_chain(
            corpus,
            seed=0,
            concentrations=(ALPHA, GAMMA, ETA),
            init="random",
            n_topics=n_topics,
            representation=representation,
        )

    def sweep(self, n: int) -> None:
        for _ in sweeps(self._chain, n):
            pass

    @property
    def n_topics(self) -> int:
        return self._chain.n_topics


class Peer:
    """tomotopy's sampler; its hyperparameters stay as they are."""

    def __init__(self, corpus: Corpus, n_topics: int) -> None:
        self._model = TomotopyHDP(corpus, {"K": n_topics, "seed": 0, "eta": ETA}, fixed=True).model
        self._model.train(0, workers=1)

    def sweep(self, n: int) -> None:
        self._model.train(n, workers=1)

    @property
    def n_topics(self) -> int:
        return int(self._model.live_k)


def build(system: str, corpus: Corpus, n_topics: int) -> Ours | Peer:
    """Return a system at its start."""
    return Peer(corpus, n_topics) if system == PEER else Ours(corpus, n_topics, system)


def compile_kernels() -> None:
    """Sweep a tiny collection in all representations."""
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    for representation in REPRESENTATIONS:
        Ours(tiny, 3, representation).sweep(2)


def memory_of(system: str, name: str, n_topics: int, n_sweeps: int) -> float:
    """Run one system in this process; return the memory that it added, in MiB."""
    split = load_split(name)
    if system == PEER:
        # Loading it does not count.
        import tomotopy  # noqa: F401
    else:
        compile_kernels()
    before = resident("VmRSS")
    built = build(system, split.train, n_topics)
    # The kernel forgets the peak so far: lists of words in which documents are handed over.
    Path("/proc/self/clear_refs").write_text("5")
    built.sweep(n_sweeps)
    return resident("VmHWM") - before


def resident(field: str) -> float:
    """Return the resident memory of this process (VmRSS) or its peak (VmHWM), in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(field + ":"))) / 2**10


def rows_of(name: str, n_topics: int, options: argparse.Namespace) -> list[dict[str, object]]:
    """Return the rows of a corpus and a number of topics."""
    corpus = load_split(name).train
    systems = {system: build(system, corpus, n_topics) for system in SYSTEMS}
    for system in systems.values():
        system.sweep(options.burn_in)
    taken: dict[str, list[float]] = {system: [] for system in SYSTEMS}
    for turn in range(options.rounds):
        # None is always the first.
        for system in np.roll(SYSTEMS, turn):
            taken[system].append(processor_seconds(lambda s=system: systems[s].sweep(options.sweeps)) / options.sweeps)
    rows = []
    for system in SYSTEMS:
        seconds = float(np.median(taken[system]))
        ratios = np.array(taken[PEER]) / np.array(taken[system])
        row: dict[str, object] = {
            "corpus": name,
            "topics at the start": n_topics,
            "system": system,
            "K": systems[system].n_topics,
            "sweeps per s": f"{1 / seconds:.2f}",
            "million tokens per s": f"{corpus.n_tokens / seconds / 1e6:.2f}",
            f"times as fast as {PEER}": f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})",
        }
        if not options.no_memory:
            row["memory, MiB"] = f"{apart(memory_of, system, name, n_topics, 3):.0f}"
        rows.append(row)
        sys.stderr.write(f"{row}\n")
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos", "nips"])
    parser.add_argument("--topics", nargs="+", type=int, default=[15, 100, 400])
    parser.add_argument("--burn-in", type=int, default=30, help="sweeps before any is timed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=5, help="sweeps of a round")
    parser.add_argument("--no-memory", action="store_true")


@threadpool_limits.wrap(limits=1, user_api="blas")
def run(options: argparse.Namespace) -> str:
    """Return the table."""
    compile_kernels()
    rows = [row for name in options.splits for n_topics in options.topics for row in rows_of(name, n_topics, options)]
    return table(rows)
