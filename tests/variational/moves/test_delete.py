"""Delete moves: what is predicted is what is found when everything is recomputed from the new q."""

from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.moves import Delete, Merge, Reorder, base, merge, run_move
from stickbreak.variational.moves import delete as deletes
from stickbreak.variational.state import GlobalParameters

from ..problems import begin, ragged_corpus
from .deletes import SHARP, gathered_lap, holders_of


def delete(move, state, made, name):
    """Take the topic out whatever the objective says; return the standing that was predicted."""
    standing = move.evaluate(state, state.standing(), made, name)
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


@pytest.mark.parametrize("n_batches", [1, 3])
@pytest.mark.parametrize("pair", [(0, 1), (2, 4), (3, 4)])
def test_delete_after_a_merge_of_the_same_lap(monkeypatch, n_batches, pair):
    """The gathered documents and the priors of all others follow the pooled topics."""
    monkeypatch.setattr(merge, "SMALLEST_CORRELATION", -2.0)  # track every pair
    corpus = ragged_corpus(3, n_documents=18)
    merging, move = Merge(), Delete(None)
    made, state, following = gathered_lap(corpus, 5, n_batches, merging, move)
    (candidate,) = (c for c in merging.candidates(state) if sorted((c.left, c.right)) == sorted(pair))
    merging.apply(state, [candidate], merging.evaluate(state, state.standing(), made, candidate))
    state.refresh(state.model)
    following.assert_is(state)
    names = list(move.candidates(state))
    before, q = deepcopy(state), deepcopy((following.r, following.theta, following.names))
    assert len(names) >= 2
    for name in names:
        state, (following.r, following.theta, following.names) = deepcopy(before), deepcopy(q)
        delete(move, state, made, name)
        following.assert_is(state)


@pytest.mark.parametrize("n_batches", [1, 3])
def test_deletes_of_one_lap_with_documents_in_common(n_batches):
    """The second delete starts from what the first one left, down to one topic; the topics are sorted in between."""
    corpus = ragged_corpus(4, n_documents=18)
    move, reorder = Delete(None), Reorder()
    made, state, following = gathered_lap(corpus, 5, n_batches, move, reorder)
    inferred = []
    for i, name in enumerate(move.candidates(state)):
        delete(move, state, made, name)
        following.assert_is(state)
        work = move._work
        inferred.append({(piece.batch, int(d)) for piece in work.target.pieces for d in piece.rows})
        if i == 0:
            order = np.argsort(-state.totals.N)[::-1]
            reorder.apply(state, [order], reorder.evaluate(state, state.standing(), made, order))
            state.refresh(state.model)
            following.assert_is(state)
    assert state.topic_ids.size == 1
    assert all(one & other for one, other in pairwise(inferred))
    assert following.followed == {"delete": 4, "reorder": 1}
    np.testing.assert_allclose(state.totals.N, corpus.n_tokens)


def test_delete_finds_the_documents_that_only_now_hold_its_topic():
    """A document that the first delete gave the second topic to belongs to the target of the second."""
    corpus = ragged_corpus(4, n_documents=18)
    move = Delete(None)
    made, state, following = gathered_lap(corpus, 5, 2, move, **SHARP)
    names = list(move.candidates(state))
    came = 0
    for first in names:
        for second in names:
            if first == second:
                continue
            now = deepcopy(state)
            k = int(np.flatnonzero(now.topic_ids == second)[0])
            held = {(p.batch, int(d)) for p in now.gathering.split(k)[0] for d in p.rows}
            standing = move.evaluate(now, now.standing(), made, first)
            deletes.carry_out(now, move._work)
            now.refresh(now.model)
            assert standing.objective == pytest.approx(now.objective, rel=1e-10)
            k = int(np.flatnonzero(now.topic_ids == second)[0])
            then = {(p.batch, int(d)) for p in now.gathering.split(k)[0] for d in p.rows}
            holders = {(b, d) for b, x in enumerate(now.documents) for d in np.unique(x.rows[x.topic == k]).tolist()}
            assert then == holders
            came += bool(then - held)
    assert came > 0
    assert following.names == state.topic_ids.tolist()


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


def lonely_corpus():
    """Two groups of documents with words of their own; the documents of the second have nothing but these."""
    counts = np.zeros((9, 6))
    counts[:5, :3] = [[5, 3, 0], [2, 6, 1], [4, 0, 4], [1, 1, 7], [0, 0, 0]]
    counts[5:, 3:] = [[1, 0, 1], [0, 2, 0], [0, 1, 1], [0, 0, 0]]
    return Corpus.from_counts(counts)


@pytest.mark.parametrize("n_batches", [1, 3])
def test_delete_of_the_only_topic_of_some_documents_starts_them_anew(n_batches):
    corpus = lonely_corpus()
    tau = np.full((6, 2), 1e-3)
    tau[:3, 0] += 10.0
    tau[3:, 1] += 5.0
    start = GlobalParameters(tau, tau.sum(axis=0), *sticks_of(np.array([0.6, 0.3]), 20.0))
    move = Delete()
    made, state, following = gathered_lap(corpus, 2, n_batches, move, start=start, n_laps=4, **SHARP)
    (name,) = move.candidates(state)
    assert name == 1
    alone = sum(int((x.dense(2)[:, 0] == 0).sum() - (x.dense(2).sum(axis=1) == 0).sum()) for x in state.documents)
    assert alone == 3
    delete(move, state, made, name)
    following.assert_is(state)
    np.testing.assert_allclose(np.concatenate([x.dense(1) for x in state.documents]).sum(), corpus.n_tokens)


def test_delete_of_the_only_topic_that_knows_a_word_of_a_document():
    """Its other topics give the word probability zero; under a tiny eta nothing could be divided by it."""
    counts = np.zeros((8, 6))
    counts[:4, :3] = [[5, 3, 2], [2, 6, 1], [4, 1, 4], [1, 1, 7]]
    counts[0, 4] = 2  # a document with two topics
    counts[4:, 3:] = [[3, 2, 0], [4, 3, 0], [0, 2, 6], [0, 3, 5]]
    tau = np.full((6, 3), 1e-3)
    tau[:3, 0] += 10.0
    tau[3:5, 1] += 5.0
    tau[4:, 2] += 5.0
    start = GlobalParameters(tau, tau.sum(axis=0), *sticks_of(np.array([0.5, 0.3, 0.1]), 20.0))
    move = Delete()
    made, state, following = gathered_lap(Corpus.from_counts(counts), 3, 2, move, start=start, alpha=0.01, **SHARP)
    assert any([True, True, False] in (x.dense(3) > 0).tolist() for x in state.documents)
    assert 1 in move.candidates(state)
    delete(move, state, made, 1)
    following.assert_is(state)


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
