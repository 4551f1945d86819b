"""Engines: where the work on documents runs.

An engine does two things. `map` calls a function in the threads of this process; it may write into arrays at hand.
`run` does jobs, which travel. A job is data: a top-level function, what all jobs of a step share, and a small
description of what is its own. It reads stored documents and returns; it never writes into arrays of its caller.

Work is cut into jobs by the data alone, never by the number of workers, and results come in the order of the jobs. So
no engine changes a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Protocol, TypeVar

from stickbreak.corpus.corpus import Corpus, Place
from stickbreak.corpus.sources import Held, Source, Stored
from stickbreak.fitting.executor import Executor, ThreadExecutor

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
    """Threads of this process, and the workers of a cluster where there is one.

    `workers`: none: jobs run in the threads as well.
    """

    def __init__(self, threads: Executor, workers: Workers | None = None) -> None:
        self._threads, self.workers = threads, workers
        self.uses_workers = False  # whether they have had a job

    @property
    def n_threads(self) -> int:
        """Threads of this process that work at the same time."""
        return int(getattr(self._threads, "n_threads", 1))

    def takes(self, n_jobs: int) -> bool:
        """Whether jobs keep workers or threads busy; fewer than there are threads leave some idle."""
        return self.workers is not None or n_jobs >= self.n_threads > 1

    def map(self, function: Callable[[Job], Result], items: Iterable[Job]) -> list[Result]:
        """Return [function(item) for item in items], in order, from threads of this process."""
        return self._threads.map(function, items)

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

        return self._threads.map(one, jobs)

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
        return self._threads.map(lambda job: work(shared, job), jobs)

    def source(self, corpus: Corpus) -> Source:
        """Return the documents of a corpus as jobs name them: stored where all workers see them, or held here."""
        return Held(corpus) if self.workers is None else Stored(self.workers.place(corpus))


def workers_of(executor: Executor) -> Workers | None:
    """Return the workers of a cluster behind an executor; None if there are none."""
    return executor.workers if isinstance(executor, Engine) else None


def engine_of(executor: Executor) -> Engine:
    """Return an executor as an engine: one of threads alone is an engine without workers."""
    return executor if isinstance(executor, Engine) else Engine(executor)


def run_each(
    executor: Executor, work: Callable[[Shared, Job, Executor], Result], jobs: Sequence[Job], shared: Shared
) -> list[Result]:
    """Return [work(shared, job, executor) for job in jobs], in order.

    Jobs go to workers, or each to a thread. Where there are fewer than threads, they are done one after another, and
    each is given all threads. So the work must come to the same result with any number of threads.

    `work`: a top-level function of what is shared, of one job, and of the executor that it may use.
    """
    if isinstance(executor, Engine) and executor.takes(len(jobs)):
        return executor.run(partial(_with_one_thread, work), jobs, shared)
    return [work(shared, job, executor) for job in jobs]


def _with_one_thread(work: Callable[[Shared, Job, Executor], Result], shared: Shared, job: Job) -> Result:
    return work(shared, job, ThreadExecutor())


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
def engine(n_jobs: int | None) -> Iterator[Engine]:
    """Give the engine of a call: `n_jobs` threads, and the workers that are in use.

    `n_jobs`: number of threads; None means 1, -1 all cores.
    """
    with ThreadExecutor(n_jobs) as threads:
        yield Engine(threads, workers_now())
