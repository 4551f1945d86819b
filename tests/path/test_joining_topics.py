"""The greedy path against all pairs tried by definition, its bounds, and planted copies of topics."""

import numpy as np
import pytest
from tests.path.problems import evidence_of, problem
from tests.path.reference import greedy, joined, log_p, shares

from stickbreak.fitting.engine import Engine
from stickbreak.path import joining_topics
from stickbreak.path.joining_topics import JoiningState, join_to_one


@pytest.fixture
def engine():
    with Engine(1) as one:
        yield one


def same(*given):
    """Return evidence that both chooses joins and scores them."""
    return [evidence_of(*given)], [evidence_of(*given)]


@pytest.mark.parametrize("by_word", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_path_is_that_of_trying_every_pair(seed, by_word, engine):
    S, eta, theta, held = problem(seed)
    if by_word:
        eta = np.random.default_rng(seed).gamma(0.5, 0.6, S.shape[1]) + 0.01
    joins, by_document = greedy(S, eta, theta, held)
    path = join_to_one(*same(S, eta, theta, held), eta, S.shape[1], engine)
    np.testing.assert_array_equal(path.joins, joins)
    np.testing.assert_allclose(path.scores, by_document.sum(axis=1) / held.sum(), rtol=1e-10)


def halved(S, eta, theta, held):
    """Return two parts of the evidence, with other topics in each, and what `greedy` finds of both together."""
    rng = np.random.default_rng(9)
    half = len(held) // 2
    return [(S, eta, theta[:half], held[:half]), (S * rng.uniform(0.8, 1.2, S.shape), eta, theta[half:], held[half:])]


@pytest.mark.parametrize("seed", range(3))
def test_parts_of_the_evidence_decide_together(seed, engine):
    S, eta, theta, held = problem(seed)
    parts = halved(S, eta, theta, held)
    evidence = [evidence_of(*part) for part in parts]
    path = join_to_one(evidence, evidence, eta, S.shape[1], engine)
    number, left = list(range(len(S))), [(part[0], part[2]) for part in parts]
    for step, (a, b) in enumerate(path.joins.tolist()):
        tried = {
            (x, y): sum(
                log_p(made, eta, weights, part[3]).sum()
                for part, at in zip(parts, left, strict=True)
                for made, weights in [joined(*at, x, y)]
            )
            for y in range(len(number))
            for x in range(y)
        }
        best = max(tried, key=tried.get)
        assert [number[best[0]], number[best[1]]] == [a, b]
        assert path.scores[step + 1] == pytest.approx(tried[best] / held.sum(), rel=1e-10)
        left = [joined(*at, *best) for at in left]
        number.pop(best[1])
    assert path.n_documents == len(held)


@pytest.mark.parametrize("spoilt", [False, True])
def test_some_documents_choose_and_others_score(spoilt, engine, monkeypatch):
    """Joins are those of the first alone, scores those of the others: of two parts with topics of their own."""
    S, eta, theta, held = problem(6)
    chosen, scored = halved(S, eta, theta, held)
    twice = [scored, (S, eta, theta[:9], held[:9])]
    join = joining_topics.ScoredPart.join

    def rough(one, a, b):
        join(one, a, b)
        one.p[:] = 1.0
        return True  # so p is made again

    if spoilt:
        monkeypatch.setattr(joining_topics.ScoredPart, "join", rough)
    path = join_to_one([evidence_of(*chosen)], [evidence_of(*each) for each in twice], eta, S.shape[1], engine)
    joins, _ = greedy(*chosen)
    np.testing.assert_array_equal(path.joins, joins)
    totals = sum(_follow(*each, joins)[1] for each in twice)
    n_tokens = sum(each[3].sum() for each in twice)
    np.testing.assert_allclose(path.scores, totals / n_tokens, rtol=1e-10)
    assert (path.n_tokens, path.n_documents) == (n_tokens, len(scored[3]) + 9)


@pytest.mark.parametrize("seed", range(4))
def test_gain_of_a_pair_is_the_difference_of_two_models(seed, engine):
    S, eta, theta, held = problem(seed)
    state = JoiningState([evidence_of(S, eta, theta, held)], eta, S.shape[1])
    K = len(S)
    flat = np.array([a * K + b for a in range(K) for b in range(a + 1, K)])
    found, bounds = state._gains(flat, engine), state._bounds.ravel()[flat]
    expected = [
        log_p(*(of := joined(S, theta, a, b))[:1], eta, of[1], held).sum() - log_p(S, eta, theta, held).sum()
        for a, b in zip(*np.divmod(flat, K), strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    assert (bounds >= found - 1e-10).all()
    p = theta @ shares(S, eta)
    linear = [
        (held * (of[1] @ shares(of[0], eta) - p) / p).sum()
        for of in (joined(S, theta, a, b) for a, b in zip(*np.divmod(flat, K), strict=True))
    ]
    np.testing.assert_allclose(bounds, linear, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("threads", [2, 3])
def test_path_does_not_depend_on_threads(threads, engine):
    S, eta, theta, held = problem(3, K=60, W=120, D=150)
    one = join_to_one(*same(S, eta, theta, held), eta, S.shape[1], engine)
    with Engine(threads) as several:
        other = join_to_one(*same(S, eta, theta, held), eta, S.shape[1], several)
    np.testing.assert_array_equal(one.joins, other.joins)
    np.testing.assert_array_equal(one.scores, other.scores)


def test_few_candidates_lose_little_and_no_score(engine, monkeypatch):
    S, eta, theta, held = problem(4, K=60, W=120, D=150)
    many = join_to_one(*same(S, eta, theta, held), eta, S.shape[1], engine)
    monkeypatch.setattr(joining_topics, "ROUNDS", 1)
    monkeypatch.setattr(joining_topics, "ALWAYS", 2)
    few = join_to_one(*same(S, eta, theta, held), eta, S.shape[1], engine)
    assert np.abs(few.scores - many.scores).max() < 0.02
    _, by_document = _follow(S, eta, theta, held, few.joins)
    np.testing.assert_allclose(few.scores, by_document / held.sum(), rtol=1e-9)


def _follow(S, eta, theta, held, joins):
    """Return the totals of log p along given joins."""
    number, found = list(range(len(S))), [log_p(S, eta, theta, held).sum()]
    for a, b in joins.tolist():
        S, theta = joined(S, theta, number.index(a), number.index(b))
        number.remove(b)
        found.append(log_p(S, eta, theta, held).sum())
    return S, np.array(found)


def test_probabilities_that_rounding_could_spoil_are_made_again(engine, monkeypatch):
    monkeypatch.setattr(joining_topics, "ROUNDED", 0.999)  # every join
    S, eta, theta, held = problem(5)
    joins, by_document = greedy(S, eta, theta, held)
    path = join_to_one(*same(S, eta, theta, held), eta, S.shape[1], engine)
    np.testing.assert_array_equal(path.joins, joins)
    np.testing.assert_allclose(path.scores, by_document.sum(axis=1) / held.sum(), rtol=1e-10)
