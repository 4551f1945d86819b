"""Delete moves: what is predicted is what is found when everything is recomputed from the new q."""

from copy import deepcopy

import numpy as np
import pytest

from stickbreak.variational.moves import Delete, base, run_move

from ..problems import begin, ragged_corpus
from .deletes import gathered_lap, holders_of


def delete(move, state, made, name):
    """Take the topic out whatever the objective says; return the standing that was predicted."""
    standing = move.evaluate(state, state.objective_terms(), made, name)
    move.apply(state, [name], standing)
    state.refresh(state.model)
    np.testing.assert_allclose(standing.objective, state.objective, rtol=1e-10)
    np.testing.assert_allclose(standing.data, state.data, rtol=1e-8, atol=1e-8)
    for x in ("N", "H", "T", "G", "Q", "Q0"):
        np.testing.assert_allclose(getattr(standing.totals, x), getattr(state.totals, x), rtol=1e-9, atol=1e-9)
    assert standing.totals.n_documents == state.totals.n_documents
    return standing


@pytest.mark.parametrize("fractional", [False, True], ids=["integer", "fractional"])
@pytest.mark.parametrize("n_batches", [1, 3])
def test_delete_predicts_the_objective_that_is_found(n_batches, fractional):
    """For every topic, good or bad: the target by its new visit, all others without theta of the topic."""
    corpus = ragged_corpus(1, n_documents=16, fractional=fractional)
    move = Delete(None)
    made, state, following = gathered_lap(corpus, 5, n_batches, move)
    before, q = deepcopy(state), deepcopy((following.r, following.theta, following.names))
    candidates = list(move.candidates(state))
    assert len(candidates) == 4
    for name in candidates:
        state, (following.r, following.theta, following.names) = deepcopy(before), deepcopy(q)
        delete(move, state, made, name)
        following.assert_is(state)
        assert sum(group.lengths.size for group in move._work.others) + move._work.target.batch.n_documents == 16


def test_delete_never_removes_the_last_topic(monkeypatch):
    """Even if every candidate were accepted."""
    corpus = ragged_corpus(2, n_documents=20)
    move = Delete(None)
    made, state, following = gathered_lap(corpus, 4, 2, move)
    monkeypatch.setattr(base, "rises", lambda new, old: True)
    assert run_move(move, state, made) == (3, 3)
    following.assert_is(state)
    assert state.topic_ids.size == 1
    move._names = state.topic_ids.tolist()  # as if a merge had left no other topic
    assert sum(piece.n_documents for piece in state.gathering.split(0)[0]) == holders_of(state)[0] > 0
    assert list(move.candidates(state)) == []
    for _ in range(2):
        made, state, _ = gathered_lap(corpus, 1, 2, move)
        assert run_move(move, state, made) == (0, 0)


def test_topic_without_documents_goes_and_raises_the_objective():
    corpus = ragged_corpus(1, n_documents=16)
    start = begin(corpus, 4)
    start.tau[:, 2], start.rho[2] = 1e-12, 1e-6
    start.tau_sum[:] = start.tau.sum(axis=0)
    move = Delete(None)
    made, state, following = gathered_lap(corpus, 4, 2, move, start=start, n_laps=1)
    assert state.totals.N[2] == 0
    assert next(iter(move.candidates(state))) == 2
    before = state.objective
    delete(move, state, made, 2)
    following.assert_is(state)
    assert 2 not in state.topic_ids
    assert state.objective > before
