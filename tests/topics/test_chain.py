"""The sparse sampler has the law of the dense one, and the exact posterior of tiny collections."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import gammaln
from tests.sampling.laws import largest_z, z_scores

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.streams import key_of
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.priors import Priors, best_eta

from . import reference


def chain_at(corpus, z, n_topics, seed=0):
    """Return a chain at given topics, word by word."""
    chain = Chain(corpus, n_topics, seed)
    no_mean = {"n_samples": 0, "last_is_sample": False}
    chain.restore({"z.0": np.asarray(z, np.uint16), "mean": np.zeros((0, 0))}, no_mean)
    return chain


def begun(corpus, n_topics, seed):
    """Return a chain at random topics."""
    chain = Chain(corpus, n_topics, seed)
    z = np.random.default_rng(seed).integers(n_topics, size=chain.tokens.n_tokens)
    chain.take([z.astype(np.uint16)])
    return chain


def topics(chain):
    arrays = chain.snapshot()[0]
    return np.concatenate([arrays[f"z.{group}"] for group in range(chain.tokens.n_parts)])


def shape_of(corpus, n_topics):
    return corpus.n_documents, corpus.n_words, n_topics


def priors_of(a, eta):
    return Priors(np.asarray(a, float), float(np.sum(a)), eta)


@pytest.mark.parametrize(("n_topics", "mean_tokens"), [(3, 8), (40, 60), (150, 200)])
def test_sweeps_draw_what_the_twin_draws(n_topics, mean_tokens, seed):
    corpus, _ = planted_lda(25, 30, n_topics=5, mean_tokens=mean_tokens, seed=seed)
    word, document = reference.by_word(corpus)
    priors = priors_of(np.random.default_rng(seed).uniform(0.01, 0.5, n_topics), 0.07)
    chain = begun(corpus, n_topics, seed)
    z = topics(chain)
    for number in (1, 2):
        key = key_of(seed, number, "sweep of LDA")
        z, log_p = reference.sweep(word, document, z, shape_of(corpus, n_topics), priors.a, priors.eta, key)
        assert chain.lap(number, priors) == pytest.approx(log_p, rel=1e-5)
        np.testing.assert_array_equal(topics(chain), z)


@pytest.mark.parametrize(("threads", "in_files"), [(1, False), (3, False), (2, True)])
def test_parts_that_share_no_word_are_swept_as_if_the_others_stood_still(threads, in_files, tmp_path, seed):
    corpus, _ = planted_lda(25, 30, n_topics=5, mean_tokens=60, seed=seed)
    word, document = reference.by_word(corpus)
    priors = priors_of(np.random.default_rng(seed).uniform(0.01, 0.5, 40), 0.07)
    with Engine(threads) as engine:
        chain = Chain(corpus, 40, seed, n_parts=3, engine=engine, scratch=tmp_path if in_files else None)
        z = np.random.default_rng(seed).integers(40, size=word.size).astype(np.uint16)
        chain.take(np.split(z, chain.tokens.start[chain.tokens.word_cuts[1:-1]]))
        assert bool(list(tmp_path.rglob("*-*"))) == in_files
        parts = []  # of the words and of the documents of each token
        for of_tokens, cuts in ((word, chain.tokens.word_cuts), (document, chain.tokens.document_cuts)):
            parts.append(np.searchsorted(cuts[1:], of_tokens, side="right"))
            tokens = np.bincount(of_tokens)
            assert all(abs(tokens[a:b].sum() - word.size / 3) <= tokens.max() for a, b in pairwise(cuts))
        z = topics(chain)
        for number in (1, 2):
            key, log_p = key_of(seed, number, "sweep of LDA"), 0.0
            for step in range(3):
                after = z.copy()
                for part in range(3):
                    here = (parts[1] == part) & (parts[0] == (part + step) % 3)
                    pairs = set(zip(word[here], document[here], strict=True))
                    given = word, document, z, shape_of(corpus, 40), priors.a, priors.eta, key, part
                    drawn, of_part = reference.sweep(*given, lambda *pair, pairs=pairs: pair in pairs)
                    after[here], log_p = drawn[here], log_p + of_part
                z = after
            assert chain.lap(number, priors) == pytest.approx(log_p, rel=1e-5)
            np.testing.assert_array_equal(topics(chain), z)
            np.testing.assert_array_equal(chain._n, np.bincount(z, minlength=40))


TINY = [([[2, 1], [0, 2]], [0.7, 0.2], 0.3), ([[1, 1, 0], [1, 0, 1]], [0.1, 0.5, 0.9], 0.5)]


def of_lengths(words, lengths, n_words):
    """Return the corpus of words of documents, and where each token of theirs is word by word."""
    document = np.repeat(np.arange(lengths.size), lengths)
    counts = np.zeros((lengths.size, n_words), int)
    np.add.at(counts, (document, words), 1)
    return Corpus.from_counts(counts), np.lexsort((document, words))


def statistics(z, words, document, n_topics):
    """Quantities of a state that tell wrong laws from right ones."""
    same, alike = z[:, None] == z[None, :], words[:, None] == words[None, :]
    near = document[:, None] == document[None, :]
    return [*np.bincount(z, minlength=n_topics), (same & near).sum(), (same & ~near).sum(), (same & alike).sum()]


def drawn(p, rows, rng):
    """Return a draw from row rows[i] of p for each i."""
    return np.minimum((p.cumsum(axis=1)[rows] < rng.random(rows.size)[:, None]).sum(axis=1), p.shape[1] - 1)


def test_chain_and_prior_have_the_same_joint_law():
    lengths, n_words, a, eta = np.array([5, 1, 0, 4]), 3, np.array([0.3, 1.1, 0.6]), 0.4
    document, rng = np.repeat(np.arange(4), lengths), np.random.default_rng(2)

    def words_of(z):
        return drawn(rng.dirichlet(np.full(n_words, eta), size=a.size), z, rng)

    rows = []
    for _ in range(6000):
        z = drawn(rng.dirichlet(a, size=lengths.size), document, rng)
        rows.append(statistics(z, words_of(z), document, a.size))
    exact, variance = np.mean(rows, axis=0), np.var(rows, axis=0) / len(rows)
    rows = []
    for number in range(2500):
        words = words_of(z)
        corpus, order = of_lengths(words, lengths, n_words)
        chain = chain_at(corpus, z[order], a.size)
        chain.lap(number + 1, priors_of(a, eta))
        z = np.empty_like(z)
        z[order] = topics(chain)
        rows.append(statistics(z, words, document, a.size))
    scores = z_scores(np.array(rows[20:]), exact, variance)
    assert np.abs(scores).max() < largest_z(scores.size)


def test_lists_of_long_documents_and_many_topics_are_wide(seed):
    corpus, n_topics = Corpus.from_counts(np.array([[40_000, 10, 0, 3], [1, 1, 1, 1]])), 1 << 16
    assert Chain(corpus, 1 << 14, seed).tokens._dtype == np.uint32
    chain = chain_at(corpus, np.full(int(corpus.n_tokens), n_topics - 1), n_topics, seed)
    assert chain.lists[0].dtype == np.uint64
    chain.lap(1, Priors.even(n_topics, 0.5, 0.1))
    n_wk = reference.counts_of(*reference.by_word(corpus), topics(chain), shape_of(corpus, n_topics))[1]
    np.testing.assert_array_equal(chain.last(), n_wk)


def test_alpha_is_a_fixed_point_that_maximises_the_probability_of_the_topics(seed):
    corpus, _ = planted_lda(200, 20, n_topics=3, mean_tokens=40, seed=seed)
    chain = begun(corpus, 3, seed)
    priors = Priors.even(3, 5.0, 0.1)
    for _ in range(60):
        priors = chain.with_weights(priors, 10)
    word, document = reference.by_word(corpus)
    shape = shape_of(corpus, 3)

    def log_posterior(a):
        alone = opened_terms(reference.counts_of(word, document, topics(chain), shape)[0], a)
        return alone + float(((1 / 3 - 1 + 1) * np.log(a) - a).sum())  # of log a_k ~ log of Gamma(1/3, 1)

    best = log_posterior(priors.a)
    for k in range(3):
        for factor in (0.99, 1.01):
            other = priors.a.copy()
            other[k] *= factor
            assert log_posterior(other) < best


def opened_terms(n_dk, a):
    """log p(z) of documents, but for what does not depend on a."""
    n, alpha = n_dk.sum(axis=1), a.sum()
    return float((gammaln(n_dk + a) - gammaln(a)).sum() - (gammaln(n + alpha) - gammaln(alpha)).sum())


def test_eta_maximises_the_probability_of_whole_counts(seed):
    counts = np.random.default_rng(seed).poisson(np.random.default_rng(seed + 1).gamma(0.3, 8.0, (30, 5))).astype(float)
    counts[0] += 50.0  # pairs of many tokens

    def log_posterior(eta):
        of_words = (gammaln(counts + eta) - gammaln(eta)).sum()
        return of_words - (gammaln(counts.sum(axis=0) + 30 * eta) - gammaln(30 * eta)).sum() + np.log(eta) - eta

    best = best_eta(counts, 0.1)
    assert all(log_posterior(best) > log_posterior(factor * best) for factor in (0.98, 1.02))
    assert best_eta(np.zeros((30, 0)), 0.1) == 0.1


@pytest.mark.parametrize("n_laps", [3, 5, 20, 22])
def test_mean_of_the_topics_holds_each_sample_once_and_weighs_late_ones_more(n_laps, seed):
    corpus, _ = planted_lda(20, 15, n_topics=3, mean_tokens=30, seed=seed)
    chain, last = begun(corpus, 4, seed), begun(corpus, 4, seed)
    samples = []
    for number in range(1, n_laps + 1):
        for each in (chain, last):
            each.lap(number, Priors.even(4, 1.0, 0.1))
        if number % 5 == 0 or number == n_laps:
            samples.append(last.last())
    weights = np.array([(s + 1) * (s + 2) * (s + 3) for s in range(len(samples))], float)
    expected = np.tensordot(weights / weights.sum(), samples, 1)
    np.testing.assert_allclose(chain.mean(), expected, rtol=1e-12, atol=1e-12)
    restored = Chain(corpus, 4, seed)
    restored.restore(*chain.snapshot())
    np.testing.assert_array_equal(restored.mean(), chain.mean())


def test_halves_of_topics_are_of_documents_and_share_the_mean(seed):
    corpus, _ = planted_lda(200, 30, n_topics=3, mean_tokens=30, seed=seed)
    chain = begun(corpus, 4, seed)
    for number in range(1, 7):
        chain.lap(number, Priors.even(4, 1.0, 0.1))
    halved = chain.halved(np.array([1, 3]), np.random.default_rng(seed))
    n_dk = reference.counts_of(*reference.by_word(corpus), topics(halved), shape_of(corpus, 6))[0]
    before = reference.counts_of(*reference.by_word(corpus), topics(chain), shape_of(corpus, 4))[0]
    np.testing.assert_array_equal(n_dk[:, [0, 2]], before[:, [0, 2]])
    for k, second in ((1, 4), (3, 5)):
        np.testing.assert_array_equal(n_dk[:, k] + n_dk[:, second], before[:, k])
        assert not (n_dk[:, k] * n_dk[:, second]).any()
        share = (n_dk[:, second] > 0).sum() / (before[:, k] > 0).sum()
        assert 0.3 < share < 0.7
    together = ((n_dk[:, 4] > 0) == (n_dk[:, 5] > 0))[(before[:, 1] > 0) & (before[:, 3] > 0)]
    assert 0.3 < together.mean() < 0.7  # halves of different topics are of different documents
    mean, halves = chain.snapshot()[0]["mean"], halved.snapshot()[0]["mean"]
    np.testing.assert_allclose(halves[:, [1, 3]] + halves[:, [4, 5]], mean[:, [1, 3]])
    np.testing.assert_array_equal(halves[:, 4:], halves[:, [1, 3]])
