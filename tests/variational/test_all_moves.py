"""All moves together: the objective never falls, and every store is what recomputation from q gives."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stickbreak.corpus import Corpus, toy_bars
from stickbreak.fitting.engine import Engine
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.moves import MOVES, Birth, Delete, Merge, Refine, Reorder
from stickbreak.variational.objective import BOUNDS, POINT

from .following import Following, arrays_of
from .problems import begin, falls, made_move, ragged_corpus, schedule

RESTARTS = LocalSettings(restarts=5)


def followed_laps(made, start, moves, n_laps):
    """Run laps, every store compared with q after each: (state, every LapInfo, how often each move was followed)."""
    state, info = first_lap(made, start)
    infos, following = [info], Following()
    following.attach(moves)
    with following.watched():
        further = laps(made, state, [following, *moves], 1)
        for _ in range(n_laps):
            infos.append(next(further)[1])
            following.assert_is(state, rtol=1e-8)
    assert falls(infos).size == 0
    return state, infos, following.followed


@example(  # a topic that nobody holds, right after a birth has replaced the documents
    seed=35275, n_documents=10, n_words=7, n_topics=2, n_batches=1, fractional=False, alpha=0.05, eta=0.001,
    bound="surrogate", learned=(), most=2, fresh=None, at_once=1,
    order=["refine", "birth", "delete", "merge", "reorder"],
)  # fmt: skip
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10**6),
    n_documents=st.integers(1, 12),
    n_words=st.integers(7, 12),
    n_topics=st.integers(1, 6),
    n_batches=st.sampled_from([1, 3]),
    fractional=st.booleans(),
    alpha=st.sampled_from([0.05, 0.5, 3.0]),
    eta=st.sampled_from([1e-3, 0.1, 1.0]),
    bound=st.sampled_from(BOUNDS),
    learned=st.sampled_from([(), ("alpha", "gamma", "eta")]),
    most=st.sampled_from([2, None]),
    fresh=st.sampled_from([None, 4]),
    at_once=st.sampled_from([1, 2, 3]),
    order=st.permutations(list(MOVES)),
)
def test_objective_never_falls_and_equals_recomputation_with_all_moves(
    seed, n_documents, n_words, n_topics, n_batches, fractional, alpha, eta, bound, learned, most, fresh, at_once, order
):
    corpus = ragged_corpus(seed, n_documents=max(n_documents, 2), n_words=n_words, fractional=fractional)
    made, _ = schedule(
        corpus, n_batches, alpha=alpha, eta=eta, bound=bound, learned=learned, settings=RESTARTS, at_once=at_once
    )
    made_moves = {name: made_move(kind, fresh=fresh) for name, kind in MOVES.items()} | {"delete": Delete(most)}
    start = begin(corpus, n_topics, seed, eta=eta)
    state, _, _ = followed_laps(made, start, [made_moves[name] for name in order], 5)
    np.testing.assert_allclose(state.totals.N.sum(), corpus.n_tokens, rtol=1e-9)


@pytest.mark.parametrize("learned", [(), ("alpha", "gamma", "eta")], ids=["fixed", "learned"])
@pytest.mark.parametrize(("bound", "at_once"), [("surrogate", 1), ("quadratic", 1), ("point", 1), ("surrogate", 2)])
def test_every_move_is_accepted_and_followed_on_bars(bound, at_once, learned):
    """From 12 topics for four bars, and from one, by all moves; then by those alone that the others left nothing to."""
    corpus, _ = toy_bars(40, size=4, n_bars=4, tokens=30, seed=3)
    made, _ = schedule(corpus, 2 * at_once, bound=bound, learned=learned, settings=RESTARTS, at_once=at_once)
    together = {name: 0 for name in MOVES}

    def run(kinds, n_topics):
        _, infos, followed = followed_laps(made, begin(corpus, n_topics, 3), [made_move(kind) for kind in kinds], 8)
        for name, n in followed.items():
            together[name] += n
        return infos

    assert sum(info.restarts[1] for n_topics in (12, 1) for info in run(MOVES.values(), n_topics)) > 0
    for name in [name for name, n in together.items() if n == 0]:
        for n_topics in (12, 1):
            run([MOVES[name]], n_topics)
    if bound == POINT:  # which no order of the topics changes
        assert together.pop("reorder") == 0
    assert all(n > 0 for n in together.values()), together


def test_drift_of_many_laps_with_all_moves_is_rounding():
    """Totals that are edited in place, past a re-summation, equal the sum of the batches."""
    corpus, _ = toy_bars(60, size=4, n_bars=4, tokens=30, seed=5)
    made, _ = schedule(corpus, 3, settings=RESTARTS, eta=0.02)
    moves = [Merge(), Delete(None), made_move(Birth), made_move(Refine), Reorder()]
    state, _, _ = followed_laps(made, begin(corpus, 10, 5, eta=0.02), moves, 14)
    assert state.totals.N.min() > 0.1


def test_all_moves_are_the_same_to_the_last_bit_for_1_and_2_threads(monkeypatch):
    monkeypatch.setattr("stickbreak.variational.local_step.SHARD_COUNTS", 64)
    corpus, _ = toy_bars(60, size=6, n_bars=4, tokens=40, seed=1)
    found = []
    for n_jobs in (1, 2):
        with Engine(n_jobs) as engine:
            made, _ = schedule(corpus, 2, engine=engine, settings=RESTARTS)
            state, _ = first_lap(made, begin(corpus, 8, 1))
            moves, accepted = [made_move(kind) for kind in MOVES.values()], 0
            for _, (_, info) in zip(range(9), laps(made, state, moves, 1), strict=False):
                accepted += sum(counts[1] for counts in info.moves.values())
            assert accepted > 3
            found.append(arrays_of(state))
    assert found[0].keys() == found[1].keys()
    for name, value in found[0].items():
        np.testing.assert_array_equal(found[1][name], value, err_msg=name)


@pytest.mark.parametrize("counts", [[[3.0]], [[2.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]], np.eye(3) * 0.01], ids=str)
def test_all_moves_accept_the_smallest_corpora(counts):
    corpus = Corpus.from_counts(np.array(counts))
    made, _ = schedule(corpus, 1, settings=RESTARTS)
    followed_laps(made, begin(corpus, 3, 0), [made_move(kind) for kind in MOVES.values()], 6)
