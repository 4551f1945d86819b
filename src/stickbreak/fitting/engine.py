"""The engine: where the work on documents runs.

An engine does two things. `map` calls a function in the threads of this process; it may write into arrays at hand.
`run` does jobs, which travel. A job is data: a top-level function, what all jobs of a step share, and a small
description of what is its own. It reads stored documents and returns; it never writes into arrays of its caller.

Work is cut into jobs and shards by the data alone, never by the number of workers, and results come in the order of
the jobs. So no engine changes a number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache, partial
from itertools import count, pairwise
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from stickbreak.corpus.corpus import Corpus, Place
from stickbreak.corpus.sources import Held, Source, Stored
from stickbreak.exceptions import InputError

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")


class Workers(Protocol):
    """What takes jobs to other processes: a cluster, or a test."""

    scratch: Path  # a folder that all workers see

    def run(
        self,
        work: Callable[[Shared, Job], Result],
        jobs: Sequence[Job],
        shared: Shared,
        done: Callable[[int], None] | None = None,
    ) -> list[Result]:
        """Return [work(shared, job) for job in jobs], in order; each worker gets `shared` once."""
        ...

    def run_summed(
        self,
        work: Callable[[Shared, Job], Result],
        jobs: Sequence[Job],
        shared: Shared,
        add: Callable[[Sequence[Result]], Result],
    ) -> list[Result]:
        """Return parts that add up to the results of all jobs."""
        ...

    def place(self, corpus: Corpus) -> Place:
        """Return where the documents of a corpus are stored, in a folder that all workers see."""
        ...


class Engine:
    """Threads of this process, and the workers of a cluster where there are some.

    `n_jobs`: number of threads; None means 1, -1 all cores (as in scikit-learn). The kernels release the interpreter
    lock. `workers`: None: jobs run in the threads as well.
    """

    def __init__(self, n_jobs: int | None = None, workers: Workers | None = None) -> None:
        self.n_threads, self.workers = count_jobs(n_jobs), workers
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None
        self.uses_workers = False  # whether they have had a job

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, function: Callable[[Job], Result], items: Iterable[Job]) -> list[Result]:
        """Return [function(item) for item in items], in order, from threads of this process."""
        if self._pool is None:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def run(
        self,
        work: Callable[[Shared, Job], Result],
        jobs: Sequence[Job],
        shared: Shared,
        done: Callable[[int], None] | None = None,
    ) -> list[Result]:
        """Return [work(shared, job) for job in jobs], in order.

        `work`: a top-level function of what is shared and of one job. `jobs`: small descriptions that can be pickled.
        `shared`: what all jobs need; it can be pickled. `done`: called with the number of jobs that are done, as it
        grows.
        """
        if self.workers is not None:
            self.uses_workers = True
            return self.workers.run(work, jobs, shared) if done is None else self.workers.run(work, jobs, shared, done)
        ended, lock = count(1), Lock()

        def one(job: Job) -> Result:
            result = work(shared, job)
            if done is not None:
                with lock:
                    done(next(ended))
            return result

        return self.map(one, jobs)

    def run_summed(
        self,
        work: Callable[[Shared, Job], Result],
        jobs: Sequence[Job],
        shared: Shared,
        add: Callable[[Sequence[Result]], Result],
    ) -> list[Result]:
        """Return parts that add up to the results of all jobs.

        Threads give each result as it is. Workers may add some before they send them, in groups of any size: so sums
        must be exact. `add`, a function of several parts that can be pickled, returns their sum.
        """
        if self.workers is not None:
            self.uses_workers = True
            return self.workers.run_summed(work, jobs, shared, add)
        return self.map(lambda job: work(shared, job), jobs)

    def run_each(
        self, work: Callable[[Shared, Job, Engine], Result], jobs: Sequence[Job], shared: Shared
    ) -> list[Result]:
        """Return [work(shared, job, engine) for job in jobs], in order.

        Jobs go to workers, or each to a thread. Where there are fewer than threads, they are done one after another,
        and each is given all threads. So the work must come to the same result with any number of threads.

        `work`: a top-level function of what is shared, of one job, and of the engine that it may use.
        """
        if self.workers is not None or len(jobs) >= self.n_threads > 1:
            return self.run(partial(_in_one_thread, work), jobs, shared)
        return [work(shared, job, self) for job in jobs]

    def source(self, corpus: Corpus) -> Source:
        """Return the documents of a corpus as jobs name them: stored where all workers see them, or held here."""
        return Held(corpus) if self.workers is None else Stored(self.workers.place(corpus))


def _in_one_thread(work: Callable[[Shared, Job, Engine], Result], shared: Shared, job: Job) -> Result:
    return work(shared, job, Engine())


_WORKERS: ContextVar[Workers | None] = ContextVar("workers", default=None)


def workers_now() -> Workers | None:
    """Return the workers of the cluster that is in use; None if there is none."""
    return _WORKERS.get()


@contextmanager
def use_workers(workers: Workers | None) -> Iterator[None]:
    """Give the fits and predictions of a block to these workers; None: to this process alone."""
    before = _WORKERS.set(workers)
    try:
        yield
    finally:
        _WORKERS.reset(before)


@contextmanager
def threads_and_workers(n_jobs: int | None) -> Iterator[Engine]:
    """Give the engine of a call: `n_jobs` threads, and the workers that are in use."""
    with Engine(n_jobs, workers_now()) as engine:
        yield engine


def count_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(f"n_jobs is {n_jobs!r}; give a positive number of threads, -1 for all cores, or None for one.")
    if n_jobs > 0:
        return int(n_jobs)
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, available + 1 + int(n_jobs))


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread for a while: the threads are ours, and it must not add its own to them."""
    limits: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limits


@cache
def _libraries() -> ThreadpoolController:
    """Find the libraries that have threads of their own, once: it takes milliseconds, as long as a small step.

    They are loaded by then: whatever imports an estimator imports NumPy's and SciPy's linear algebra.
    """
    return ThreadpoolController()


def shards(sizes: NDArray[Any], target: int) -> list[tuple[int, int]]:
    """Cut rows into runs of about `target` total size each: [(first, last), ...], by the sizes alone."""
    if len(sizes) and np.sum(sizes) < 2 * target:
        return [(0, len(sizes))]
    total = np.concatenate(([0], np.cumsum(sizes)))
    n_shards = int(min(max(1, total[-1] // target), max(1, len(sizes))))
    if n_shards == 1:  # of small collections, soon found
        return [(0, len(sizes))] if len(sizes) else []
    bounds = np.searchsorted(total, np.linspace(0, total[-1], n_shards + 1)[1:-1])
    edges = np.unique(np.concatenate(([0], bounds, [len(sizes)])))
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def blocks(sizes: NDArray[Any], number: int, size: tuple[int, int]) -> list[tuple[int, int]]:
    """Cut documents into blocks, each a job with a file of its own, by their sizes alone: [(first, last), ...].

    `sizes` (D,): tokens or stored counts of each document. `number`: about how many blocks, unless they would be too
    small or too large. `size`: about the smallest and the largest size of a block.
    """
    return shards(sizes, min(max(int(sizes.sum()) // number, size[0]), size[1]))
