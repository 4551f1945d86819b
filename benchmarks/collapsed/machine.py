"""What a pass of collapsed inference takes, by the number of topics, beside what this machine would allow.

A pair of document and word needs the row of its word (K counts of 8 bytes), an addition, a multiplication and another
addition for each topic, and a draw. Two loops do no more than that: one reads random rows of a table of the same size,
one computes with what is in the nearest cache. The documents are planted: 100 tokens each, of 50 topics. tomotopy's LDA
is there if it is installed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE, random_start, sweep
from stickbreak.collapsed.shards import ONE_DRAW
from stickbreak.collapsed.state import Priors

from benchmarks.harness.peers import TomotopyLDA
from benchmarks.harness.tables import table
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.compiling import njit

PRIORS, ONE = Priors(alpha=5.0, gamma=1.0, eta=0.05), Engine(ThreadExecutor(1))
EARLY, LATE, DRAWS = 2, 30, 5  # the passes that are measured: the second, the thirtieth, the fifth of sampled ones
ROWS, REPEATS = 20_000, 5  # read at a time; the least of some repetitions counts
NANO, GIGA = 1e9, 1e9
PLANTED_TOPICS, TOKENS = 50, 100


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def read(rows: Int, counts: Float) -> float:
    """Sum rows of a table."""
    total = 0.0
    for w in rows:
        for k in range(counts.shape[1]):
            total += counts[w, k]
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def compute(times: int, value: Float, factor: Float) -> float:
    """Do an addition, a multiplication and an addition for each value, some times."""
    total = 0.0
    for turn in range(times):
        for k in range(value.size):
            total += (value[k] + turn) * factor[k]
    return total


def least_seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds of the quickest of some repetitions; the first, which compiles, does not count."""
    work()
    found = []
    for _ in range(REPEATS):
        began = time.thread_time()
        work()
        found.append(time.thread_time() - began)
    return min(found)


def allowed(n_words: int, n_topics: int) -> tuple[float, float]:
    """Return nanoseconds to read a row of a table (W, K), and to compute with one."""
    rng = np.random.default_rng(0)
    counts, rows = rng.random((n_words, n_topics)), rng.integers(n_words, size=ROWS)
    value, factor = rng.random((2, n_topics))
    reading = least_seconds(lambda: read(rows, counts)) / ROWS
    return reading * NANO, least_seconds(lambda: compute(ROWS, value, factor)) / ROWS * NANO


def passes(corpus: Corpus, n_topics: int) -> tuple[float, float, float]:
    """Return nanoseconds a pair of an early, a late and a sampled pass, the counting after each turn among them."""
    state, seconds = random_start(corpus, n_topics, 0), []
    for lap in range(LATE + DRAWS):
        began = time.thread_time()
        sweep(state, PRIORS, SMALLEST_SHARE if lap < LATE else ONE_DRAW, 0, ONE)
        seconds.append(time.thread_time() - began)
    early, late, drawn = (seconds[lap - 1] / corpus.counts.nnz * NANO for lap in (EARLY, LATE, LATE + DRAWS))
    return early, late, drawn


def peer(corpus: Corpus, n_topics: int) -> float:
    """Return nanoseconds a token of a pass of tomotopy's LDA, after thirty."""
    work = TomotopyLDA(corpus, {"K": n_topics, "seed": 0}).work()
    seconds = [next(work) for _ in range(4)]
    return seconds[-1] / 10 / float(corpus.n_tokens) * NANO


def rows(corpus: Corpus, topics: list[int]) -> list[dict[str, object]]:
    """Return the rows of the table."""
    found: list[dict[str, object]] = []
    for n_topics in topics:
        reading, computing = allowed(corpus.n_words, n_topics)
        early, late, drawn = passes(corpus, n_topics)
        row: dict[str, object] = {"K": n_topics, "read a row": f"{reading:.0f}", "compute": f"{computing:.0f}"}
        row |= {"early pass": f"{early:.0f}", "late pass": f"{late:.0f}", "sampled pass": f"{drawn:.0f}"}
        row["sampled, times the larger limit"] = f"{drawn / max(reading, computing):.1f}"
        if find_spec("tomotopy") is not None:
            row["tomotopy LDA, a token"] = f"{peer(corpus, n_topics):.0f}"
        found.append(row)
        sys.stderr.write(f"{row}\n")
    return found


def rates() -> str:
    """Return how fast this machine reads memory and computes, on one core."""
    large: Float = np.ones((1 << 12, 1 << 12))
    order: Int = np.arange(large.shape[0])
    small: Float = np.ones(1 << 10)
    bytes_a_second = large.nbytes / least_seconds(lambda: read(order, large))
    operations = 3 * ROWS * small.size / least_seconds(lambda: compute(ROWS, small, small))
    read_, done = f"{bytes_a_second / GIGA:.0f} GB a second", f"{operations / GIGA:.0f} billion operations a second"
    return f"One core reads {read_} of memory and does {done} in double precision, in the nearest cache."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--topics", nargs="+", type=int, default=[50, 100, 200, 400, 1000])
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--words", type=int, default=5000)


def run(options: argparse.Namespace) -> str:
    """Return the rates of the machine and the table."""
    sizes = options.documents, options.words
    corpus, _ = planted_lda(*sizes, n_topics=PLANTED_TOPICS, mean_tokens=TOKENS, seed=0)
    passes(corpus[:20], 3)  # kernels are compiled
    return f"{rates()}\n\n{table(rows(corpus, options.topics))}"
