import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from stickbreak.fitting.executor import ThreadExecutor, one_blas_thread, shards


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


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_error_of_an_item_reaches_the_caller(n_jobs):
    with pytest.raises(ZeroDivisionError), ThreadExecutor(n_jobs) as executor:
        executor.map(lambda x: 1 // x, [2, 1, 0, 3])


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 100))
def test_shards_are_a_partition_in_order(sizes, target):
    cut = shards(np.array(sizes, dtype=np.int64), target)
    assert [row for first, last in cut for row in range(first, last)] == list(range(len(sizes)))
    assert all(first < last for first, last in cut)


def test_blas_has_one_thread_inside_the_block_and_those_it_had_after_it():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        for _ in range(2):
            with one_blas_thread():
                assert set(threads()) == {1}
            assert set(threads()) == {2}
