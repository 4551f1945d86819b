"""Executors: where the shards of a batch are worked on.

An executor is anything with `map(function, items)` that returns the results in the order of the items. The work is cut
into shards by the data alone, never by the number of workers, and results are reduced in shard order: the numbers do
not depend on the executor.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import pairwise
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from stickbreak.exceptions import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """What the loop asks of a place to work."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return [function(item) for item in items], in order."""
        ...


class ThreadExecutor:
    """Threads of this process; the kernels release the interpreter lock.

    `n_jobs`: number of threads; None means 1, -1 all cores (as in scikit-learn).
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = count_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return [function(item) for item in items], in order."""
        if self._pool is None:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


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
