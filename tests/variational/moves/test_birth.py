"""Births: topics from the documents that the present ones explain worst."""

import json

import numpy as np
import pytest

from stickbreak.corpus import toy_bars
from stickbreak.variational import VariationalHDP
from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.moves import Birth, Delete, Merge, Refine, Reorder, base, run_move
from stickbreak.variational.words import proposals
from stickbreak.variational.words.proposals import losses

from ..following import Holding
from ..problems import begin, documents_of_visit, made_move, ragged_corpus, responsibilities, schedule
from ..test_planted import distances
from .trials import before_trial, small_bars


def test_losses_equal_the_twin():
    """sum_w c (log c - log Z): from r = weight exp(E log phi) / Z."""
    move = made_move(Birth)
    corpus = ragged_corpus(3, n_documents=18, fractional=True)
    _, _, following = before_trial(move, corpus, 4, 1)
    visit = following.visits[0]
    found = losses(visit)
    docs = visit.documents
    for d, ((words, counts), r) in enumerate(zip(documents_of_visit(visit), responsibilities(visit), strict=True)):
        if words.size == 0:
            assert found[d] == 0.0
            continue
        rows = visit.batch.word[visit.batch.indptr[d] : visit.batch.indptr[d + 1]]
        own = slice(docs.indptr[d], docs.indptr[d + 1])
        k = docs.topic[own][np.argmax(docs.n_dk[own])]
        weight = visit.weight[own][np.argmax(docs.n_dk[own])]
        Z = weight * visit.weights[rows, k] / r[:, k]
        np.testing.assert_allclose(found[d], counts @ (np.log(counts) - np.log(Z)), rtol=1e-8)
    assert found.shape == (18,)


def test_birth_looks_at_the_documents_that_lose_most_and_then_at_the_next(monkeypatch):
    monkeypatch.setattr(proposals, "DOCUMENTS", 12)
    move = made_move(Birth)
    made, state, following = before_trial(move, small_bars(1), 3)
    for tries in range(6):
        move.begin(state)
        for b in range(2):
            visit = following.visits[b]
            move.observe(b, visit, None)
            order = np.argsort(-losses(visit))[6 * tries % 30 :][:6]
            rows = np.sort(order)
            np.testing.assert_array_equal(move._proposals._worst[b].lengths, visit.batch.lengths[rows])
            np.testing.assert_array_equal(move._proposals._worst[b].count, visit.batch.selected(rows).count)
        if tries < 5:
            move.reject(state, 0)
        rests = move.snapshot()["tired_of"] is not None
        assert rests == (tries >= 4)  # 5 times 12 of 60 documents: all were looked at
        assert move.waiting(state) == (not rests)
    assert made.seed == 0


def test_birth_remembers_its_tries_through_a_snapshot(monkeypatch):
    """And draws other random numbers in the next one."""
    monkeypatch.setattr(proposals, "DOCUMENTS", 12)
    move = made_move(Birth)
    made, state, _ = before_trial(move, small_bars(1), 3)
    one, _ = move.propose(state, made)
    two, _ = move.propose(state, made)
    assert one.tau.shape != two.tau.shape or not np.array_equal(one.tau, two.tau)
    move.reject(state, 0)
    assert move.snapshot() == {"tired_of": None, "tries": 1, "seed": 2}
    resumed = made_move(Birth)
    resumed.restore(json.loads(json.dumps(move.snapshot())))
    assert resumed.snapshot() == move.snapshot()
    resumed.begin(state)
    resumed._proposals._worst = move._proposals._worst
    np.testing.assert_array_equal(resumed.propose(state, made)[0].tau, move.propose(state, made)[0].tau)


def test_birth_waits_for_nothing_before_its_first_rejection_or_once_it_is_tired(monkeypatch):
    monkeypatch.setattr(proposals, "DOCUMENTS", 12)
    move = made_move(Birth)
    made, state, _ = before_trial(move, small_bars(1), 3)
    assert not move.waiting(state)
    move._found = state  # as a trial leaves it
    move.reject(state, 0)
    assert move.waiting(state)
    assert move._found is None
    standing = move.evaluate(state, state.standing(), made, 0)
    state.objective = standing.objective  # accepted, but for so little that no other birth is worth its cost
    move.apply(state, [0], standing)
    assert move.snapshot()["tries"] == 1
    assert not move.waiting(state)


def test_fit_is_not_converged_before_births_have_looked_at_all_documents(monkeypatch):
    """All births fail and the objective stands still: five laps, each with other documents."""
    monkeypatch.setattr(proposals, "DOCUMENTS", 12)
    monkeypatch.setattr(Birth, "evaluate", lambda self, state, standing, schedule, candidate: standing)
    corpus = small_bars(1)
    settings = {"n_topics": 4, "tolerance": 1.0, "random_state": 0, "n_laps": 20}
    trace = VariationalHDP(moves=("birth",), **settings).fit(corpus).trace_
    first = int(np.flatnonzero(trace["birth_tried"])[0])
    assert trace["birth_tried"].tolist() == [0] * first + [1] * 5
    assert trace["moved"].tolist() == [0] * first + [1] * 4 + [0]
    assert VariationalHDP(moves=(), **settings).fit(corpus).n_laps_ < trace["moved"].size


def test_proposal_keeps_the_names_and_adds_new_ones_for_all_tokens():
    """Collapsed sweeps over all documents follow the birth, so the present topics do not stay as they were."""
    move, again = made_move(Birth), made_move(Birth)
    made, state, _ = before_trial(move, small_bars(1), 3)
    state.next_id = 11  # eight topics have come and gone
    parameters, names = move.propose(state, made)
    n_born = names.size - 3
    assert 1 <= n_born <= proposals.TOPICS
    np.testing.assert_array_equal(names, [0, 1, 2, *range(11, 11 + n_born)])
    assert parameters.tau.shape == (state.totals.S.shape[0], names.size)
    assert parameters.rho.shape == parameters.omega.shape == (names.size,)
    counts = parameters.tau - 0.1
    assert (counts > -1e-12).all()
    np.testing.assert_allclose(counts.sum(axis=1), state.totals.S.sum(axis=1), rtol=1e-6, atol=1e-9)  # of every word
    assert counts[:, 3:].sum() > 0
    assert (parameters.expected_beta > 0).all()
    again.begin(state)
    again._proposals._worst = move._proposals._worst
    same, same_names = again.propose(state, made)
    np.testing.assert_array_equal(same_names, names)
    np.testing.assert_array_equal(same.tau, parameters.tau)
    np.testing.assert_array_equal(same.expected_beta, parameters.expected_beta)


def test_birth_without_tokens_proposes_nothing():
    move = made_move(Birth)
    made, state, following = before_trial(move, ragged_corpus(1), 3)
    empty = np.flatnonzero(following.visits[0].batch.lengths == 0)
    move._proposals._worst = [following.visits[0].batch.selected(empty)]
    standing = state.standing()
    assert move.evaluate(state, standing, made, 0) is standing


def test_names_are_unique_and_never_used_again(monkeypatch):
    """Topics are born, the youngest are deleted, and others are born: no name comes back."""
    monkeypatch.setattr(base, "rises", lambda new, old: True)
    monkeypatch.setattr(Birth, "candidates", lambda self, state: [0])
    made, _ = schedule(small_bars(1), 2)
    state, _ = first_lap(made, begin(small_bars(1), 3))
    ever = set(state.topic_ids.tolist())
    move, delete = made_move(Birth), Delete(None)
    for lap in range(1, 5):
        known = set(state.topic_ids.tolist())
        monkeypatch.setattr(delete, "candidates", lambda state: iter([int(state.topic_ids.max())]))
        next(laps(made, state, [Holding(move, delete)], lap))
        state.gathering.changed = False
        assert run_move(delete, state, made) == (1, 1)
        known.remove(max(known))
        next(laps(made, state, [move], lap))
        now = state.topic_ids.tolist()
        assert len(set(now)) == len(now)
        new = set(now) - known
        assert new
        assert not new & ever
        assert state.next_id == max(now) + 1
        ever |= new


@pytest.mark.parametrize("n_batches", [1, 4])
@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_births_find_the_planted_topics_from_few(n_topics, n_batches):
    """Ten bars. Births and merges may end with a topic more, as no move here repairs a split one."""
    corpus, truth = toy_bars(200, size=10, n_bars=10, tokens=80, seed=1)
    made, _ = schedule(corpus, n_batches)
    state, info = first_lap(made, begin(corpus, n_topics, 0))
    moves = [Merge(), made_move(Birth), Reorder()]
    values = [info.objective]
    for _, (_, info) in zip(range(25), laps(made, state, moves, 1), strict=False):
        values.append(info.objective)
    assert (np.diff(values) > -1e-9 * np.abs(values[1:])).all()
    assert 10 <= state.topic_ids.size <= 14
    topic_word = (state.parameters.tau / state.parameters.tau_sum).T
    assert distances(topic_word, truth.topic_word).mean() < 0.12


def test_births_deletes_and_refinement_find_exactly_the_planted_number():
    corpus, truth = toy_bars(200, size=10, n_bars=10, tokens=80, seed=1)
    made, _ = schedule(corpus, 2)
    state, _ = first_lap(made, begin(corpus, 2, 0))
    moves = [Merge(), Delete(), made_move(Birth), made_move(Refine), Reorder()]
    for _ in zip(range(25), laps(made, state, moves, 1), strict=False):
        pass
    assert state.topic_ids.size == 10
    topic_word = (state.parameters.tau / state.parameters.tau_sum).T
    assert distances(topic_word, truth.topic_word).max() < 0.12
