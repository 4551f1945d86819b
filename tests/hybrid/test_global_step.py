"""A step of the globals."""

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.hybrid.document_sampler import SampledTopics
from stickbreak.hybrid.global_step import LEAST_TOKENS

from ..sampling.reference import Stream
from .problems import expected_counts, state_of, step_to

WORDS = np.array([1, 3, 4, 6], np.int32)  # those of the made-up minibatch
KEY = np.uint64(7)


def minibatch(seed, n_tokens=30, n_topics=4, n_saved=3):
    """Return tokens of WORDS and saved sweeps of them."""
    rng = np.random.default_rng(seed)
    words = np.concatenate([WORDS, rng.choice(WORDS, n_tokens - 4)])
    counts = np.zeros((5, 8), dtype=np.int64)
    np.add.at(counts, (rng.integers(5, size=n_tokens), words), 1)
    z = rng.integers(n_topics, size=(n_saved, n_tokens)).astype(np.int32)
    found = SampledTopics(z, np.bincount(z.ravel(), minlength=n_topics), rng.integers(1, 9, n_topics), -1.0)
    return Tokens.from_corpus(Corpus.from_counts(counts)), found


def some_state(seed, n_topics=4):
    rng = np.random.default_rng(seed)
    counts = rng.gamma(1.0, 5.0, (8, n_topics)) * (rng.random((8, n_topics)) < 0.6)
    return state_of(counts, np.full(n_topics, 7.0), 0.5)


def counted(tokens, z, n_topics):
    """Return N, (W, K), summed over the sweeps."""
    N = np.zeros((tokens.n_words, n_topics))
    for sweep in z:
        np.add.at(N, (tokens.word, sweep), 1.0)
    return N


def test_lazy_step_is_the_dense_one(seed):
    state, (tokens, found), share, size = some_state(seed), minibatch(seed), 12.0, 0.3
    expected = 0.7 * expected_counts(state) + 0.3 * share / 3 * counted(tokens, found.z, 4)
    tables = 0.7 * state.tables + 0.3 * share / 3 * found.tables
    step_to(state, tokens, found, share, size, KEY)
    np.testing.assert_allclose(expected_counts(state), expected, rtol=1e-12)
    np.testing.assert_allclose(state.tokens, expected.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(state.tables, tables, rtol=1e-12)
    np.testing.assert_array_equal(state.pairs.holders, (expected > 0).sum(axis=0))
    assert state.n_steps == 1
    state.check()


def test_many_steps_are_the_dense_ones_and_round_what_is_little(seed):
    """Twin: dense counts, of which little pairs of the minibatch's words are rounded in the order of the lists."""
    K, state = 300, some_state(seed, 300)
    S, tables = expected_counts(state), state.tables.copy()
    moved = forgotten = kept = 0
    for t in range(40):
        size, first, key = 0.3, state.pairs.first.copy(), np.uint64(t)
        tokens, found = minibatch(1000 * seed + t, n_topics=K)
        order = {w: state.pairs.topic[state.pairs.first[w] :][: state.pairs.size[w]].copy() for w in WORDS}
        S = 0.7 * S + 0.3 * 2.0 / 3 * counted(tokens, found.z, K)
        least = min(LEAST_TOKENS, 0.1)
        for w in WORDS:
            stream = Stream(t, int(w))
            for k in order[w]:
                if S[w, k] < least:
                    stays = stream.uniform() * least < S[w, k]
                    S[w, k] = least if stays else 0.0
                    kept, forgotten = kept + stays, forgotten + (not stays)
        tables = 0.7 * tables + 0.3 * 2.0 / 3 * found.tables
        step_to(state, tokens, found, 2.0, size, key)
        moved += np.count_nonzero(state.pairs.first != first)
        np.testing.assert_allclose(expected_counts(state), S, rtol=1e-9)
        np.testing.assert_allclose(state.tokens, S.sum(axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(state.pairs.holders, (S > 0).sum(axis=0))
        state.check()
    assert moved >= 4, "no list of these four words has outgrown its room"
    assert min(forgotten, kept) > 20
    np.testing.assert_allclose(state.tables, tables, rtol=1e-9)


def test_rounding_changes_nothing_on_average(seed):
    counts = np.random.default_rng(seed).uniform(0.0, 3 * LEAST_TOKENS, (8, 50))
    tokens, found = minibatch(seed, n_topics=50)
    expected = 0.9 * counts + 0.1 * 3.0 / 3 * counted(tokens, found.z, 50)
    n, total, squares = 400, np.zeros((8, 50)), np.zeros((8, 50))
    for key in range(n):
        state = state_of(counts)
        step_to(state, tokens, found, 3.0, 0.1, np.uint64(key))
        total += expected_counts(state)
        squares += expected_counts(state) ** 2
    error = np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0.0) / n)
    moved = error > 1e-9
    assert moved.sum() > 20
    z = (total / n - expected)[moved] / error[moved]
    assert np.abs(z).max() < 5
    assert abs(z.sum()) / np.sqrt(z.size) < 4
    np.testing.assert_allclose((total / n)[~moved], expected[~moved], rtol=1e-9)
