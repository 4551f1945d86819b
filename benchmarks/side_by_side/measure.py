"""One run of one system on one corpus, in a process of its own: its course, its scores, its cost."""

from __future__ import annotations

import time
from collections.abc import Callable

from threadpoolctl import threadpool_limits

from benchmarks.harness import corpora, machine, scores, systems
from benchmarks.harness.processes import apart
from benchmarks.harness.records import Record

# Processor seconds after which a system is scored on its way.
LOOKS = tuple(0.1 * 1.4**step for step in range(40))
_WARM: set[str] = set()
PROBABILITY_DIGITS, SECONDS_DIGITS = 5, 3


def warm(function: Callable[[Record], Record], key: Record) -> Record:
    """Do as `apart`, once the system's code is compiled and kept on disk: compiling leaves memory behind."""
    if key["system"] not in _WARM:
        apart(systems.warm_up, key)
        _WARM.add(key["system"])
    return apart(function, key)


def measure(key: Record) -> Record:
    """Return the record of one run.

    Parameters
    ----------
    key : dict
        "corpus", "system", "settings", "K", "seed", and "limit", the processor seconds after which it is ended.
    """
    return warm(run, key)


def run(key: Record) -> Record:
    """Do what `measure` says, in this process."""
    systems.warm_up(key)
    split = corpora.load(key["corpus"])
    peak, trajectory = machine.PeakMemory(), []
    with threadpool_limits(1, user_api="blas"):
        system = systems.make(split.train, key)
        units, wall, cpu, scored = system.work(), 0.0, 0.0, 0.0
        while cpu < key["limit"]:
            began = time.perf_counter()
            seconds = next(units, None)
            if seconds is None:
                break
            wall, cpu = wall + time.perf_counter() - began, cpu + seconds
            if any(scored < look <= cpu for look in LOOKS):
                peak.end()
                trajectory.append(_look(wall, cpu, scores.completion(split, *system.answer())))
                scored = cpu
                peak.begin()
        peak.end()
        answer = system.answer()
        if scored < cpu:
            trajectory.append(_look(wall, cpu, scores.completion(split, *answer)))
    used = scores.topics_in_use(split, *answer)
    return {
        "title": corpora.title(key["corpus"]),
        "documents": split.train.n_documents,
        "words": int(split.seen.sum()),
        "tokens": float(split.train.n_tokens),
        "seconds": wall,
        "cpu_seconds": cpu,
        "passes": float(system.passes),
        "tokens_per_second": float(split.train.n_tokens) * system.passes / wall,
        "peak_mib": peak.mebibytes,
        "start_mib": peak.start,
        "K_at_the_end": len(answer[1]),
        "topics": int(used.size),
        "completion": trajectory[-1][2],
        "trajectory": trajectory,
        **scores.sequential(split, *answer),
        **scores.coherences(split, answer[0][used]),
        **machine.here(),
    }


def _look(wall: float, cpu: float, score: float) -> list[float]:
    """Return a point of the course: seconds, processor seconds, completion."""
    return [round(wall, SECONDS_DIGITS), round(cpu, SECONDS_DIGITS), round(score, PROBABILITY_DIGITS)]
