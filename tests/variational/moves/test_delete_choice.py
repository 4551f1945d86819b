"""Which topics a lap tries to delete: few documents, all of them gathered, and no recent rejection."""

import json
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest

from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.moves import Delete
from stickbreak.variational.moves.delete import PATIENCE, REST, REST_GROWS

from ..following import Following, Holding
from ..problems import begin, ragged_corpus, run_laps, schedule
from .deletes import SHARP, gathered_lap, holders_of


def test_delete_chooses_the_smallest_topics_whose_documents_together_are_few_enough():
    """For every limit: as many as fit, documents in common counted once."""
    corpus = ragged_corpus(6, n_documents=40)
    made, _ = schedule(corpus, 3, **SHARP)
    state, _ = run_laps(made, begin(corpus, 8, 0, **SHARP), [], 2)
    shared, sizes = 0, set()
    for most in range(41):
        move = Delete(most)
        move.begin(state)
        want, documents = [], set()
        for k in np.argsort(state.totals.N, kind="stable")[:-1]:
            own = {(b, d) for b, x in enumerate(state.documents) for d in x.rows[x.topic == k].tolist()}
            if len(own) > most:
                continue
            if len(documents | own) > most:
                break
            shared += len(documents & own)
            want.append(k)
            documents |= own
        np.testing.assert_array_equal(move._chosen, want)
        sizes.add(len(want))
    assert shared > 0
    assert len(sizes) > 3


@pytest.mark.parametrize("most", [0, 3, 8, 14, 500])
def test_delete_gathers_at_most_max_documents(most):
    """The smallest topics first, as long as their documents together are no more than that."""
    corpus = ragged_corpus(6, n_documents=40)
    made, _ = schedule(corpus, 3, **SHARP)
    state, _ = run_laps(made, begin(corpus, 8, 0, **SHARP), [], 2)
    move = Delete(most)
    move.begin(state)
    N, holders = state.totals.N, holders_of(state)
    assert (np.diff(N[move._chosen]) >= 0).all()
    documents = set()
    for k in move._chosen:
        assert holders[k] <= most
        documents |= {(b, d) for b, x in enumerate(state.documents) for d in x.rows[x.topic == k].tolist()}
    assert len(documents) <= most
    assert 0 < move._chosen.size <= 7 or most < 8
    following = Following()
    next(laps(made, state, [following, Holding(move)], 3))
    gathered = sum(piece.n_documents for piece in state.gathering.pieces)
    assert gathered == len(
        {(b, d) for b, x in enumerate(state.documents) for d in x.rows[np.isin(x.topic, move._chosen)]}
    )
    for name in move.candidates(state):
        assert holders_of(state)[state.topic_ids == name] <= most


def test_larger_delete_gathers_every_document_of_all_topics_but_one():
    corpus = ragged_corpus(6, n_documents=40)
    made, _ = schedule(corpus, 3)
    state, _ = first_lap(made, begin(corpus, 6, 0))
    move = Delete(None)
    move.begin(state)
    assert move._chosen.size == 5
    assert np.argmax(state.totals.N) not in move._chosen


def test_delete_skips_a_topic_that_found_too_many_documents_in_the_lap():
    corpus = ragged_corpus(6, n_documents=40)
    move = Delete(None)
    _, state, _ = gathered_lap(corpus, 5, 2, move, **SHARP)
    sizes = {int(name): int(n) for name, n in zip(state.topic_ids, holders_of(state), strict=True)}
    names = list(move.candidates(state))
    move.max_documents = sorted(sizes[name] for name in names)[1]
    left = list(move.candidates(state))
    assert left == [name for name in names if sizes[name] <= move.max_documents]
    assert 0 < len(left) < len(names)


def test_delete_skips_a_topic_whose_documents_were_not_all_gathered():
    """Such as one that another topic was merged into."""
    move = Delete(None)
    _, state, _ = gathered_lap(ragged_corpus(6, n_documents=40), 5, 2, move)
    names = list(move.candidates(state))
    (topic,) = np.flatnonzero(state.topic_ids == names[0])
    piece = next(p for p in state.gathering.pieces if p.holds(topic).any())
    lost = int(np.flatnonzero(piece.holds(topic))[0])
    place = next(i for i, p in enumerate(state.gathering.pieces) if p is piece)
    state.gathering.pieces[place] = piece.selected(np.delete(np.arange(piece.n_documents), lost))
    left = list(move.candidates(state))
    assert names[0] not in left
    assert left == [name for name in names if name in left]


def rejected(move, state, name, lost):
    """Let the move reject a topic whose removal would have cost so much."""
    move._work = SimpleNamespace(standing=SimpleNamespace(objective=state.objective - lost))
    move.reject(state, name)


def test_rejected_delete_rests_until_the_objective_rose_by_a_part_of_its_cost():
    """The part grows with every rejection."""
    _, state, _ = gathered_lap(ragged_corpus(6, n_documents=40), 5, 2, Delete(None))
    move = Delete(None)
    move.begin(state)
    name, lost = move._names[0], 40.0

    def rests(rise):
        later = deepcopy(state)
        later.objective += rise
        move.begin(later)
        return name not in move._names

    assert not rests(0.0)
    for times in range(3):
        rejected(move, state, name, lost)
        part = REST * REST_GROWS**times * lost
        assert rests(0.0)
        assert rests(0.99 * part)
        assert not rests(1.01 * part)


@pytest.mark.parametrize("factor", [0.7, 0.79, 0.81, 1.0, 1.19, 1.21])
def test_rejected_delete_rests_no_longer_once_a_fifth_of_its_tokens_changed(factor):
    """Such as a topic that absorbed another; the tokens are compared with those of the last rejection."""
    _, state, _ = gathered_lap(ragged_corpus(6, n_documents=40), 5, 2, Delete(None))
    move = Delete(None)
    move.begin(state)
    name = move._names[0]
    for _ in range(2):
        rejected(move, state, name, 40.0)
        state.totals.N[state.topic_ids == name] *= factor
        move.begin(state)
        assert (name in move._names) == (not 0.8 < factor < 1.2)


def test_delete_forgets_the_rejection_of_a_topic_that_is_gone():
    _, state, _ = gathered_lap(ragged_corpus(6, n_documents=40), 5, 2, Delete(None))
    move = Delete(None)
    move.begin(state)
    gone, stays = move._names[:2]
    for name in (gone, stays):
        rejected(move, state, name, 40.0)
    state.topic_ids = np.where(state.topic_ids == gone, 99, state.topic_ids)
    move.begin(state)
    assert [row[0] for row in move.snapshot()["rejected"]] == [stays]


def test_delete_remembers_rejected_topics_through_a_snapshot():
    _, state, _ = gathered_lap(ragged_corpus(6, n_documents=40), 5, 2, Delete(None))
    move, resumed = Delete(None), Delete(None)
    move.begin(state)
    names = move._names
    for name in names[:2]:
        rejected(move, state, name, 40.0)
    rejected(move, state, names[0], 40.0)
    move._patience = 2
    resumed.restore(json.loads(json.dumps(move.snapshot())))
    for one in (move, resumed):
        one.begin(state)
        assert one._names[: len(names) - 2] == names[2:]
        assert not set(one._names) & set(names[:2])
    assert resumed.snapshot() == move.snapshot()
    assert resumed._patience == 2
    until, tokens = state.objective + REST * 40.0, dict(zip(state.topic_ids.tolist(), state.totals.N, strict=True))
    assert resumed._rejected == {
        names[0]: (pytest.approx(state.objective + REST * REST_GROWS * 40.0), 2, tokens[names[0]]),
        names[1]: (pytest.approx(until), 1, tokens[names[1]]),
    }


def test_rejections_end_the_tries_of_a_lap_and_leave_fewer_for_the_next():
    """Halved by every lap without a success, never below one; a success makes up for all of it."""
    move = Delete(None)
    _, state, _ = gathered_lap(ragged_corpus(6, n_documents=40), 8, 2, move)
    seen = []
    for _ in range(4):
        tried = 0
        for name in move.candidates(state):
            rejected(move, state, name, 40.0)
            tried += 1
        seen.append(tried)
    assert seen == [PATIENCE, PATIENCE // 2, 1, 1]
    names = move.candidates(state)
    gone = next(names)
    state.topic_ids = state.topic_ids[state.topic_ids != gone]  # as if the delete had been accepted
    move._failures = move._patience
    assert list(names) == []
    assert move._patience == PATIENCE
