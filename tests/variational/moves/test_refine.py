"""Refine, and what it shares with the birth: when a trial is due, how it is judged and carried out."""

import json
import tracemalloc
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreak.corpus import Corpus
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.moves import (
    MOVES,
    Birth,
    Delete,
    Merge,
    MoveSettings,
    Refine,
    base,
    births,
    make_moves,
    run_move,
)
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.words import sample

from ..following import Following, arrays_of, assert_unchanged
from ..problems import begin, made_move, ragged_corpus, run_laps, schedule
from .trials import before_trial, small_bars

TRIALS = [Refine, Birth]


@pytest.mark.parametrize("kind", TRIALS)
@pytest.mark.parametrize("n_batches", [1, 3])
def test_rejected_trial_leaves_the_state_as_it_was(monkeypatch, kind, n_batches):
    move = made_move(kind)
    made, state, following = before_trial(move, small_bars(1), 5, n_batches)
    monkeypatch.setattr(base, "rises", lambda new, old: False)
    before = arrays_of(state)
    monkeypatch.setattr(move, "candidates", lambda state: [0])
    assert run_move(move, state, made) == (1, 0)
    assert_unchanged(state, before)
    assert following.followed == {}
    assert move._found is None  # a second state is not kept


@pytest.mark.parametrize("kind", TRIALS)
@pytest.mark.parametrize("bound", ["surrogate", "quadratic"])
@pytest.mark.parametrize("n_batches", [1, 3])
def test_objective_after_a_trial_equals_recomputation(monkeypatch, kind, bound, n_batches):
    """Of a trial that is accepted whatever it leads to; the next lap goes on from there and does not fall."""
    move = made_move(kind)
    corpus = ragged_corpus(3, n_documents=18, fractional=True)
    made, state, following = before_trial(move, corpus, 4, n_batches, bound=bound)
    monkeypatch.setattr(move, "candidates", lambda state: [0])
    with monkeypatch.context() as patch, following.watched():
        patch.setattr(base, "rises", lambda new, old: True)
        assert run_move(move, state, made) == (1, 1)
    following.assert_is(state)
    assert move._found is None
    assert state.gathering.changed
    assert state.fresh_share == 1.0
    reached = state.objective
    following = Following()
    moves = following.attach([Merge(), Delete()])
    next(laps(made, state, [following, *moves], 5))
    following.assert_is(state)
    assert state.objective >= reached - 1e-9 * abs(reached)


@pytest.mark.parametrize("kind", TRIALS)
def test_statistics_of_before_an_accepted_trial_are_no_longer_used(monkeypatch, kind):
    """Merges were tracked, and deletes gathered, for documents that are not what they were."""
    merge, delete, move = Merge(), Delete(None), made_move(kind)
    corpus = small_bars(2)
    made, state, _ = before_trial(move, corpus, 5)
    for other in (merge, delete):
        other.begin(state)
    assert list(merge.candidates(state))
    monkeypatch.setattr(move, "candidates", lambda state: [0])
    monkeypatch.setattr(base, "rises", lambda new, old: True)
    run_move(move, state, made)
    assert list(merge.candidates(state)) == []
    assert list(delete.candidates(state)) == []


def test_refine_keeps_the_names_and_the_number_of_topics(monkeypatch):
    move = made_move(Refine)
    made, state, _ = before_trial(move, small_bars(3), 6)
    state.next_id = 11  # five topics have come and gone
    names, next_id = state.topic_ids.copy(), state.next_id
    monkeypatch.setattr(base, "rises", lambda new, old: True)
    monkeypatch.setattr(move, "candidates", lambda state: [0])
    run_move(move, state, made)
    np.testing.assert_array_equal(state.topic_ids, names)
    assert state.next_id == next_id


def test_refine_mends_topics_that_mean_field_left(monkeypatch):
    """Of some poor starts, all within reach of a collapsed pass: the objective rises, by more than ten further laps."""
    gains = []
    for seed in range(4):
        move = made_move(Refine)
        made, state, _ = before_trial(move, small_bars(seed), 5, n_laps=6, seed=seed)
        monkeypatch.setattr(move, "candidates", lambda state: [0])
        without = deepcopy(state)
        further = laps(made, without, [], 7)
        for _ in range(10):
            next(further)
        _, accepted = run_move(move, state, made)
        gains.append(state.objective - without.objective if accepted else 0.0)
    assert max(gains) > 20.0


def trial_candidates(move, state, *, rise, names=None):
    """Candidates at the end of a lap that began so much lower, with these topics."""
    at_begin = deepcopy(state)
    at_begin.objective = state.objective - rise * abs(state.objective)
    at_begin.topic_ids = state.topic_ids if names is None else np.array(names)
    move.begin(at_begin)
    return list(move.candidates(state))


@pytest.mark.parametrize("kind", TRIALS)
def test_trial_is_due_when_a_lap_gained_little_and_kept_its_topics(kind):
    move = made_move(kind)
    _, state, _ = before_trial(move, small_bars(1), 4)
    assert trial_candidates(move, state, rise=0.9 * move.settled) == [0]
    assert trial_candidates(move, state, rise=1.1 * move.settled) == []
    assert trial_candidates(move, state, rise=0.0, names=[3, 1, 0, 2]) == [0]  # the same ones in another order
    assert trial_candidates(move, state, rise=0.0, names=[0, 1, 2, 3, 4]) == []
    assert list(made_move(kind).candidates(state)) == []  # not in a lap whose beginning it has not seen


@pytest.mark.parametrize("kind", TRIALS)
def test_rejected_trial_rests_until_the_topics_change_also_through_a_snapshot(kind):
    move = made_move(kind)
    _, state, _ = before_trial(move, small_bars(1), 4)
    resumed = made_move(kind)
    resumed.restore(json.loads(json.dumps(move.snapshot())))
    assert trial_candidates(resumed, state, rise=0.0) == [0]
    for _ in range(20):  # a birth tries other documents before it rests
        if move.snapshot()["tired_of"] is None:
            move.reject(state, 0)
    resumed.restore(json.loads(json.dumps(move.snapshot())))
    assert resumed.snapshot() == move.snapshot()
    for one in (move, resumed):
        assert trial_candidates(one, state, rise=0.0) == []
        other = deepcopy(state)
        other.topic_ids = np.array([0, 1, 2, 7])
        assert trial_candidates(one, other, rise=0.0) == [0]


@pytest.mark.parametrize(("gain", "tired"), [(0.9 * births.WORTH, True), (1.1 * births.WORTH, False)])
def test_accepted_trial_is_followed_by_another_only_if_it_gained_enough(monkeypatch, gain, tired):
    move = made_move(Refine)
    made, state, _ = before_trial(move, small_bars(1), 4)
    standing = move.evaluate(state, state.standing(), made, 0)
    state.objective = standing.objective - gain * abs(standing.objective)
    move.apply(state, [0], standing)
    state.refresh(state.model)
    assert (trial_candidates(move, state, rise=0.0) == []) == tired


@pytest.mark.parametrize("kind", TRIALS)
def test_trial_ends_early_only_where_the_answer_is_known(monkeypatch, kind):
    """Stopped when it is ahead, or when the laps that are left cannot bring it there; the decision is the same."""
    counted = []
    original = births.update_batches
    monkeypatch.setattr(births, "update_batches", lambda *a, **k: counted.append(1) or original(*a, **k))
    made, state, _ = before_trial(made_move(kind), small_bars(1), 4)
    for change, most in ((1e9, 2), (-1e9, 0)):  # far below what any topics reach, far above
        move, other = made_move(kind), deepcopy(state)
        move.begin(other)
        other.objective = state.objective + change
        counted.clear()
        move.evaluate(other, other.standing(), made, 0)
        assert len(counted) == most, change


def test_moves_that_nothing_can_propose_for_are_not_made():
    moves = make_moves(list(MOVES), MoveSettings())
    assert [move.name for move in moves] == ["merge", "delete", "reorder"]
    assert [move.name for move in make_moves(["reorder", "merge"], MoveSettings())] == ["merge", "reorder"]


@pytest.mark.parametrize("n_batches", [1, 4])
def test_sample_fits_the_memory_and_is_spread_over_every_batch(monkeypatch, n_batches):
    corpus = small_bars(0, n_documents=64)
    made, rows = schedule(corpus, n_batches)
    state, _ = run_laps(made, begin(corpus, 4), [], 1)
    monkeypatch.setattr("stickbreak.variational.words.MOST_TOKENS", (corpus.n_tokens + 1) / 4)
    found = sample(state, made)
    assert found.n_documents == 16
    order = np.concatenate([part[::4] for part in rows])
    np.testing.assert_array_equal(found.counts.toarray(), corpus.counts.toarray()[order])
    monkeypatch.setattr("stickbreak.variational.words.MOST_TOKENS", 1)
    assert sample(state, made).n_documents == n_batches


@pytest.mark.parametrize("n_batches", [1, 3])
def test_refine_works_on_a_sample_of_the_documents(monkeypatch, n_batches):
    """The statistics of the sample stand for those of all documents; what is judged are all documents."""
    move = made_move(Refine)
    made, state, following = before_trial(move, small_bars(1), 4, n_batches)
    monkeypatch.setattr("stickbreak.variational.words.MOST_TOKENS", 300)
    parameters = move.propose(state, made).parameters
    np.testing.assert_allclose((parameters.tau - 0.1).sum(), state.totals.N.sum(), rtol=1e-6)
    monkeypatch.setattr(move, "candidates", lambda state: [0])
    monkeypatch.setattr(base, "rises", lambda new, old: True)
    with following.watched():
        run_move(move, state, made)
    following.assert_is(state)
    monkeypatch.setattr("stickbreak.variational.words.MOST_TOKENS", 1)  # one document of each batch
    parameters = move.propose(state, made).parameters
    assert np.isfinite(parameters.tau).all()


def test_refine_of_a_sample_without_tokens_proposes_finite_topics(monkeypatch):
    corpus = Corpus.from_counts(np.vstack([np.zeros((1, 4)), np.eye(4) * 3]))
    made, _ = schedule(corpus, 1)
    state, _ = run_laps(made, begin(corpus, 2), [], 1)
    monkeypatch.setattr("stickbreak.variational.words.MOST_TOKENS", 1)
    parameters = made_move(Refine).propose(state, made).parameters
    assert np.isfinite(parameters.tau).all()


@pytest.mark.parametrize("kind", TRIALS)
def test_proposal_holds_no_table_of_all_documents_and_topics(kind):
    """Of 780,000 short texts such a table took 5 GB at 200 topics."""
    n_documents, n_words, n_topics = 40_000, 128, 64
    word, document = np.arange(n_documents) % n_words, np.arange(n_documents + 1)
    corpus = Corpus.from_counts(csr_array((np.full(n_documents, 3), word, document), shape=(n_documents, n_words)))
    tau = 0.01 + 1e3 * (np.arange(n_words)[:, None] % n_topics == np.arange(n_topics))
    sticks = sticks_of(np.full(n_topics, 1 / (n_topics + 1)), 1.0 + n_documents)
    made, _ = schedule(corpus, 4, eta=0.01)
    state, _ = first_lap(made, GlobalParameters(tau, tau.sum(axis=0), *sticks))
    tracemalloc.start()
    try:
        found = made_move(kind).propose(state, made)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found is not None
    assert found.parameters.n_topics >= n_topics
    assert peak < 0.8 * 8 * n_documents * n_topics
