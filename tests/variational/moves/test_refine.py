"""Refine, and what it shares with the birth: when a trial is due, how it is judged and carried out."""

import json
import tracemalloc
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreak.corpus import Corpus
from stickbreak.variational import words
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.moves import (
    Birth,
    Refine,
    base,
    run_move,
)
from stickbreak.variational.state import GlobalParameters

from ..following import arrays_of, assert_unchanged
from ..problems import made_move, schedule
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


@pytest.mark.parametrize("kind", TRIALS)
def test_nothing_is_proposed_beyond_the_topics_that_can_be_numbered(monkeypatch, kind):
    move = made_move(kind, fresh=5)
    made, state, _ = before_trial(move, small_bars(0), 5, 1)
    monkeypatch.setattr(words, "MOST_TOPICS", 4)
    assert move.propose(state, made) is None


def trial_candidates(move, state, *, rise, names=None):
    """Candidates at the end of a lap that began so much lower, with these topics."""
    at_begin = deepcopy(state)
    at_begin.objective = state.objective - rise * abs(state.objective)
    at_begin.topic_ids = state.topic_ids if names is None else np.array(names)
    move.begin(at_begin)
    return list(move.candidates(state))


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
