"""CVB0 against its twin, and the counts that it keeps."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreak.collapsed import cvb0
from stickbreak.collapsed.cutting import TURNS
from stickbreak.collapsed.cvb0 import (
    FINE_SHARE,
    SMALLEST_BETA,
    SMALLEST_SHARE,
    add_up,
    random_start,
    slots_of,
    start_from,
    sweep,
)
from stickbreak.collapsed.kernels import shares as share_kernels
from stickbreak.collapsed.kernels.shares import CHUNK
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.starting_weights import StartingWeights
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.numerics.keys import key_of

from . import reference
from .problems import BY_WORD, dense, dense_r, small_corpus, turns_of

PRIORS = Priors(alpha=0.5, gamma=3.0, eta=0.2)
ONE = ThreadExecutor(1)


def follow(corpus, n_topics, smallest, n_sweeps, *, seed=5, executor=ONE):
    """Sweeps beside their twin; the twin goes on from the shares of the sweep before."""
    counts, state = dense(corpus), random_start(corpus, n_topics, seed)
    beta = state.beta.copy()
    for lap in range(1, n_sweeps + 1):
        r = dense_r(corpus, state)
        key = key_of(seed, lap, "collapsed sweep")
        settings = {"alpha": PRIORS.alpha, "eta": PRIORS.eta, "turns": turns_of(state), "smallest": smallest}
        log_p = reference.sweep(counts, r, beta, **settings, key=key)
        sweep(state, PRIORS, smallest, seed, executor)
        np.testing.assert_allclose(dense_r(corpus, state), r, rtol=0, atol=2e-5)  # whole units of 1e-6
        assert state.log_p == pytest.approx(log_p, rel=1e-6)
        r = dense_r(corpus, state)
        tables = reference.expected_tables(counts, r, PRIORS.alpha * beta)
        np.testing.assert_allclose(state.tables, tables, rtol=1e-6, atol=1e-9)
        beta = np.maximum(tables / (PRIORS.gamma + tables.sum()), SMALLEST_BETA)
        np.testing.assert_allclose(state.beta, beta, rtol=1e-6)
    return state


@pytest.mark.parametrize("smallest", [0.0, SMALLEST_SHARE, 0.3])
@pytest.mark.parametrize("fractional", [False, True], ids=["integer", "fractional above one"])
@pytest.mark.parametrize("n_topics", [1, 4, 37])
def test_sweep_equals_its_twin(n_topics, fractional, smallest):
    follow(small_corpus(1, fractional=fractional), n_topics, smallest, 5)


@pytest.mark.parametrize("n_topics", [1, 5])
def test_sweep_with_an_eta_by_word_equals_its_twin(monkeypatch, n_topics):
    monkeypatch.setitem(globals(), "PRIORS", replace(PRIORS, eta=BY_WORD[:8]))
    follow(small_corpus(1), n_topics, SMALLEST_SHARE, 4)


def test_sweep_equals_its_twin_for_weights_below_one():
    """Only the weight that is there may be taken out of the counts."""
    corpus = Corpus.from_counts(small_corpus(2).counts.toarray() * 0.3)
    follow(corpus, 3, 0.0, 3)
    follow(corpus, 3, SMALLEST_SHARE, 3)


def test_log_p_of_many_tokens_equals_its_twin():
    """Their product is taken apart before it is too small for a double."""
    state = follow(small_corpus(7, n_documents=700), 2, SMALLEST_SHARE, 1)
    assert state.log_p / TURNS < np.log(share_kernels.LEAST_PRODUCT)


def test_sweep_in_shards_and_threads_equals_its_twin(monkeypatch):
    monkeypatch.setattr("stickbreak.collapsed.cutting.SHARD_COUNTS", 5)
    corpus = small_corpus(3, n_documents=60)
    assert max(map(len, InMemory(corpus).turns)) > 2
    with ThreadExecutor(3) as executor:
        many = follow(corpus, 5, SMALLEST_SHARE, 3, executor=executor)
    np.testing.assert_array_equal(many.S, follow(corpus, 5, SMALLEST_SHARE, 3).S)


def test_documents_are_cut_into_turns_once_each():
    corpus = small_corpus(6, n_documents=200)
    turns = InMemory(corpus).turns
    assert len(turns) == TURNS
    parts = [part for turn in turns for part in turn]
    np.testing.assert_array_equal(np.concatenate([part.word for part in parts]), corpus.counts.indices)
    np.testing.assert_array_equal(np.concatenate([part.count for part in parts]), corpus.counts.data)
    assert [part.first for part in parts] == np.cumsum([0, *(part.indptr.size - 1 for part in parts)]).tolist()[:-1]
    sizes = [sum(part.word.size for part in turn) for turn in turns]
    assert max(sizes) < 2 * min(sizes)


def test_small_weights_and_a_small_eta_stay_finite():
    """An exclusion of more than is there leaves no topic with a positive weight, and divides by zero."""
    corpus = Corpus.from_counts(toy_bars(60, seed=0)[0].counts * 0.1)
    *_, state = islice(cvb0(corpus, 8, alpha=0.5, gamma=10.0, eta=0.003), 30)
    assert np.isfinite(state.S).all()
    np.testing.assert_allclose(state.N.sum(), corpus.n_tokens, rtol=1e-5)


@pytest.mark.parametrize("fractional", [False, True], ids=["integer", "fractional"])
def test_counts_are_the_sums_of_the_shares(fractional):
    """To the bit: those that a sweep has changed turn by turn, and those that are summed anew."""
    corpus = small_corpus(3, fractional=fractional)
    counts = dense(corpus)
    *_, state = islice(cvb0(corpus, 5, alpha=0.5, gamma=3.0, eta=0.2), 40)
    r = dense_r(corpus, state)
    x = reference.on_grid(counts[:, :, None] * r)
    for again in range(2):
        np.testing.assert_array_equal(state.S, x.sum(axis=0), err_msg=str(again))
        np.testing.assert_array_equal(state.N, x.sum(axis=(0, 1)))
        add_up(state, ONE)
    assert (r.sum(axis=2)[counts > 0] == 1.0).all()
    if not fractional:
        np.testing.assert_array_equal(state.S, np.einsum("dw,dwk->wk", counts, r))


def test_sums_of_counts_are_the_same_in_any_order_and_parts():
    """Of whole counts and of weights, up to 2**33 tokens."""
    rng = np.random.default_rng(0)
    n, K = 5000, 7
    word, start = np.zeros(n, np.int32), np.arange(n + 1) * K
    topic = np.tile(np.arange(K, dtype=np.uint16), n)
    share = np.concatenate([reference.keep(rng.gamma(0.3, size=K), 0.0, 0.5) for _ in range(n)])
    for count in (rng.integers(1, 1_500_000, n).astype(float), rng.gamma(0.2, size=n)):
        none = np.zeros(n + 1, np.int64), topic[:0], share[:0]
        S, N = np.zeros((1, K)), np.zeros(K)
        share_kernels.replace_shares(word, count, *none, start, topic, share, 0, 1, S, N)
        for _ in range(20):
            order = rng.permutation(n)
            lists = np.arange(n + 1) * K, topic, share.reshape(n, K)[order].ravel()
            again, parts = np.zeros((1, K)), np.zeros((1, K))
            share_kernels.replace_shares(word, count[order], *none, *lists, 0, 1, again, np.zeros(K))
            cut = int(rng.integers(1, n))
            for own in (slice(0, cut), slice(cut, n)):
                some, length = np.zeros((1, K)), own.stop - own.start
                rows = share.reshape(n, K)[own].ravel()
                few = word[own], count[own], none[0][: length + 1], *none[1:]
                share_kernels.replace_shares(*few, start[: length + 1], topic, rows, 0, 1, some, np.zeros(K))
                parts += some
            np.testing.assert_array_equal(again[0], S[0])
            np.testing.assert_array_equal(parts[0], S[0])
            np.testing.assert_array_equal(N, S[0])


def test_all_shares_at_convergence_are_a_fixed_point():
    corpus, counts = small_corpus(4), dense(small_corpus(4))
    state = random_start(corpus, 3, 2)
    for _ in range(3000):
        sweep(state, PRIORS, 0.0, 2, ONE)
    r = dense_r(corpus, state)
    before = r.copy()
    reference.sweep(counts, r, state.beta, alpha=PRIORS.alpha, eta=PRIORS.eta, turns=turns_of(state))
    np.testing.assert_allclose(r, before, atol=5e-6)
    beta = reference.corpus_weights(counts, r, state.beta, alpha=PRIORS.alpha, gamma=PRIORS.gamma)
    np.testing.assert_allclose(beta, state.beta, rtol=1e-4, atol=2e-9)


def test_cvb0_yields_one_state_and_the_same_numbers_for_a_seed():
    corpus = small_corpus(5)
    runs = []
    for seed in (7, 7, 8):
        states = list(islice(cvb0(corpus, 3, alpha=0.5, gamma=3.0, eta=0.2, seed=seed), 3))
        assert states[0] is states[2]
        runs.append(states[2])
    np.testing.assert_array_equal(runs[0].S, runs[1].S)
    np.testing.assert_array_equal(runs[0].beta, runs[1].beta)
    assert not np.array_equal(runs[0].S, runs[2].S)


@pytest.mark.parametrize("smallest", [0.0, SMALLEST_SHARE])
def test_start_from_other_inference_has_the_shares_of_its_topics_and_weights(smallest):
    corpus, rng, K = small_corpus(8), np.random.default_rng(0), 19
    topic_word, theta = rng.dirichlet(np.full(8, 0.3), K).T.copy(), rng.gamma(1.0, size=(23, K))
    beta, weights = rng.dirichlet(np.ones(K + 1))[:-1], StartingWeights.of_table(theta)
    state = start_from(InMemory(corpus), topic_word, weights, beta, smallest, 3, ONE)
    key = key_of(3, 0, "collapsed start")
    r = dense_r(corpus, state)
    for d in range(23):
        numbers = reference.uniforms(key, d)
        for w in np.flatnonzero(dense(corpus)[d]):
            np.testing.assert_allclose(
                r[d, w], reference.keep(topic_word[w] * theta[d], smallest, next(numbers)), atol=1e-6
            )
    np.testing.assert_array_equal(state.beta, beta)
    first = next(cvb0(corpus, K, alpha=0.5, gamma=3.0, eta=0.2, seed=3, start=(topic_word, weights, beta)))
    again = start_from(InMemory(corpus), topic_word, weights, beta, FINE_SHARE, 3, ONE)
    sweep(again, PRIORS, FINE_SHARE, 3, ONE)
    np.testing.assert_array_equal(first.S, again.S)


def rounded(value, sums, n_topics, smallest, u, topic, share):
    """Write the shares of some values as the kernels do; return how many there are."""
    total = share_kernels._chunk_sums(value, sums)
    if not share_kernels.LEAST_TOTAL < total < share_kernels.MOST_TOTAL:
        total = share_kernels._level(value, sums, n_topics)
    room = np.empty(n_topics + 1, np.uint16), np.empty(n_topics + 1)
    n = share_kernels._keep(value, sums, total, smallest, u, *room)
    return int(share_kernels._write(*room, n, topic, share, np.uint64(0)))


def kept(values, smallest, u):
    """(K,) shares that the kernel keeps."""
    slots = slots_of(smallest, values.size)
    topic, share, sums = np.zeros(slots, np.uint16), np.zeros(slots, np.float32), np.zeros(-(-values.size // CHUNK))
    padded = np.pad(values, (0, CHUNK * sums.size - values.size))
    n = rounded(padded, sums, values.size, smallest, u, topic, share)
    out = np.zeros(values.size)
    out[topic[:n]] = share[:n]
    return out


@pytest.mark.parametrize("K", [3, 16, 100])
@pytest.mark.parametrize("smallest", [0.04, SMALLEST_SHARE, 0.5])
def test_rounding_of_small_shares_keeps_each_with_its_probability(K, smallest):
    rng = np.random.default_rng(K)
    for concentration in (0.02, 0.3, 5.0):
        values = rng.dirichlet(np.full(K, concentration)) * 7.0
        t, grid = smallest * values.sum(), (np.arange(2000) + 0.5) / 2000
        found = np.array([kept(values, smallest, u) for u in grid])
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-6)
        small = values < t
        probability = np.where(small, values / t, 1.0)
        np.testing.assert_allclose((found > 0).mean(axis=0), probability, atol=1.5 / 2000)
        for row in found[::100]:
            large = np.flatnonzero(~small)
            if large.size and (row[small] > 0).any():
                ratio = row[small & (row > 0)][0] / row[large[0]]
                assert ratio == pytest.approx(t / values[large[0]], rel=2e-4)


def test_rounding_needs_no_more_room_than_there_is():
    rng = np.random.default_rng(1)
    for _ in range(2000):
        K, smallest = int(rng.integers(1, 70)), float(rng.uniform(0.02, 0.5))
        values = rng.dirichlet(np.full(K, float(rng.choice([0.05, 1.0, 100.0]))))
        row = kept(values, smallest, float(rng.random()))
        assert (row > 0).sum() <= int(np.ceil(1 / smallest))
        assert row.sum() == pytest.approx(1.0, abs=1e-5)
    assert kept(np.full(50, 0.02), 0.02, 1 - 1e-9).sum() == pytest.approx(1.0, abs=1e-5)


def test_no_share_is_lost_where_all_are_kept():
    values = np.random.default_rng(2).dirichlet(np.full(40, 0.2))
    np.testing.assert_allclose(kept(values, 0.0, 0.7), values, atol=1e-6)


@pytest.mark.parametrize("smallest", [0.0, 1 / 200, 1 / 15, 0.5])
@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-310, 1e-60, 1.0, 1e60, 1e308, np.inf, np.nan])
def test_shares_are_of_topics_that_are_there_and_numbers_whatever_the_values_are(value, smallest):
    rng = np.random.default_rng(3)
    for n_topics in (1, 3, 16, 17, 40):
        for u in (0.0, rng.random(), 1.0 - 2.0**-53):
            values = np.where(rng.random(n_topics) < 0.5, value, rng.random(n_topics) * 1e-3)
            sums = np.zeros(-(-n_topics // CHUNK))
            padded = np.zeros(CHUNK * sums.size)
            padded[:n_topics] = values
            slots = slots_of(smallest, n_topics)
            topic, share = np.full(slots + 50, 9999, np.uint16), np.zeros(slots + 50, np.float32)
            n = rounded(padded, sums, n_topics, smallest, u, topic[:slots], share[:slots])
            assert n <= slots
            assert (topic[:n] < n_topics).all()
            assert (topic[slots:] == 9999).all()
            assert np.isfinite(share[:n]).all()
            assert n == 0 or share[:n].sum() == pytest.approx(1.0, abs=1e-5)
            assert n > 0 or not values.any()


def test_starting_weights_are_what_all_have_and_what_each_has_besides():
    rng = np.random.default_rng(1)
    own = np.where(rng.uniform(size=(9, 4)) < 0.4, rng.gamma(1.0, size=(9, 4)), 0.0)
    given = StartingWeights(rng.gamma(1.0, size=4), csr_array(own))
    np.testing.assert_array_equal(given.rows(2, 5), own[2:7] + given.of_all)
    np.testing.assert_array_equal(StartingWeights.of_table(own).rows(0, 9), own)
    alone = StartingWeights(given.of_all)
    np.testing.assert_array_equal(alone.rows(3, 2), [given.of_all] * 2)
    assert alone.n_topics == given.n_topics == 4
