"""Splits of topics: the halves and their gains against slow twins, and what a split leaves."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreak.collapsed import splitting
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE, add_up, random_start, sweep
from stickbreak.collapsed.kernels import splits as kernels
from stickbreak.collapsed.merging import LEAST_WEIGHT
from stickbreak.collapsed.shards import Shares
from stickbreak.collapsed.splitting import Halves, split
from stickbreak.collapsed.state import SMALLEST_BETA, Priors
from stickbreak.collapsed.walking import Outcome, count_halves
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.pseudo_counts import total_of

from .problems import BY_WORD, column, dense_r, hold_back
from .reference import on_grid, uniforms

PRIORS, ONE = Priors(alpha=0.9, gamma=2.0, eta=0.2), ThreadExecutor(1)


def problem(seed=1, *, fractional=False, n_topics=4, sweeps=3, n_documents=25, n_words=9):
    """A state after some sweeps, S and N summed; the counts kept and held out, dense."""
    corpus, _ = planted_lda(n_documents, n_words, n_topics=3, mean_tokens=20, seed=seed)
    if fractional:
        weights = np.random.default_rng(seed).uniform(0.3, 2.6, corpus.counts.shape)
        corpus = Corpus.from_counts(corpus.counts.toarray() * weights)
    state = random_start(corpus, n_topics, seed)
    hold_back(state, 0.3, seed)
    for _ in range(sweeps):
        sweep(state, PRIORS, SMALLEST_SHARE, seed, ONE)
    add_up(state, ONE)
    counts, held = np.zeros((2, *corpus.counts.shape))
    for part in state.documents.shards:
        document = part.first + np.repeat(np.arange(part.indptr.size - 1), np.diff(part.indptr))
        counts[document, part.word], held[document, part.word] = part.count, part.held
    return corpus, state, counts, held


def dense_h(corpus, state, part=None):
    """(D, W, K): the part of each share in the first half; 0 where there is no share."""
    out = np.zeros((*corpus.counts.shape, state.N.size))
    part = [shard.half for shard in state.documents.shards] if part is None else part
    for shard, half in zip(state.documents.shards, part, strict=True):
        for d in range(shard.indptr.size - 1):
            for p in range(shard.indptr[d], shard.indptr[d + 1]):
                own = slice(shard.shares.start[p], shard.shares.start[p + 1])
                out[shard.first + d, shard.word[p], shard.shares.topic[own]] = half[own]
    return out


def random_halves(state, seed=0):
    """Halves drawn at random, with their counts."""
    rng = np.random.default_rng(seed)
    halves = Halves.none(state)
    for shard in state.documents.shards:
        shard.half = rng.uniform(0, 1, shard.shares.topic.size).astype(np.float32)
        count_halves(shard, Outcome(half=shard.half), 0, state.S.shape[0], halves.S, halves.N)
    return halves


def twin_sweep(counts, r, h, prior, eta):
    """One sweep over the halves, written from (C11): S, N and those of the halves stay as they were before it."""
    eta = np.broadcast_to(eta, counts.shape[1])
    x = counts[:, :, None] * r
    S, N = x.sum(axis=0), x.sum(axis=(0, 1))
    S1, N1 = (x * h).sum(axis=0), (x * h).sum(axis=(0, 1))
    new = h.copy()
    for d, w in zip(*np.nonzero(r.sum(axis=2)), strict=True):
        before = min(counts[d, w], 1.0) * r[d, w]
        own, other = before * h[d, w], before * (1 - h[d, w])
        now = new[d].copy()  # of the document: the parts before this count are the new ones
        n, n1 = counts[d] @ r[d], counts[d] @ (r[d] * now)
        a = (S1[w] - own + eta[w]) / (N1 - own + eta.sum()) * (n1 - own + prior / 2)
        b = (S[w] - S1[w] - other + eta[w]) / (N - N1 - other + eta.sum()) * (n - n1 - other + prior / 2)
        there = r[d, w] > 0
        new[d, w, there] = (a / (a + b))[there]
    return new


@pytest.mark.parametrize("fractional", [False, True])
def test_first_halves_are_one_bit_for_each_document_and_topic(fractional):
    corpus, state, _, _ = problem(fractional=fractional)
    r, key = dense_r(corpus, state), key_of(7, 3, "collapsed halves")
    part = []
    for shard in state.documents.shards:
        part.append(np.empty(shard.shares.topic.size, np.float32))
        lists = (shard.indptr, shard.shares.start, shard.shares.topic)
        kernels.first_halves(*lists, key, shard.first, state.N.size, 0.9, part[-1])
    h = dense_h(corpus, state, part)
    for d in range(corpus.n_documents):
        numbers = uniforms(key, d)
        side = {}
        for shard in state.documents.shards:
            if shard.first <= d < shard.first + shard.indptr.size - 1:
                low, high = shard.shares.start[shard.indptr[d - shard.first : d - shard.first + 2]]
                for k in shard.shares.topic[low:high]:
                    if k not in side:
                        side[k] = 0.9 if next(numbers) < 0.5 else 0.1
        for k in range(state.N.size):
            np.testing.assert_allclose(h[d, r[d, :, k] > 0, k], side.get(k, np.nan), rtol=1e-6)
    assert 0.3 < np.mean(np.concatenate(part) > 0.5) < 0.7


@pytest.fixture(params=["number", "by word"])
def kind_of_eta(request, monkeypatch):
    """Eta is a number, or one for each word."""
    if request.param == "by word":
        monkeypatch.setitem(globals(), "PRIORS", replace(PRIORS, eta=BY_WORD[:9]))


@pytest.mark.usefixtures("kind_of_eta")
@pytest.mark.parametrize("fractional", [False, True])
def test_halves_of_a_sweep_equal_their_twin(monkeypatch, fractional):
    """One document after the other, the tables held fixed, whatever the shards are."""
    monkeypatch.setattr("stickbreak.collapsed.cutting.SHARD_COUNTS", 20)
    corpus, state, counts, _ = problem(fractional=fractional)
    r, halves, prior = dense_r(corpus, state), random_halves(state), PRIORS.alpha * state.beta
    h = dense_h(corpus, state)
    np.testing.assert_array_equal(halves.S, on_grid(counts[:, :, None] * r * h).sum(axis=0))
    np.testing.assert_array_equal(halves.N, halves.S.sum(axis=0))
    new, moved, total_eta = [], [], total_of(PRIORS.eta, corpus.n_words)
    for shard in state.documents.shards:
        half = shard.half
        lists = (shard.shares.start, shard.shares.topic, shard.shares.share, half)
        tables = (state.S, state.N, halves.S, halves.N, prior, PRIORS.eta, total_eta)
        new.append(np.empty_like(half))
        moved.append(kernels.update_halves(shard.indptr, shard.word, shard.count, *lists, *tables, True, new[-1]))
    change = np.abs(dense_h(corpus, state, new) - h)
    assert sum(moved) == pytest.approx(np.einsum("dw,dwk,dwk->", counts, r, change), rel=1e-4)
    np.testing.assert_allclose(
        dense_h(corpus, state, new), twin_sweep(counts, r, h, prior, PRIORS.eta), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("fractional", [False, True])
def test_settled_halves_equal_those_of_ten_twin_sweeps(monkeypatch, fractional):
    corpus, state, counts, _ = problem(2, fractional=fractional)
    r, prior = dense_r(corpus, state), PRIORS.alpha * state.beta
    monkeypatch.setattr(splitting, "FEW_TOPICS", 0)
    with monkeypatch.context() as within:
        within.setattr(splitting, "SCANS", 0)
        splitting.settled(state, PRIORS, 5, ONE)
        h = dense_h(corpus, state)
    for _ in range(splitting.SCANS):
        h = twin_sweep(counts, r, h, prior, PRIORS.eta)
    found = splitting.settled(state, PRIORS, 5, ONE)
    np.testing.assert_allclose(dense_h(corpus, state), h, atol=1e-4)
    np.testing.assert_allclose(found.S, np.einsum("dw,dwk,dwk->wk", counts, r, h), atol=1e-3)


def scans_of(monkeypatch, state):
    """Count the sweeps over the halves of a state."""
    done, of = [], splitting.Cut.of
    with monkeypatch.context() as within:
        within.setattr(splitting.Cut, "of", lambda *now: done.append(0) or of(*now))
        splitting.settled(state, PRIORS, 0, ONE)
    return len(done)


def test_few_halves_are_swept_until_they_have_settled(monkeypatch):
    """And no longer than their visits allow; those of many topics ten times."""
    _, state, _, _ = problem(2)
    counts, shares = (
        sum(sizes) for sizes in zip(*((p.word.size, p.shares.share.size) for p in state.documents.shards), strict=True)
    )
    most = splitting.MOST_VISITS * counts // shares
    monkeypatch.setattr(splitting, "SETTLED", -1.0)
    assert scans_of(monkeypatch, state) == most > splitting.SCANS
    monkeypatch.setattr(splitting, "SETTLED", 2e-2)
    assert splitting.SCANS <= scans_of(monkeypatch, state) < most
    monkeypatch.setattr(splitting, "SETTLED", 1.0)
    assert scans_of(monkeypatch, state) == splitting.SCANS
    monkeypatch.setattr(splitting, "SETTLED", -1.0)
    monkeypatch.setattr(splitting, "FEW_TOPICS", state.N.size - 1)
    assert scans_of(monkeypatch, state) == splitting.SCANS


def test_halves_of_topics_far_apart_settle_sooner_than_they_must():
    """One topic that is two without a common word: with the defaults."""
    counts = np.zeros((200, 20))
    counts[:100, :10] = counts[100:, 10:] = np.random.default_rng(0).poisson(3, (100, 10))
    state = random_start(Corpus.from_counts(counts), 1, 0)
    add_up(state, ONE)
    splitting.settled(state, PRIORS, 0, ONE)
    half = np.concatenate([shard.half for shard in state.documents.shards])
    assert np.minimum(half, 1 - half).max() < 1e-3
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert splitting.SCANS <= scans_of(monkeypatch, state) < splitting.MOST_VISITS


def twin_gains(corpus, state, counts, held, halves, least):
    """What splits add, the standard error, and the tokens of each topic, written from (C12)."""
    r, h, W = dense_r(corpus, state), dense_h(corpus, state), corpus.n_words
    prior, K = PRIORS.alpha * state.beta, state.N.size
    theta = np.einsum("dw,dwk->dk", counts, r) + prior
    first = np.einsum("dw,dwk,dwk->dk", counts, r, h) + prior / 2
    phi = (state.S + column(PRIORS.eta)) / (state.N + total_of(PRIORS.eta, W))
    phi1 = (halves.S + column(PRIORS.eta)) / (halves.N + total_of(PRIORS.eta, W))
    phi2 = (state.S - halves.S + column(PRIORS.eta)) / (state.N - halves.N + total_of(PRIORS.eta, W))
    p, out = theta @ phi.T, np.zeros((3, K))
    for k in range(K):
        after = p - np.outer(theta[:, k], phi[:, k])
        after += np.outer(first[:, k], phi1[:, k]) + np.outer(theta[:, k] - first[:, k], phi2[:, k])
        seen = (theta[:, k] >= least * theta.sum(axis=1))[:, None] * held
        gain = np.log(after / p)
        out[0, k], out[1, k] = (seen * gain).sum(), np.sqrt((seen * gain**2).sum())
        out[2, k] = (seen * np.outer(theta[:, k], phi[:, k]) / p).sum()
    return out


@pytest.mark.usefixtures("kind_of_eta")
@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("least", [LEAST_WEIGHT, 0.25])
def test_gains_equal_their_twin(monkeypatch, fractional, least):
    monkeypatch.setattr(splitting, "LEAST_WEIGHT", least)
    corpus, state, counts, held = problem(3, fractional=fractional)
    halves = random_halves(state)
    found = splitting.gains(state, PRIORS, halves, ONE)
    for one, other in zip(found, twin_gains(corpus, state, counts, held, halves, least), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    assert (found[1] > 0).any()


def test_equal_halves_gain_nothing():
    """Halves that are the same topic predict as the topic does; eta twice is all that makes a difference."""
    _, state, _, _ = problem(3)
    halves = Halves(state.S / 2, state.N / 2)
    for shard in state.documents.shards:
        shard.half = np.full(shard.shares.topic.size, 0.5, np.float32)
    gain, _, _ = splitting.gains(state, Priors(0.9, 2.0, 1e-9), halves, ONE)
    np.testing.assert_allclose(gain, 0.0, atol=1e-6)


def test_division_gives_second_halves_away_and_no_small_part():
    start, topic = np.array([0, 2, 2, 5]), np.array([0, 1, 1, 0, 2], np.uint16)
    share = np.array([0.25, 0.75, 0.5, 0.25, 0.25], np.float32)
    half = np.array([0.5, 0.3, 0.96, 0.04, 0.4], np.float32)
    new = Shares(np.empty(4, np.int64), np.empty(10, np.uint16), np.empty(10, np.float32))
    kernels.divide(start, topic, share, half, np.array([3, 4, 2]), new.start, new.topic, new.share)
    new = new.trimmed()
    np.testing.assert_array_equal(new.start, [0, 4, 4, 7])
    np.testing.assert_array_equal(new.topic, [0, 3, 1, 4, 1, 3, 2])
    np.testing.assert_allclose(new.share, [0.125, 0.125, 0.225, 0.525, 0.5, 0.25, 0.25], atol=1e-6)
    assert (on_grid(new.share) == new.share).all()


def two_in_one(n_planted, *, seed=0, n_documents=200):
    """A state of a single topic in which there are some planted ones, tokens held out."""
    corpus, truth = planted_lda(n_documents, 60, n_topics=n_planted, alpha=0.2, mean_tokens=50, seed=seed)
    state = random_start(corpus, 1, seed)
    hold_back(state, 0.1, seed)
    sweep(state, Priors(5.0, 1.0, 0.05), SMALLEST_SHARE, seed, ONE)
    add_up(state, ONE)
    return truth, state


BROAD = Priors(5.0, 1.0, 0.05)


def test_topic_that_is_two_is_split_into_them():
    truth, state = two_in_one(2)
    assert split(state, BROAD, 10, 0, ONE) == (1, 1)
    phi = (state.S / state.N).T
    apart = np.abs(phi[:, None] - truth.topic_word[None]).sum(axis=2)
    assert (apart.min(axis=0) < 0.25).all()
    assert set(apart.argmin(axis=0)) == {0, 1}


@pytest.mark.parametrize("seed", range(8))
def test_topic_that_is_one_stays(seed):
    _, state = two_in_one(1, seed=seed)
    before = state.S.copy()
    assert split(state, BROAD, 10, seed, ONE) == (1, 0)
    np.testing.assert_array_equal(state.S, before)


@pytest.mark.parametrize("fractional", [False, True])
def test_split_leaves_the_counts_of_its_shares_and_loses_none(monkeypatch, fractional):
    monkeypatch.setattr(splitting, "LEAST_GAIN", -np.inf)  # all that can be split
    corpus, state, counts, _ = problem(4, fractional=fractional)
    S, N, beta, tables = (getattr(state, name).copy() for name in ("S", "N", "beta", "tables"))
    r = dense_r(corpus, state)
    halves = splitting.settled(state, PRIORS, 0, ONE)
    tried, made = split(state, PRIORS, 100, 0, ONE)
    assert tried >= made >= 2
    assert state.beta.size == state.tables.size == state.N.size == state.S.shape[1] == 4 + made
    now = dense_r(corpus, state)
    np.testing.assert_allclose(now.sum(axis=2), r.sum(axis=2), atol=1e-5)
    np.testing.assert_allclose(state.S, np.einsum("dw,dwk->wk", counts, now), atol=1e-5)
    np.testing.assert_allclose(state.N, state.S.sum(axis=0))
    np.testing.assert_allclose(state.S.sum(axis=1), S.sum(axis=1), rtol=1e-6)
    found = [k for k in range(4) if abs(state.N[k] - N[k]) > 1e-3]
    assert len(found) == made
    for name, table in (("beta", beta), ("tables", tables)):
        after = getattr(state, name)
        np.testing.assert_allclose(after[found], table[found] * (halves.N / N)[found])
        assert after.sum() == pytest.approx(table.sum())
    assert (state.beta >= SMALLEST_BETA).all()
    assert state.S.flags.c_contiguous
    for part in state.documents.shards:
        for p in range(part.word.size):
            topics = part.shares.topic[part.shares.start[p] : part.shares.start[p + 1]]
            assert np.unique(topics).size == topics.size


@pytest.mark.parametrize("most", [1, 4, 5, 6])
def test_there_are_never_more_topics_and_the_best_are_split_first(monkeypatch, most):
    monkeypatch.setattr(splitting, "LEAST_GAIN", -np.inf)
    _, state, _, _ = problem(4)
    gain = splitting.gains(state, PRIORS, splitting.settled(state, PRIORS, 0, ONE), ONE)[0]
    N = state.N.copy()
    _, made = split(state, PRIORS, most, 0, ONE)
    assert made == max(0, most - 4)
    assert state.beta.size == 4 + made
    assert set(np.flatnonzero(np.abs(state.N[:4] - N) > 1e-3)) == set(np.argsort(-gain)[:made])


@pytest.mark.parametrize(
    ("gain", "error", "tokens", "half", "made"),
    [
        (1.1, 1.0, 10.0, 5.0, 1),
        (0.9, 1.0, 10.0, 5.0, 0),  # more than one standard error
        (1.1, 1.0, 9.9, 5.0, 0),  # too few tokens say so
        (1.1, 1.0, 10.0, 0.9, 0),  # a half without tokens is none
    ],
)
def test_split_is_made_where_the_tokens_held_out_say_so(monkeypatch, gain, error, tokens, half, made):
    _, state, _, _ = problem(4, n_topics=1)
    halves = random_halves(state)
    halves.N = np.array([state.N[0] - half])
    monkeypatch.setattr(splitting, "settled", lambda *_: halves)
    found = tuple(np.array([value]) for value in (gain, error, tokens))
    monkeypatch.setattr(splitting, "gains", lambda *_: found)
    assert split(state, PRIORS, 9, 0, ONE) == (int(tokens >= 10), made)


def test_threads_change_no_split(monkeypatch):
    monkeypatch.setattr("stickbreak.collapsed.cutting.SHARD_COUNTS", 20)
    monkeypatch.setattr("stickbreak.collapsed.cutting.TURNS", 2)
    monkeypatch.setattr(splitting, "LEAST_GAIN", -np.inf)
    states = []
    for threads in (1, 2):
        _, state, _, _ = problem(5)
        assert max(map(len, state.documents.turns)) > 1
        with ThreadExecutor(threads) as executor:
            assert split(state, PRIORS, 7, 3, executor)[1] > 0
        states.append(state)
    for name in ("S", "N", "beta", "tables"):
        np.testing.assert_array_equal(*(getattr(state, name) for state in states))
    for one, other in zip(*(state.documents.shards for state in states), strict=True):
        for name in ("start", "topic", "share"):
            np.testing.assert_array_equal(getattr(one.shares, name), getattr(other.shares, name))
