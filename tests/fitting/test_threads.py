import threading

from threadpoolctl import threadpool_info, threadpool_limits

from stickbreak.fitting.engine import Engine, one_blas_thread


def test_map_keeps_the_order_when_the_first_item_ends_last():
    second_ran = threading.Event()

    def work(item):
        if item == 0:
            assert second_ran.wait(timeout=600), "two threads did not work at the same time"
        else:
            second_ran.set()
        return item

    with Engine(2) as engine:
        assert engine.map(work, [0, 1]) == [0, 1]


def test_blas_has_one_thread_inside_the_block_and_those_it_had_after_it():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        for _ in range(2):
            with one_blas_thread():
                assert set(threads()) == {1}
            assert set(threads()) == {2}
