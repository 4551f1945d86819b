"""Merge moves: what is predicted is what is found when everything is recomputed from the merged q."""

import numpy as np
import pytest

from stickbreak.corpus import toy_bars
from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.moves import Merge, Reorder, merge, run_move
from stickbreak.variational.moves.merge import EMPTY
from stickbreak.variational.state import GlobalParameters

from .. import reference
from ..problems import (
    Recorder,
    assert_summary_equal,
    begin,
    direct_objective,
    documents_of_visit,
    gathered,
    ragged_corpus,
    responsibilities,
    run_laps,
    schedule,
    shown,
    thetas,
)


def tracked_lap(corpus, n_topics, n_batches, move, seed=0, n_laps=2):
    """A state whose last lap `move` has tracked, before any move was tried; the recorder of its visits."""
    made, _ = schedule(corpus, n_batches)
    state, _ = first_lap(made, begin(corpus, n_topics, seed))
    recorder, watcher = Recorder(), Watcher(move)
    further = laps(made, state, [recorder, watcher], 1)
    for _ in range(n_laps):
        next(further)
    return made, state, recorder


class Watcher(Recorder):
    """Lets a move track, and never lets it try."""

    def __init__(self, move):
        super().__init__()
        self.move = move

    def begin(self, state):
        self.move.begin(state)

    def observer(self):
        return self.move.observer()

    def note(self, index, observed):
        self.move.note(index, observed)


def assert_state_is(state, made, visits, pool):
    """Every store of the state equals recomputation from q of the visits after `pool` (batch by batch)."""
    all_docs, all_r, all_theta = [], [], []
    n_words = state.totals.S.shape[0]
    for b in sorted(visits):
        docs = documents_of_visit(visits[b])
        r, theta = pool(responsibilities(visits[b]), thetas(visits[b]))
        twin = reference.statistics(docs, r, theta, n_words)
        assert_summary_equal(state.batches[b].expanded(), twin)
        n_dk = np.array([c @ x for (_, c), x in zip(docs, r, strict=True)])
        np.testing.assert_allclose(state.documents[b].dense(state.totals.N.size), n_dk, rtol=1e-9, atol=1e-10)
        all_docs, all_r, all_theta = all_docs + docs, all_r + r, [*all_theta, theta]
    theta = np.concatenate(all_theta)
    assert_summary_equal(state.totals, reference.statistics(all_docs, all_r, theta, n_words))
    np.testing.assert_allclose(state.parameters.tau, state.totals.S + 0.1)
    assert state.parameters.rho.size == state.parameters.omega.size == state.topic_ids.size == theta.shape[1] - 1
    direct = direct_objective(all_docs, all_r, theta, state, made.model)
    np.testing.assert_allclose(state.objective, direct, rtol=1e-9)


def apply_and_refresh(move, state, made, accepted, standing):
    move.apply(state, accepted, standing)
    state.refresh(made.model)


@pytest.mark.parametrize("n_batches", [1, 3])
def test_merge_predicts_the_objective_that_is_found(monkeypatch, n_batches):
    """For every tracked pair, good or bad: r' = r_l + r_m and theta' = theta_l + theta_m by the twin."""
    monkeypatch.setattr(merge, "SMALLEST_CORRELATION", -2.0)  # track every pair
    corpus = ragged_corpus(1, n_documents=15)
    n_topics, seen = 4, set()
    for place in range(n_topics * (n_topics - 1) // 2):
        move = Merge()
        made, state, recorder = tracked_lap(corpus, n_topics, n_batches, move)
        candidate = list(move.candidates(state))[place]
        seen.add((candidate.left, candidate.right))
        proposal = move.evaluate(state, state.standing(), made, candidate)
        keep, gone = sorted((candidate.left, candidate.right))
        apply_and_refresh(move, state, made, [candidate], proposal)
        np.testing.assert_allclose(proposal.objective, state.objective, rtol=1e-11)
        np.testing.assert_allclose(proposal.data, state.data, rtol=1e-9, atol=1e-9)
        assert_state_is(state, made, recorder.visits, lambda r, theta: reference.pooled(r, theta, keep, gone))  # noqa: B023
        np.testing.assert_array_equal(state.topic_ids, np.delete(np.arange(n_topics), gone))
    assert len(seen) == 6


def test_merge_evaluate_leaves_the_state_alone(monkeypatch):
    monkeypatch.setattr(merge, "SMALLEST_CORRELATION", -2.0)
    move = Merge()
    made, state, recorder = tracked_lap(ragged_corpus(2), 4, 2, move)
    objective = state.objective
    for candidate in list(move.candidates(state)):
        move.evaluate(state, state.standing(), made, candidate)
    assert state.objective == objective
    assert_state_is(state, made, recorder.visits, lambda r, theta: (r, theta))


@pytest.mark.parametrize("n_batches", [1, 3])
def test_merge_applies_disjoint_pairs_in_one_lap(n_batches):
    """Two accepted merges of the same lap: the second is judged by numbers tracked before the first."""
    corpus = ragged_corpus(3, n_documents=20)
    move = Merge()
    made, state, recorder = tracked_lap(corpus, 6, n_batches, move)
    move._pairs, move._ids = np.array([[1, 4], [4, 5], [0, 3]]), np.array([[1, 4], [4, 5], [0, 3]])
    for b, result in recorder.visits.items():
        shown(move, b, result)
    accepted, standing = [], state.standing()
    for candidate in move.candidates(state):
        if move.compatible(candidate, accepted):
            standing = move.evaluate(state, standing, made, candidate)
            accepted.append(candidate)
    assert [(c.left, c.right) for c in accepted] == [(1, 4), (0, 3)]  # 4 was used up
    apply_and_refresh(move, state, made, accepted, standing)
    np.testing.assert_allclose(standing.objective, state.objective, rtol=1e-11)

    def pool(r, theta):
        return reference.pooled(*reference.pooled(r, theta, 1, 4), 0, 3)

    assert_state_is(state, made, recorder.visits, pool)
    np.testing.assert_array_equal(state.topic_ids, [0, 1, 2, 5])


def split_start(corpus, share=0.5):
    """A converged state's parameters with its largest topic split in two equal ones."""
    made, _ = schedule(corpus)
    state, _ = run_laps(made, begin(corpus, 3, 1), [Merge(), Reorder()], 10)
    p = state.parameters
    k = int(np.argmax(state.totals.N))
    counts = p.tau - 0.1
    twin = counts[:, [k]] * share
    counts[:, k] -= twin[:, 0]
    tau = np.concatenate([counts, twin], axis=1) + 0.1
    beta = np.append(p.expected_beta[:-1], p.expected_beta[k] * share)
    beta[k] *= 1 - share
    return GlobalParameters(tau, tau.sum(axis=0), *sticks_of(beta, 30.0)), k, state.topic_ids.size


@pytest.mark.parametrize("n_batches", [1, 3])
def test_merge_joins_a_topic_that_was_split_in_two(n_batches):
    corpus, _ = toy_bars(60, size=6, n_bars=4, tokens=50, seed=2)
    start, k, n_topics = split_start(corpus)
    # without extrapolation, by which documents choose one of the halves so soon that these part between two batches
    made, _ = schedule(corpus, n_batches, settings=LocalSettings(accelerate=False))
    state, _ = first_lap(made, start)
    assert state.topic_ids.size == n_topics + 1
    info = next(laps(made, state, [Merge()], 1))[1]
    assert info.moves["merge"][1] >= 1
    assert n_topics not in state.topic_ids or k not in state.topic_ids


def test_merge_removes_an_empty_topic():
    corpus, _ = toy_bars(40, size=6, n_bars=4, tokens=50, seed=3)
    made, _ = schedule(corpus, 2)
    state, _ = run_laps(made, begin(corpus, 4, 0), [Merge(), Reorder()], 10)
    p, n_topics = state.parameters, state.topic_ids.size
    tau = np.concatenate([np.full((corpus.n_words, 1), 0.1), p.tau], axis=1)  # the prior, first, never chosen
    rho, omega = np.concatenate([[1e-6], p.rho]), np.concatenate([[50.0], p.omega])
    again, _ = first_lap(made, GlobalParameters(tau, tau.sum(axis=0), rho, omega))
    assert again.totals.N[0] < 1e-6
    before = again.objective
    info = next(laps(made, again, [Merge()], 1))[1]
    assert info.moves["merge"][1] >= 1
    assert again.objective > before
    assert again.topic_ids.size <= n_topics
    assert again.totals.N.min() > 1


def test_merge_accepts_only_what_raises_the_objective():
    corpus, _ = toy_bars(60, size=6, n_bars=4, tokens=50, seed=2)
    made, _ = schedule(corpus, 2)
    move = Merge()
    made, state, _ = tracked_lap(corpus, 8, 2, move)
    before, n_topics = state.objective, state.topic_ids.size
    tried, accepted = run_move(move, state, made)
    assert tried >= accepted
    assert state.topic_ids.size == n_topics - accepted
    assert state.objective >= before
    if accepted:
        assert state.objective > before * (1 - np.sign(before) * 1e-9)


def test_merge_lets_a_rejected_pair_rest(monkeypatch):
    """A rejected pair is not tracked again for REST_LAPS laps, then it is."""
    monkeypatch.setattr(merge, "SMALLEST_CORRELATION", -2.0)
    monkeypatch.setattr(merge, "REST_LAPS", 2)
    corpus, _ = toy_bars(60, size=6, n_bars=4, tokens=50, topics_per_document=(1, 1), seed=1)
    made, _ = schedule(corpus)
    state, _ = run_laps(made, begin(corpus, 4, 1), [Merge(), Reorder()], 12)  # the optimum: no merge helps
    move, tried = Merge(), []
    further = laps(made, state, [move], 13)
    for _ in range(6):
        counts = next(further)[1].moves["merge"]
        assert counts[1] == 0
        tried.append(counts[0])
    pairs = state.topic_ids.size * (state.topic_ids.size - 1) // 2
    assert tried == [pairs, 0, 0, pairs, 0, 0]


def test_merge_remembers_rejected_pairs_through_a_snapshot(monkeypatch):
    monkeypatch.setattr(merge, "SMALLEST_CORRELATION", -2.0)
    move = Merge()
    _, state, _ = tracked_lap(ragged_corpus(1, n_documents=15), 4, 1, move)
    for candidate in move.candidates(state):
        move.reject(state, candidate)
    resumed, fresh = Merge(), Merge()
    resumed.restore(move.snapshot())
    resumed.begin(state)
    fresh.begin(state)
    assert [*resumed.candidates(state)] == []
    assert len([*fresh.candidates(state)]) == 6


def test_merge_forgets_pairs_that_rest_no_longer_or_that_are_gone(monkeypatch):
    monkeypatch.setattr(merge, "SMALLEST_CORRELATION", -2.0)
    monkeypatch.setattr(merge, "REST_LAPS", 1)
    move = Merge()
    _, state, _ = tracked_lap(ragged_corpus(1, n_documents=15), 4, 1, move)
    for candidate in move.candidates(state):
        move.reject(state, candidate)
    state.topic_ids = np.where(state.topic_ids == 2, 9, state.topic_ids)
    remembered = []
    for _ in range(2):
        move.begin(state)
        remembered.append({tuple(sorted(row[:2])) for row in move.snapshot()["rejected"]})
    assert remembered == [{(0, 1), (0, 3), (1, 3)}, set()]


def merge_scores(state):
    return state.model.likelihood.merge_scores(state.totals.S, state.totals.N, state.data)


def chosen(state, resting=()):
    return [tuple(pair) for pair in merge.choose_pairs(state, set(resting)).tolist()]


def test_choose_pairs_takes_the_best_by_documents_and_by_words(monkeypatch):
    """Pairs that correlate over documents and pairs with similar words, the best of each first."""
    _, state, _ = tracked_lap(ragged_corpus(1, n_documents=40), 6, 3, Merge())
    state.totals.N += EMPTY  # no topic counts as empty here
    together, alike = merge.correlations(state), merge_scores(state)
    above = [(a, b) for a in range(6) for b in range(a + 1, 6)]
    by_documents = {pair: together[pair] for pair in above if together[pair] > merge.SMALLEST_CORRELATION}
    by_words = {pair: alike[pair] for pair in above if alike[pair] > DirichletMultinomial.least_merge_score}
    pairs = chosen(state)
    assert len(by_documents) > 2
    assert set(by_documents) | set(by_words) <= set(pairs) <= set(above)
    assert len(set(pairs)) == len(pairs)
    assert pairs[0] == max(by_documents, key=by_documents.get)
    if by_words:
        assert max(by_words, key=by_words.get) in pairs[:2]
    for resting in (pairs[0], pairs[0][::-1]):
        assert chosen(state, [resting])[0] != pairs[0]
        assert pairs[0] not in chosen(state, [resting])
    for score, correlation, by_statistics in ((together, -2.0, 2.0), (alike, 2.0, -2.0)):
        with monkeypatch.context() as patch:  # either rule brings its pairs by itself
            patch.setattr(merge, "SMALLEST_CORRELATION", correlation)
            patch.setattr(DirichletMultinomial, "least_merge_score", by_statistics)
            assert {pair for pair in above if np.isfinite(score[pair])} <= set(chosen(state))
    monkeypatch.setattr(merge, "MAX_PAIRS", 2)
    assert chosen(state) == pairs[:2]


def test_choose_pairs_begins_with_the_empty_topics_each_with_a_topic_of_its_own():
    """So that all of them can go in one lap: merges of a lap must not share a topic."""
    _, state, _ = tracked_lap(ragged_corpus(1, n_documents=40), 6, 3, Merge())
    state.totals.N[:] = [5.0, 0.0, 90.0, 1.0, 0.0, 3.0]
    first = chosen(state)[:2]
    assert {frozenset({1, 4} & set(pair)) for pair in first} == {frozenset({1}), frozenset({4})}
    assert len({k for pair in first for k in pair}) == 4


def test_correlations_and_merge_scores_equal_direct_ones():
    _, state, recorder = tracked_lap(ragged_corpus(1, n_documents=40), 6, 3, Merge())
    docs, r, _ = gathered(recorder)
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


def test_correlation_of_a_topic_that_never_varies_is_missing():
    corpus = ragged_corpus(1, n_documents=1 + 1)
    made, _ = schedule(corpus)
    state, _ = first_lap(made, begin(corpus, 3))
    state.documents[0].n_dk[:] = 0.0
    assert np.isnan(merge.correlations(state)).all()
