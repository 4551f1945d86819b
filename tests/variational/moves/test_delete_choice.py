"""Which topics a lap tries to delete: few documents, all of them gathered, and no recent rejection."""

from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest

from stickbreak.variational.moves import Delete
from stickbreak.variational.moves.delete import PATIENCE, REST, REST_GROWS

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
