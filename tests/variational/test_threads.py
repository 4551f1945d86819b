"""The number of threads changes no number."""

import numpy as np
import pytest

from stickbreak.corpus import toy_bars
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.variational import local_step
from stickbreak.variational.moves import Merge, Reorder

from .problems import begin, run_laps, schedule


class CountingExecutor(ThreadExecutor):
    """Counts the pieces of work handed out at once."""

    most = 0

    def map(self, function, items):
        items = list(items)
        self.most = max(self.most, len(items))
        return super().map(function, items)


@pytest.mark.parametrize("n_batches", [1, 3])
def test_state_is_the_same_to_the_last_bit_for_1_and_4_threads(monkeypatch, n_batches):
    monkeypatch.setattr(local_step, "SHARD_COUNTS", 64)  # many shards even of a small corpus
    corpus, _ = toy_bars(50, size=10, tokens=60, seed=0)
    states = []
    for n_jobs in (1, 4):
        with CountingExecutor(n_jobs) as executor:
            assert executor.n_threads == n_jobs
            made, _ = schedule(corpus, n_batches, executor=executor)
            state, _ = run_laps(made, begin(corpus, 14), [Merge(), Reorder()], 6)
            assert executor.most > 5
        states.append(state)
    one, four = states
    assert one.objective == four.objective
    for name in ("S", "N", "H", "T", "G", "Q", "Q0"):
        np.testing.assert_array_equal(getattr(one.totals, name), getattr(four.totals, name))
    for name in ("tau", "tau_sum", "rho", "omega"):
        np.testing.assert_array_equal(getattr(one.parameters, name), getattr(four.parameters, name))
    np.testing.assert_array_equal(one.topic_ids, four.topic_ids)
    for a, b in zip(one.documents, four.documents, strict=True):
        np.testing.assert_array_equal(a.topic, b.topic)
        np.testing.assert_array_equal(a.n_dk, b.n_dk)
