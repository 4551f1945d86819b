"""Re-ordering of topics."""

import numpy as np
import pytest

from stickbreak.corpus import toy_bars
from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.moves import Merge, Reorder, run_move

from ..problems import Recorder, begin, ragged_corpus, schedule
from .test_merge import assert_state_is


def unsorted_state(n_batches=2, seed=1):
    """A state of the second lap whose topics do not stand by size, and its visits."""
    corpus = ragged_corpus(seed, n_documents=20)
    made, _ = schedule(corpus, n_batches)
    state, _ = first_lap(made, begin(corpus, 5, seed))
    recorder = Recorder()
    next(laps(made, state, [recorder], 1))
    assert (np.diff(state.totals.N) > 0).any()
    return made, state, recorder


def permuted(order):
    with_rest = np.append(order, order.size)
    return lambda r, theta: ([x[:, order] for x in r], theta[:, with_rest])


@pytest.mark.parametrize("n_batches", [1, 3])
def test_reorder_permutes_every_store(n_batches):
    made, state, recorder = unsorted_state(n_batches)
    before, ids = state.objective, state.topic_ids.copy()
    order = np.argsort(-state.totals.N, kind="stable")
    assert run_move(Reorder(), state, made) == (1, 1)
    assert state.objective > before
    assert (np.diff(state.totals.N) <= 0).all()
    np.testing.assert_array_equal(state.topic_ids, ids[order])
    assert_state_is(state, made, recorder.visits, permuted(order))


def test_reorder_predicts_the_objective_that_is_found():
    made, state, recorder = unsorted_state()
    order = np.array([3, 0, 4, 2, 1])  # any order, better or worse
    move = Reorder()
    proposal = move.evaluate(state, state.standing(), made, order)
    move.apply(state, [order], proposal)
    state.refresh(made.model)
    np.testing.assert_allclose(proposal.objective, state.objective, rtol=1e-12)
    assert_state_is(state, made, recorder.visits, permuted(order))


def test_reorder_is_kept_only_if_the_objective_rises(monkeypatch):
    """An order that lowers the objective is tried and left."""
    made, state, recorder = unsorted_state()
    run_move(Reorder(), state, made)
    objective, N = state.objective, state.totals.N.copy()
    worst = np.arange(5)[::-1].copy()
    monkeypatch.setattr(Reorder, "candidates", lambda self, state: iter([worst]))
    assert Reorder().evaluate(state, state.standing(), made, worst).objective < objective
    assert run_move(Reorder(), state, made) == (1, 0)
    assert state.objective == objective
    np.testing.assert_array_equal(state.totals.N, N)
    assert len(recorder.visits) == 2


def test_reorder_proposes_nothing_for_sorted_topics():
    made, state, _ = unsorted_state()
    run_move(Reorder(), state, made)
    assert run_move(Reorder(), state, made) == (0, 0)


class NotingMerge(Merge):
    """Remembers which topic went into which, by their names."""

    def __init__(self):
        super().__init__()
        self.into = {}

    def apply(self, state, accepted, standing):
        super().apply(state, accepted, standing)
        left = set(state.topic_ids.tolist())
        for candidate in accepted:
            (gone,) = {candidate.left, candidate.right} - left
            self.into[gone] = candidate.left + candidate.right - gone


@pytest.mark.parametrize("merge_first", [True, False])
def test_merge_and_reorder_of_one_lap_leave_a_consistent_state(merge_first):
    """In either order: tracked pairs are found by the names of their topics; every store is pooled and permuted."""
    corpus, _ = toy_bars(60, size=6, n_bars=4, tokens=50, seed=4)
    made, _ = schedule(corpus, 3)
    state, _ = first_lap(made, begin(corpus, 12, 4))
    recorder, merge, reorder = Recorder(), NotingMerge(), Reorder()
    moves = [recorder, merge, reorder] if merge_first else [recorder, reorder, merge]
    further = laps(made, state, moves, 1)
    together = 0
    for _ in range(6):
        old_ids, merge.into = state.topic_ids.tolist(), {}
        info = next(further)[1]
        together += info.moves["merge"][1] > 0 and info.moves["reorder"][1] > 0
        new_ids = state.topic_ids.tolist()
        to = np.zeros((len(old_ids), len(new_ids)))
        for i, name in enumerate(old_ids):
            to[i, new_ids.index(merge.into.get(name, name))] = 1.0

        def pool(r, theta, to=to):
            return [x @ to for x in r], np.concatenate([theta[:, :-1] @ to, theta[:, -1:]], axis=1)

        assert_state_is(state, made, recorder.visits, pool)
    assert together > 0
