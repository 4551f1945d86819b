"""What a pass over the documents costs each system, against topics, words, documents and threads; on planted topics.

One of the four is varied at a time, the others stay as in BASE. Topics form in the first ten passes, which do not count
where there is time for others. The first unit of work, with the start in it, never does. Each point is measured in a
process of its own.
"""

from __future__ import annotations

import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import corpora, machine, systems
from benchmarks.harness.records import Record
from benchmarks.side_by_side.measure import warm

BASE = {"K": 100, "words": 5000, "documents": 2000, "threads": 1}
PLANTED_TOPICS, MEAN_TOKENS = 50, 100
VARIED = {
    "K": (50, 100, 200, 400),
    "words": (1000, 5000, 20_000),
    "documents": (500, 2000, 8000),
    "threads": (1, 2, 4),
}
NO_THREADS = ("gensim-lda", "gensim-hdp")
FORMING = 10  # passes that are not counted
LEAST_PASSES, LEAST_SECONDS = 10, 0.3


def keys(chosen: list[Record], varied: dict[str, tuple[int, ...]], repeats: int, limit: float) -> list[Record]:
    """Return the keys of all points, the systems in turn; a point that lies on several axes is there once."""
    out: list[Record] = []
    for repeat in range(repeats):
        for axis, values in varied.items():
            for value in values:
                for system in chosen:
                    if axis == "threads" and system["system"] in NO_THREADS:
                        continue
                    point = {**BASE, axis: value}
                    key = {"kind": "cost", **system, **point, "seed": 0, "repeat": repeat, "limit": limit}
                    if key not in out:
                        out.append(key)
    return out


def measure(key: Record) -> Record:
    """Return the record of one point."""
    return warm(point, key)


def point(key: Record) -> Record:
    """Do what `measure` says, in this process."""
    systems.warm_up(key)
    corpus = corpora.planted(f"planted:{key['documents']}:{key['words']}:{PLANTED_TOPICS}:{MEAN_TOKENS}")
    # Passes, seconds, processor seconds of each unit.
    rows: list[tuple[float, float, float]] = []
    with threadpool_limits(1, user_api="blas"):
        system = systems.make(corpus, key)
        passes, units = 0.0, system.work()
        while not _enough(rows, key["limit"]):
            began = time.perf_counter()
            seconds = next(units, None)
            if seconds is None:
                break
            rows.append((system.passes - passes, time.perf_counter() - began, seconds))
            passes = system.passes
    counted = np.sum(_counted(rows) or rows[1:] or rows, axis=0)
    return {
        "seconds_of_a_pass": counted[1] / counted[0],
        "cpu_seconds_of_a_pass": counted[2] / counted[0],
        "passes": counted[0],
        "start_seconds": rows[0][1],
        "tokens": float(corpus.n_tokens),
        "K_at_the_end": len(system.answer()[1]),
        **machine.here(),
    }


def _counted(rows: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """Return the units after the first that begin once topics have formed."""
    before = np.cumsum([0.0, *(row[0] for row in rows)])
    return [row for row, passes in zip(rows[1:], before[1:], strict=False) if passes >= FORMING]


def _enough(rows: list[tuple[float, float, float]], limit: float) -> bool:
    """Return whether the units that count are passes enough, or the time is over."""
    passes, seconds, _ = np.sum([(0.0, 0.0, 0.0), *_counted(rows)], axis=0)
    spent = sum(row[1] for row in rows)
    return (passes >= LEAST_PASSES and seconds >= LEAST_SECONDS) or (spent >= limit and len(rows) > 1)
