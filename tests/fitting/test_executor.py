import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from stickbreak.exceptions import InputError
from stickbreak.fitting.executor import ThreadExecutor, count_jobs, one_blas_thread, shards

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 4])
def test_map_returns_a_list_in_the_order_of_the_items(n_jobs):
    with ThreadExecutor(n_jobs) as executor:
        assert executor.map(lambda x: x * x, range(50)) == [x * x for x in range(50)]
        assert executor.map(str, []) == []


def test_map_keeps_the_order_when_the_first_item_ends_last():
    second_ran = threading.Event()

    def work(item):
        if item == 0:
            assert second_ran.wait(timeout=600), "two threads did not work at the same time"
        else:
            second_ran.set()
        return item

    with ThreadExecutor(2) as executor:
        assert executor.map(work, [0, 1]) == [0, 1]


def test_one_job_works_in_the_thread_of_the_caller():
    with ThreadExecutor(1) as executor:
        assert executor.map(lambda _: threading.get_ident(), range(3)) == [threading.get_ident()] * 3


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_error_of_an_item_reaches_the_caller(n_jobs):
    with pytest.raises(ZeroDivisionError), ThreadExecutor(n_jobs) as executor:
        executor.map(lambda x: 1 // x, [2, 1, 0, 3])


def test_threads_end_with_the_block():
    before = set(threading.enumerate())
    with ThreadExecutor(3) as executor:
        executor.map(str, range(9))
        assert set(threading.enumerate()) > before
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize(
    ("n_jobs", "expected"),
    [(None, 1), (1, 1), (7, 7), (np.int64(3), 3), (-1, CORES), (-2, max(1, CORES - 1)), (-CORES - 5, 1)],
)
def test_n_jobs_means_what_it_means_in_scikit_learn(n_jobs, expected):
    assert count_jobs(n_jobs) == expected


@pytest.mark.parametrize("n_jobs", [0, 1.0, "2", True, False])
def test_n_jobs_that_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(InputError, match=rf"n_jobs is {n_jobs!r}; give a positive number"):
        count_jobs(n_jobs)


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 100))
def test_shards_are_a_partition_in_order(sizes, target):
    cut = shards(np.array(sizes, dtype=np.int64), target)
    assert [row for first, last in cut for row in range(first, last)] == list(range(len(sizes)))
    assert all(first < last for first, last in cut)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60), st.integers(1, 100))
def test_shards_are_no_larger_than_asked_for_by_more_than_their_neighbours(sizes, target):
    total, largest = sum(sizes), max(sizes)
    for first, last in shards(np.array(sizes), target):
        assert sum(sizes[first:last]) <= total / max(1, min(total // target, len(sizes))) + 2 * largest


def test_shards_follow_the_sizes():
    assert shards(np.full(12, 10), 30) == [(0, 3), (3, 6), (6, 9), (9, 12)]
    assert shards(np.zeros(4), 30) == [(0, 4)]
    assert shards(np.zeros(0), 30) == []


def test_blas_has_one_thread_inside_the_block_and_those_it_had_after_it():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        for _ in range(2):
            with one_blas_thread():
                assert set(threads()) == {1}
            assert set(threads()) == {2}
