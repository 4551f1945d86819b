"""Merges by tokens that are held back: their gains against a twin, and what a merge leaves."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreak.collapsed import merging
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE, add_up, random_start, start_from, sweep
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.merging import candidates, chosen, gain_bounds, gains, join, merge
from stickbreak.collapsed.moves import Rounds
from stickbreak.collapsed.starting_weights import StartingWeights
from stickbreak.collapsed.state import SMALLEST_BETA, Priors, assembled
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.numerics.pseudo_counts import total_of

from .problems import BY_WORD, column, dense_r, give_back, hold_back, small_corpus

PRIORS, ONE = Priors(alpha=0.7, gamma=3.0, eta=0.2), ThreadExecutor(1)


def prepared(n_topics=7, *, seed=1, sweeps=4):
    """A state after some sweeps, a third of its tokens held back; the counts kept and held back, dense."""
    corpus, _ = planted_lda(30, 12, n_topics=3, mean_tokens=25, seed=seed)
    state = random_start(corpus, n_topics, seed)
    hold_back(state, 0.3, seed)
    for _ in range(sweeps):
        sweep(state, PRIORS, SMALLEST_SHARE, seed, ONE)
    counts, held = np.zeros((2, *corpus.counts.shape))
    for part in state.documents.shards:
        document = part.first + np.repeat(np.arange(part.indptr.size - 1), np.diff(part.indptr))
        counts[document, part.word], held[document, part.word] = part.count, part.held
    return corpus, state, counts, held


def twin(corpus, state, counts, held, pair, least):
    """What a merge adds, and its standard error, token by token."""
    r = dense_r(corpus, state)
    W = corpus.n_words
    theta = np.einsum("dw,dwk->dk", counts, r) + PRIORS.alpha * state.beta
    phi = ((state.S + column(PRIORS.eta)) / (state.N + total_of(PRIORS.eta, W))).T
    k, m = pair
    joint = (state.S[:, k] + state.S[:, m] + PRIORS.eta) / (state.N[k] + state.N[m] + total_of(PRIORS.eta, W))
    before = theta @ phi
    others = np.setdiff1d(np.arange(theta.shape[1]), pair)
    after = theta[:, others] @ phi[others] + np.outer(theta[:, k] + theta[:, m], joint)
    seen = (theta[:, k] + theta[:, m] >= least * theta.sum(axis=1))[:, None]
    gain = np.where(seen, np.log(after / before), 0.0)
    return (held * gain).sum(), np.sqrt((held * gain**2).sum()), (held * (after / before - 1)).sum()


@pytest.fixture(params=["number", "by word"])
def kind_of_eta(request, monkeypatch):
    """Eta is a number, or one for each word."""
    if request.param == "by word":
        monkeypatch.setitem(globals(), "PRIORS", replace(PRIORS, eta=BY_WORD))


@pytest.mark.usefixtures("kind_of_eta")
@pytest.mark.parametrize("least", [0.0, 0.2])
def test_gains_equal_their_twin(monkeypatch, least):
    monkeypatch.setattr(merging, "LEAST_WEIGHT", least)
    corpus, state, counts, held = prepared()
    pairs = np.array([(0, 1), (5, 2), (3, 6)])
    found = gains(state, PRIORS, pairs, ONE)
    for q, pair in enumerate(pairs):
        gain, error, _ = twin(corpus, state, counts, held, pair, least)
        assert found[0][q] == pytest.approx(gain)
        assert found[1][q] == pytest.approx(error)


@pytest.mark.usefixtures("kind_of_eta")
def test_bounds_are_first_order_gains_and_never_below_them(monkeypatch):
    monkeypatch.setattr(merging, "LEAST_WEIGHT", 0.0)
    kept = {}
    original = merging.gain_bounds

    def note(*args):
        kept["bounds"] = original(*args)
        return kept["bounds"]

    monkeypatch.setattr(merging, "gain_bounds", note)
    monkeypatch.setattr(merging, "PAIRS_PER_TOPIC", 2)
    monkeypatch.setattr(merging, "LEAST_PAIRS", 1)
    corpus, state, counts, held = prepared()
    pairs, _ = candidates(state, PRIORS, ONE)
    every = np.stack(np.triu_indices(7, 1), axis=1)
    gain, _ = gains(state, PRIORS, every, ONE)
    bounds = kept["bounds"][every[:, 0], every[:, 1]]
    for q, pair in enumerate(every):
        assert bounds[q] == pytest.approx(twin(corpus, state, counts, held, pair, 0.0)[2])
    assert (bounds >= gain - 1e-9).all()
    assert len(pairs) == 14  # two for each topic
    chosen = kept["bounds"][pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(chosen, np.sort(bounds)[::-1][:14])
    assert (state.N[pairs[:, 0]] >= state.N[pairs[:, 1]]).all()
    assert gain_bounds(np.eye(2), np.ones(2), np.array([3.0, 5.0]), 0.1, 1.0).shape == (2, 2)


def test_pairs_of_few_topics_are_all_candidates():
    """Where a bar was split in two, the bounds of pairs of very different topics were above that of its halves."""
    _, state, _, _ = prepared()
    assert len(candidates(state, PRIORS, ONE)[0]) == 7 * 6 / 2


def test_tokens_of_topics_are_those_held_back(monkeypatch):
    monkeypatch.setattr(merging, "LEAST_WEIGHT", 0.0)
    corpus, state, counts, held = prepared()
    theta = np.einsum("dw,dwk->dk", counts, dense_r(corpus, state)) + PRIORS.alpha * state.beta
    p = theta[:, :, None] * ((state.S + PRIORS.eta) / (state.N + corpus.n_words * PRIORS.eta)).T[None]
    tokens = candidates(state, PRIORS, ONE)[1]
    np.testing.assert_allclose(tokens, np.einsum("dw,dkw->k", held, p / p.sum(axis=1, keepdims=True)))
    assert tokens.sum() == pytest.approx(held.sum())


def test_few_shards_at_a_time_have_tables_of_all_pairs(monkeypatch):
    """Each table has K x K numbers; the sum over many groups equals that over one."""
    monkeypatch.setattr("stickbreak.collapsed.cutting.SHARD_COUNTS", 5)
    monkeypatch.setattr("stickbreak.collapsed.cutting.TURNS", 1)
    _, state, _, _ = prepared()
    at_once = []

    class Counting(ThreadExecutor):
        def map(self, function, items):
            at_once.append(len(items))
            return super().map(function, items)

    grouped = candidates(state, PRIORS, Counting(1))
    assert sum(at_once) == len(state.documents.shards) > 2 * merging.AT_ONCE
    assert max(at_once) == merging.AT_ONCE
    monkeypatch.setattr(merging, "AT_ONCE", 1000)
    for one, other in zip(grouped, candidates(state, PRIORS, ONE), strict=True):
        np.testing.assert_array_equal(one, other)


MANY = 1e6  # tokens held back


@pytest.mark.parametrize(
    ("gain", "error", "tokens", "merged"),
    [
        (3.0, 2.0, (MANY, MANY), True),
        (-0.9, 1.0, (MANY, MANY), True),  # in standard errors: less than one may be lost, more may not
        (-1.1, 1.0, (MANY, MANY), False),
        (-0.45, 1.0, (MANY, 5.0), True),  # 0.09 nats for each of the smaller topic's, wherever it stands in the pair
        (-0.45, 1.0, (MANY, 4.0), False),
        (-0.45, 1.0, (4.0, MANY), False),
        (0.5, 1.0, (6.0, 5.0), True),  # enough tokens for both together
        (0.5, 1.0, (6.0, 3.0), False),
        (0.0, 0.0, (MANY, MANY), False),  # they say nothing
    ],
)
def test_merge_may_cost_little_by_its_error_and_by_its_tokens(gain, error, tokens, merged):
    pairs = np.array([[1, 0]])
    found = chosen(pairs, np.array([gain]), np.array([error]), np.array(tokens))
    np.testing.assert_array_equal(found, pairs if merged else pairs[:0])


def test_best_pairs_come_first_and_each_topic_once():
    pairs = np.array([[0, 1], [1, 2], [3, 4], [0, 4], [2, 4]])
    found = chosen(pairs, np.array([1.0, 4.0, 2.0, 3.0, -9.0]), np.ones(5), np.full(5, MANY))
    np.testing.assert_array_equal(found, [[1, 2], [0, 4]])


def test_topics_without_tokens_are_no_candidates():
    _, state, _, _ = prepared()
    state.N[[2, 4]] = 0.4
    assert not np.isin(candidates(state, PRIORS, ONE)[0], [2, 4]).any()


def test_threads_change_no_gain(monkeypatch):
    monkeypatch.setattr("stickbreak.collapsed.cutting.SHARD_COUNTS", 5)
    _, state, _, _ = prepared()
    assert max(map(len, state.documents.turns)) > 1
    with ThreadExecutor(3) as many:
        pairs, tokens = candidates(state, PRIORS, many)
        for one, other in zip((pairs, tokens), candidates(state, PRIORS, ONE), strict=True):
            np.testing.assert_array_equal(one, other)
        for one, other in zip(gains(state, PRIORS, pairs, many), gains(state, PRIORS, pairs, ONE), strict=True):
            np.testing.assert_array_equal(one, other)


def test_tokens_are_held_back_by_chance_and_come_back():
    corpus, _ = planted_lda(300, 50, n_topics=3, mean_tokens=100, seed=3)
    state = assembled(InMemory(corpus), np.ones(1))
    shards = state.documents.shards
    before = [part.count.copy() for part in shards]
    hold_back(state, 0.1, 5)
    held = np.concatenate([part.held for part in shards])
    assert abs(held.sum() / corpus.n_tokens - 0.1) < 4 * np.sqrt(0.09 / corpus.n_tokens)
    assert (held == np.floor(held)).all()
    for part, count in zip(shards, before, strict=True):
        np.testing.assert_array_equal(part.count + part.held, count)
        assert (part.count >= 0).all()
    again = assembled(InMemory(corpus), np.ones(1))
    hold_back(again, 0.1, 5)
    np.testing.assert_array_equal(np.concatenate([part.held for part in again.documents.shards]), held)
    give_back(state)
    for part, count in zip(shards, before, strict=True):
        np.testing.assert_array_equal(part.count, count)
        assert part.held is None


def test_of_weights_only_whole_tokens_are_held_back():
    corpus = Corpus.from_counts(small_corpus(2).counts.toarray() * 0.9)
    state = assembled(InMemory(corpus), np.ones(1))
    hold_back(state, 0.5, 1)
    shards = state.documents.shards
    for part in shards:
        assert (part.held <= np.floor(part.count + part.held)).all()
    assert sum(part.held.sum() for part in shards) > 0


def test_documents_are_as_long_as_their_tokens_that_are_not_held_back():
    _, state, counts, _ = prepared()
    np.testing.assert_allclose(state.documents.lengths(ONE), counts.sum(axis=1))
    empty = random_start(small_corpus(1), 2, 0)
    np.testing.assert_allclose(empty.documents.lengths(ONE), small_corpus(1).document_lengths)


def test_joined_topics_have_what_both_had():
    corpus, state, _, _ = prepared()
    before, r = {name: getattr(state, name).copy() for name in ("S", "N", "beta", "tables")}, dense_r(corpus, state)
    to = np.array([0, 0, 2, 2, 4, 0, 6])
    join(state, to, ONE)
    joined = np.zeros_like(r)
    for k in range(7):
        joined[:, :, to[k]] += r[:, :, k]
    np.testing.assert_allclose(dense_r(corpus, state), joined, atol=1e-6)
    for part in state.documents.shards:
        for p in range(part.word.size):
            topics = part.shares.topic[part.shares.start[p] : part.shares.start[p + 1]]
            assert np.unique(topics).size == topics.size
    kept, gone = [0, 2, 4, 6], [1, 3, 5]
    for name, table in before.items():
        now = np.atleast_2d(getattr(state, name))
        table = np.atleast_2d(table)
        np.testing.assert_allclose(now[:, 0], table[:, [0, 1, 5]].sum(axis=1))
        np.testing.assert_allclose(now[:, 4], table[:, 4])
        np.testing.assert_allclose(now[:, gone], SMALLEST_BETA if name == "beta" else 0.0)
        np.testing.assert_allclose(now[:, kept].sum(), table.sum(), rtol=1e-9)
    S, N = state.S.copy(), state.N.copy()
    add_up(state, ONE)
    np.testing.assert_allclose(state.S, S, atol=1e-5)
    np.testing.assert_allclose(state.N, N, atol=1e-5)


def test_copies_of_topics_are_merged_and_different_ones_stay():
    corpus, truth = planted_lda(300, 60, n_topics=3, alpha=0.3, mean_tokens=60, seed=4)
    phi, rng = truth.topic_word[[0, 1, 2, 0, 1]], np.random.default_rng(0)
    share = truth.document_weights[:, [0, 1, 2, 0, 1]] + 1e-3
    theta = StartingWeights.of_table(share * rng.uniform(0.2, 1.0, share.shape))
    state = start_from(InMemory(corpus), phi.T.copy(), theta, np.full(5, 0.19), SMALLEST_SHARE, 0, ONE)
    hold_back(state, 0.2, 0)
    for _ in range(3):
        sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)
    tried, made = merge(state, PRIORS, ONE)
    assert (tried, made) == (10, 2)
    left = np.flatnonzero(state.N > 1)
    assert left.size == 3
    found = (state.S / state.N.clip(1e-9)).T[left]
    assert (np.abs(found[:, None] - truth.topic_word[None]).sum(axis=2).min(axis=0) < 0.3).all()
    assert merge(state, PRIORS, ONE)[1] == 0


def test_nothing_is_merged_without_tokens_held_back_or_of_one_topic():
    state = random_start(small_corpus(1), 4, 0)
    sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)
    before = state.S.copy()
    assert merge(state, PRIORS, ONE)[1] == 0
    np.testing.assert_array_equal(state.S, before)
    one = random_start(small_corpus(1), 1, 0)
    hold_back(one, 0.3, 0)
    sweep(one, PRIORS, SMALLEST_SHARE, 0, ONE)
    assert merge(one, PRIORS, ONE) == (0, 0)


def test_rounds_are_due_after_some_laps_and_while_tokens_are_held_back():
    def laps(end, births):
        return [lap for lap in range(1, 100) if Rounds(end, births).due(lap)]

    assert laps(42, False) == [20, 25, 30, 35, 40]
    assert laps(42, True) == [*range(3, 31, 3), 35, 40]
    assert laps(0, False) == laps(0, True) == []
