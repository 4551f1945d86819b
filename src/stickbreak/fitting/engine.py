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

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.place import Place
from stickbreak.corpus.sources import Held, Source, Stored
from stickbreak.fitting.executor import Executor, ThreadExecutor

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")
Part = TypeVar("Part")


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
        work: Callable[[Shared, Job], tuple[Result, Part]],
        jobs: Sequence[Job],
        shared: Shared,
        add: Callable[[Sequence[Part]], Part],
    ) -> tuple[list[Result], list[Part]]:
        """Return the results of jobs, in order, and parts that add up to theirs."""
        ...

    @property
    def n_at_once(self) -> int:
        """Number of jobs that they do at the same time."""
        ...

    def place(self, corpus: Corpus) -> Place:
        """Return where the documents of a corpus are stored, in a folder that all workers see."""
        ...

    def release(self) -> None:
        """Forget what the last jobs left with the workers."""
        ...


class Engine:
    """Threads of this process, and the workers of a cluster where there is one.

    Parameters
    ----------
    threads : Executor
    workers : Workers, optional
        None: jobs run in the threads as well.
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

        Parameters
        ----------
        work : callable
            A top-level function of what is shared and of one job.
        jobs : sequence
            Small descriptions that can be pickled.
        shared : object
            What all jobs need; it can be pickled.
        done : callable, optional
            Called with the number of jobs that are done, as it grows.
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
        work: Callable[[Shared, Job], tuple[Result, Part]],
        jobs: Sequence[Job],
        shared: Shared,
        add: Callable[[Sequence[Part]], Part],
    ) -> tuple[list[Result], list[Part]]:
        """Return the results of jobs, in order, and parts that add up to the parts of all jobs.

        Threads give each part as it is. Workers may add parts before they send them, in groups of any size: so sums
        must be exact.

        Parameters
        ----------
        work : callable
            A top-level function of what is shared and of one job: returns its result, and its part of the sum.
        jobs, shared
            As of `run`.
        add : callable
            A function of several parts that can be pickled: returns their sum.
        """
        if self.workers is not None:
            self.uses_workers = True
            return self.workers.run_summed(work, jobs, shared, add)
        found = self._threads.map(lambda job: work(shared, job), jobs)
        return [result for result, _ in found], [part for _, part in found]

    @property
    def n_at_once(self) -> int:
        """Number of jobs that are done at the same time, at least 1."""
        return self.n_threads if self.workers is None else max(1, self.workers.n_at_once)

    def at_once(self, usual: int) -> int:
        """Return how many jobs to give at once: a usual number, but two for each worker."""
        return usual if self.workers is None else max(usual, 2 * self.workers.n_at_once)

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

    Parameters
    ----------
    executor : Executor
    work : callable
        A top-level function of what is shared, of one job, and of the executor that it may use.
    jobs : sequence
    shared : object
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

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; None means 1, -1 all cores.
    """
    workers = workers_now()
    try:
        with ThreadExecutor(n_jobs) as threads:
            yield Engine(threads, workers)
    finally:
        if workers is not None:
            workers.release()
