"""Merges and the order of topics: what is predicted is what is found when everything is recomputed from the new q."""

import numpy as np
import pytest

from stickbreak.variational.moves import Merge, Reorder, merge

from ..problems import ragged_corpus
from .deletes import gathered_lap


@pytest.mark.parametrize("n_batches", [1, 3])
def test_merge_predicts_the_objective_that_is_found(monkeypatch, n_batches):
    """For every tracked pair, good or bad: r' = r_l + r_m and theta' = theta_l + theta_m by the twin."""
    monkeypatch.setattr(merge, "SMALLEST_CORRELATION", -2.0)  # track every pair
    corpus = ragged_corpus(1, n_documents=15)
    n_topics, seen = 4, set()
    for place in range(n_topics * (n_topics - 1) // 2):
        move = Merge()
        made, state, following = gathered_lap(corpus, n_topics, n_batches, move, n_laps=2)
        candidate = list(move.candidates(state))[place]
        seen.add((candidate.left, candidate.right))
        proposal = move.evaluate(state, state.objective_terms(), made, candidate)
        move.apply(state, [candidate], proposal)
        state.refresh(made.model)
        np.testing.assert_allclose(proposal.objective, state.objective, rtol=1e-11)
        np.testing.assert_allclose(proposal.data, state.data, rtol=1e-9, atol=1e-9)
        following.assert_is(state)
    assert len(seen) == 6


def merge_scores(state):
    return state.model.likelihood.merge_scores(state.totals.S, state.totals.N, state.data)


def test_correlations_and_merge_scores_equal_direct_ones():
    _, state, following = gathered_lap(ragged_corpus(1, n_documents=40), 6, 3, Merge(), n_laps=2)
    docs, r, _ = following.q()
    n_dk = np.array([c @ x for (_, c), x in zip(docs, r, strict=True)])
    found, want = merge.correlations(state), np.corrcoef(n_dk.T)
    unused = n_dk.var(axis=0) < 1e-10  # a topic that is used nowhere has no correlation
    np.testing.assert_array_equal(np.isnan(found), unused[:, None] | unused)
    assert unused.sum() < 3
    np.testing.assert_allclose(found, np.where(np.isnan(found), np.nan, want), rtol=1e-6, atol=1e-9)
    used = state.totals.N > 1e-3
    phi = (state.totals.S / state.totals.S.sum(axis=0)).T[used]
    want = [[np.sqrt(a * b).sum() for b in phi] for a in phi]
    np.testing.assert_allclose(merge_scores(state)[np.ix_(used, used)], want, rtol=1e-6, atol=1e-9)


def unsorted_state(n_batches=2, seed=1):
    """(schedule, state, q) of the second lap, whose topics do not stand by size, and a move for their order."""
    move = Reorder()
    made, state, following = gathered_lap(ragged_corpus(seed, n_documents=20), 5, n_batches, move, seed=seed, n_laps=1)
    assert (np.diff(state.totals.N) > 0).any()
    return made, state, following, move


def test_reorder_predicts_the_objective_that_is_found():
    made, state, following, move = unsorted_state()
    order = np.array([3, 0, 4, 2, 1])  # any order, better or worse
    proposal = move.evaluate(state, state.objective_terms(), made, order)
    move.apply(state, [order], proposal)
    state.refresh(made.model)
    np.testing.assert_allclose(proposal.objective, state.objective, rtol=1e-12)
    following.assert_is(state)
