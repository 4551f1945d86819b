"""Passes in which each count has one topic: the draws, their mean, and the trial."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from stickbreak.collapsed import aside, sampled
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE, add_up, corpus_weights, random_start, sweep, updated
from stickbreak.collapsed.kernels import merges as kernels
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.sampled import BURN_IN, TRIAL, Ending, Expected, Mean, documents_apart, rejoin
from stickbreak.collapsed.shards import ONE_DRAW
from stickbreak.collapsed.state import Priors, assembled
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.numerics.keys import key_of

from .problems import dense_r, hold_back, set_apart, small_corpus

PRIORS, ONE = Priors(alpha=0.9, gamma=2.0, eta=0.2), ThreadExecutor(1)


def swept(corpus, n_topics=5, sweeps=5):
    state = random_start(corpus, n_topics, 0)
    for _ in range(sweeps):
        sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)
    return state


def weighted(corpus, seed=0):
    return Corpus.from_counts(
        corpus.counts.toarray() * np.random.default_rng(seed).uniform(0.3, 2.6, corpus.counts.shape)
    )


@pytest.mark.parametrize("fractional", [False, True])
def test_each_count_has_one_topic(fractional):
    state = swept(small_corpus(1, fractional=fractional))
    assert max(np.diff(part.shares.start).max(initial=0) for part in state.documents.shards) > 1
    for _ in range(4):
        sweep(state, PRIORS, ONE_DRAW, 0, ONE)
        for part in state.documents.shards:
            np.testing.assert_array_equal(np.diff(part.shares.start), 1)
            np.testing.assert_allclose(part.shares.share, 1.0, rtol=1e-7)  # a float32


def test_topics_are_drawn_from_their_probabilities():
    """Of one count, whose probabilities are those that all shares are in a pass that keeps them."""
    corpus = Corpus.from_counts(np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 4.0, 0.0]]))
    state = swept(corpus, 4, 2)
    add_up(state, ONE)
    state.S += np.arange(12).reshape(3, 4) / 4  # not alike
    state.N = state.S.sum(axis=0)
    shard, prior, n = state.documents.shards[0], PRIORS.alpha * state.beta, 4000

    def draws(smallest, key):
        return updated(shard, state.S, state.N, prior, PRIORS, 3, smallest, key, counted=True)[0]

    p = draws(0.0, key_of(0, 0, "of the test"))
    expected = np.zeros(4)
    expected[p.topic[: p.start[1]]] = p.share[: p.start[1]]
    found = np.bincount([draws(ONE_DRAW, key_of(s, 1, "of the test")).topic[0] for s in range(n)], minlength=4)
    assert expected.min() > 0.02
    assert stats.chisquare(found, n * expected / expected.sum()).pvalue > 1e-3


def test_mean_is_that_of_the_passes_after_the_first_ones_and_prefers_the_last():
    state, ending, S, tables = swept(small_corpus(1)), Ending("sampled"), [], []
    for done in range(BURN_IN + 5):
        ending.before(state, PRIORS, 0, ONE)
        ending.join(state, ONE)
        sweep(state, PRIORS, ending.smallest(SMALLEST_SHARE), 0, ONE)
        ending.after(state)
        if done >= BURN_IN:
            S.append(dense_S(state))
            tables.append(state.tables)
    ending.average(state)
    weights = np.arange(1, 6) ** 2
    np.testing.assert_allclose(state.S, np.average(S, axis=0, weights=weights), atol=1e-12)
    np.testing.assert_allclose(state.N, state.S.sum(axis=0))
    np.testing.assert_allclose(state.tables, np.average(tables, axis=0, weights=weights))
    assert state.S.sum() == pytest.approx(small_corpus(1).n_tokens)
    assert (state.S % 1).any()


def dense_S(state):
    """S of the shares, count by count."""
    out = np.zeros_like(state.S)
    for part in state.documents.shards:
        for p in range(part.word.size):
            for j in range(part.shares.start[p], part.shares.start[p + 1]):
                out[part.word[p], part.shares.topic[j]] += part.count[p] * part.shares.share[j]
    return out


def test_mean_of_no_pass_changes_nothing():
    state = swept(small_corpus(1))
    before = state.S.copy()
    ending = Ending("sampled")
    ending.average(state)
    ending.mean = Mean.none(state)
    ending.average(state)
    np.testing.assert_array_equal(state.S, before)


@pytest.mark.parametrize("fractional", [False, True])
def test_whole_documents_are_set_apart_and_come_back(fractional):
    corpus = planted_lda(2000, 50, n_topics=3, mean_tokens=30, seed=3)[0]
    corpus = weighted(corpus) if fractional else corpus
    state = assembled(InMemory(corpus), np.ones(1))
    shards = state.documents.shards
    before = [part.count.copy() for part in shards]
    set_apart(state, 5)
    n_apart = 0
    for part, count in zip(shards, before, strict=True):
        np.testing.assert_array_equal(part.count + part.apart, count)
        document = np.repeat(np.arange(part.indptr.size - 1), np.diff(part.indptr))
        for d in np.unique(document):
            own = document == d
            assert (part.apart[own] == count[own]).all() or not part.apart[own].any()
            n_apart += part.apart[own].any()
    assert stats.binomtest(int(n_apart), int((np.diff(corpus.counts.indptr) > 0).sum()), 0.05).pvalue > 1e-3
    again = assembled(InMemory(corpus), np.ones(1))
    set_apart(again, 5)
    both = shards, again.documents.shards
    np.testing.assert_array_equal(*(np.concatenate([part.apart for part in some]) for some in both))
    hold_back(state, 0.2, 5)
    assert all(not part.held[part.apart > 0].any() for part in shards)
    rejoin(state, ONE)
    for part, count in zip(shards, before, strict=True):
        np.testing.assert_array_equal(part.count, count)
        assert part.apart is None


def test_no_more_tokens_are_set_apart_than_needed(monkeypatch):
    monkeypatch.setattr(aside, "MOST_APART", 300.0)
    monkeypatch.setattr(aside, "LEAST_APART", 1)
    corpus = planted_lda(1000, 50, n_topics=3, mean_tokens=30, seed=3)[0]
    state = assembled(InMemory(corpus), np.ones(1))
    set_apart(state, 0)
    shards = state.documents.shards
    assert 100 < sum(part.apart.sum() for part in shards) < 600


def test_forty_documents_are_set_apart_however_long_they_are_but_a_twentieth_at_most():
    assert aside.share_apart(8000, 8000 * 30.0) == 0.05
    assert aside.share_apart(20_000, 20_000 * 100.0) == 0.025  # 50,000 tokens
    assert aside.share_apart(8000, 8000 * 5000.0) == 40 / 8000
    assert aside.share_apart(300, 300 * 5000.0) == 0.05
    assert aside.share_apart(199, 199 * 5000.0) == 0.0


def test_few_documents_are_all_kept():
    for n, apart in ((199, False), (200, True)):
        state = assembled(InMemory(planted_lda(n, 20, mean_tokens=20, seed=0)[0]), np.ones(1))
        set_apart(state, 0)
        assert all((part.apart is not None) == apart for part in state.documents.shards)


@pytest.mark.parametrize("fractional", [False, True])
def test_scores_of_documents_equal_their_twin(fractional):
    corpus = small_corpus(4, fractional=fractional)
    state = random_start(corpus, 4, 0)
    hold_back(state, 0.4, 0)
    for _ in range(3):
        sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)
    prior, W = PRIORS.alpha * state.beta, corpus.n_words
    counts, held = np.zeros((2, *corpus.counts.shape))
    found = []
    for part in state.documents.shards:
        document = part.first + np.repeat(np.arange(part.indptr.size - 1), np.diff(part.indptr))
        counts[document, part.word], held[document, part.word] = part.count, part.held
        lists = (part.shares.start, part.shares.topic, part.shares.share)
        tables = (state.S, state.N, prior, PRIORS.eta, W * PRIORS.eta)
        found.append(np.zeros(part.indptr.size - 1))
        kernels.document_scores(part.indptr, part.word, part.count, part.held, *lists, *tables, found[-1])
    theta = np.einsum("dw,dwk->dk", counts, dense_r(corpus, state)) + prior
    theta /= theta.sum(axis=1, keepdims=True)
    phi = (state.S + PRIORS.eta) / (state.N + W * PRIORS.eta)
    np.testing.assert_allclose(np.concatenate(found), (held * np.log(theta @ phi.T)).sum(axis=1), rtol=1e-6)


def test_scores_complete_documents_by_their_other_half():
    """Documents of two topics that have no word in common: half of the tokens tell those of the other half."""
    counts = np.zeros((400, 20))
    rng = np.random.default_rng(0)
    for d in range(400):
        words = slice(0, 10) if d % 2 else slice(10, 20)
        counts[d, words] = rng.poisson(3, 10)
    state = assembled(InMemory(Corpus.from_counts(counts)), np.ones(1))
    set_apart(state, 0)
    shards, documents = state.documents.shards, documents_apart(state, 1, ONE)
    S = np.zeros((20, 2))
    S[:10, 0] = S[10:, 1] = 1000.0
    held = sum(part.held.sum() for part in documents)
    value = sampled.scores(documents, S, np.array([0.45, 0.45]), Priors(0.2, 1.0, 0.01), 0, ONE).sum() / held
    assert held == pytest.approx(sum(part.apart.sum() for part in shards) / 2, rel=0.15)
    assert value == pytest.approx(np.log(0.1), abs=0.05)
    both = sampled.scores(documents, S.mean(axis=1, keepdims=True), np.array([0.9]), Priors(0.2, 1.0, 0.01), 0, ONE)
    assert both.sum() / held == pytest.approx(np.log(0.05), abs=0.01)
    for part in documents:
        assert (part.count + part.held <= 30).all()


@pytest.mark.parametrize("fractional", [False, True])
def test_only_documents_set_apart_are_halved(fractional):
    corpus = planted_lda(900, 50, n_topics=3, mean_tokens=12, seed=3)[0]
    corpus = weighted(corpus) if fractional else corpus
    state = assembled(InMemory(corpus), np.ones(1))
    set_apart(state, 5)
    shards = state.documents.shards
    expected, found = [], []
    for part in shards:
        for low, high in pairwise(part.indptr):
            if part.apart[low:high].any():
                expected.append((part.word[low:high].tolist(), part.apart[low:high].tolist()))
    for part in documents_apart(state, 1, ONE):
        whole = part.count + part.held
        assert part.shares.start.size == part.word.size + 1
        assert (part.held == np.floor(part.held)).all()
        found += [(part.word[a:b].tolist(), whole[a:b].tolist()) for a, b in pairwise(part.indptr)]
    assert len(found) > 20
    assert [words for words, _ in found] == [words for words, _ in expected]
    np.testing.assert_allclose(*(np.concatenate([np.array(c) for _, c in some]) for some in (found, expected)))


def in_trial(n_documents=220):
    """A state before its trial, documents set apart."""
    corpus = planted_lda(n_documents, 30, n_topics=3, mean_tokens=20, seed=1)[0]
    state = random_start(corpus, 5, 0)
    set_apart(state, 0)
    hold_back(state, 0.1, 0)
    for _ in range(6):
        sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)
    return corpus, state


def bits(state):
    add_up(state, ONE)
    lists = [
        (p.shares.start.tobytes(), p.shares.topic.tobytes(), p.shares.share.tobytes()) for p in state.documents.shards
    ]
    return lists, state.beta.tobytes(), state.tables.tobytes(), state.S.tobytes()


def tried(state, ending, passes=TRIAL, changed=PRIORS):
    """Sample for some passes; the priors change meanwhile."""
    priors = PRIORS
    for _ in range(passes):
        assert ending.before(state, priors, 0, ONE) is priors
        ending.join(state, ONE)
        assert ending.smallest(SMALLEST_SHARE) == ONE_DRAW
        sweep(state, priors, ONE_DRAW, 0, ONE)
        priors = changed
        ending.after(state)
    return priors


@pytest.mark.parametrize("good", [False, True])
def test_trial_is_followed_by_the_better_kind(monkeypatch, good):
    """Refused, all is as before the trial; accepted, the drawn topics go on. All tokens join either way."""
    corpus, state = in_trial()
    before, changed = bits(state), Priors(1.1, 2.2, 0.3)
    ending = Ending("auto")
    tried(state, ending, changed=changed)
    drawn = bits(state)
    assert ending.mean.n == TRIAL - BURN_IN

    def as_good(now, priors, mean, expected, seed, executor):
        expected.put_into(now, executor)
        return good

    monkeypatch.setattr(sampled, "as_good", as_good)
    counts = [(part.count.copy(), part.held, part.apart) for part in state.documents.shards]
    priors = ending.before(state, changed, 0, ONE)
    assert ending.tried.n == (TRIAL - BURN_IN if good else 1)
    np.testing.assert_array_equal(ending.tried.S.sum(), state.S.sum() * ending.tried.weight)
    ending.join(state, ONE)
    assert ending.tried is None
    assert priors == (changed if good else PRIORS)
    assert ending.kind == ("sampled" if good else "expected")
    assert ending.expected is None
    assert (ending.mean is None) != good
    assert ending.passes == 0
    assert sum(part.count.sum() for part in state.documents.shards) == corpus.n_tokens
    for part, (count, held, apart) in zip(state.documents.shards, counts, strict=True):
        assert part.held is None
        assert part.apart is None
        part.count, part.held, part.apart = count, held, apart
    assert bits(state) == (drawn if good else before)


def test_trial_that_has_not_ended_is_left_to_expected_shares():
    _, state = in_trial()
    before, ending = bits(state), Ending("auto")
    tried(state, ending, 12)
    assert bits(state) != before
    assert ending.leave(state, Priors(3.0, 2.0, 1.0), ONE) is PRIORS
    ending.average(state)
    assert bits(state) == before
    assert Ending("expected").leave(state, PRIORS, ONE) is PRIORS


def test_a_fit_looks_back_only_on_sampled_passes_whose_mean_has_enough():
    """It ends after 120 of them at the soonest: two windows of ten passes are compared."""
    ending = Ending("sampled")
    for ending.passes in range(101):
        assert ending.early(10)
    assert not all(ending.early(10) for ending.passes in range(101, 103))
    assert not Ending("expected").early(10)


@pytest.mark.parametrize("good", [False, True])
def test_documents_set_apart_choose_the_topics_that_predict_them(good):
    """The mean, or the expected shares, are made to be the planted topics; the others are alike."""
    corpus, truth = planted_lda(300, 40, n_topics=3, mean_tokens=40, seed=2)
    state = random_start(corpus, 3, 0)
    set_apart(state, 0)
    sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)  # of a random start: hardly a topic
    state.documents.remember()
    expected, mean = Expected.of(state, PRIORS), Mean.none(state)
    mean.add(state)
    if good:
        mean.S = 5 * 4000 * np.ascontiguousarray(truth.topic_word.T)  # two passes weigh 1 and 4
        mean.n, mean.tables = 2, 5 * state.tables
    else:
        mean.S[:] = 4000 / 120
        mean.tables[:] = state.tables.mean()
        for _ in range(20):
            sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)
        state.documents.remember()
        expected = Expected.of(state, PRIORS)
    assert sampled.as_good(state, PRIORS, mean, expected, 0, ONE) == good
    np.testing.assert_array_equal(state.beta, expected.beta)


def test_comparison_is_of_the_mean_with_the_weights_of_its_tables(monkeypatch):
    _, state = in_trial()
    ending, given = Ending("auto"), []
    tried(state, ending)
    weight = sum(s**2 for s in range(1, ending.mean.n + 1))
    S, tables = ending.mean.S / weight, ending.mean.tables / weight
    monkeypatch.setattr(
        sampled, "scores", lambda _, S, beta, *rest: given.append((S.copy(), beta.copy())) or np.zeros(3)
    )
    expected = ending.expected
    assert not sampled.as_good(state, PRIORS, ending.mean, expected, 0, ONE)  # nothing set apart says nothing
    np.testing.assert_allclose(given[0][0], S)
    np.testing.assert_allclose(given[0][1], corpus_weights(tables, PRIORS.gamma))
    np.testing.assert_allclose(given[1][0], dense_S(state), atol=1e-5)
    np.testing.assert_array_equal(given[1][1], expected.beta)
