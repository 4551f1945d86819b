"""The sparse sampler of Pachinko allocation has the law of a dense one, and the exact posterior of tiny collections."""

import numpy as np
import pytest
from scipy.special import gammaln
from tests.sampling.laws import largest_z, z_scores
from tests.topics.reference import by_word
from tests.topics.test_chain import drawn, of_lengths

from stickbreak.corpus import Corpus, planted_lda
from stickbreak_baselines.pachinko.gibbs import Gibbs
from stickbreak_baselines.pachinko.state import Paths, Priors

from . import reference

KINDS = {"pachinko": Paths.pachinko, "hierarchical": Paths.hierarchical}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def chain_at(corpus, paths, z, seed=0):
    """Return a chain at given paths, word by word."""
    chain = Gibbs(corpus, paths, seed, "last")
    empty = np.zeros((0, 0))
    chain.restore({"z": np.asarray(z, np.uint32), "mean": empty, "mean_paths": empty}, {"n_samples": 0})
    return chain


def numbers(chain):
    return chain.snapshot()[0]["z"]


def shape_of(corpus, paths):
    return corpus.n_documents, corpus.n_words, paths.n_super, paths.n_topics


def uneven(paths, seed, low=0.05, high=1.0):
    """Return priors that differ by path."""
    rng = np.random.default_rng(seed)
    b = rng.uniform(low, high, paths.is_open.shape) * paths.is_open
    return Priors(rng.uniform(low, high, paths.n_super), b, 0.2)


TINY = [
    ([[2, 1], [0, 1]], Paths.pachinko(2, 2)),
    ([[1, 1, 0], [1, 0, 1]], Paths.pachinko(2, 2)),
    ([[1, 1], [0, 2]], Paths.hierarchical(1, 2)),
    ([[1, 2], [0, 1]], Paths.hierarchical(2, 1)),
]


@pytest.mark.parametrize(("counts", "paths"), [TINY[0], TINY[2]])
def test_chain_has_the_exact_posterior(counts, paths):
    corpus, priors = Corpus.from_counts(np.array(counts)), uneven(paths, 6)
    states, p = reference.posterior(*by_word(corpus), paths, shape_of(corpus, paths), priors)
    chain, rows = chain_at(corpus, paths, states[0]), []
    for number in range(20_000):
        chain.lap(number + 1, priors)
        rows.append((numbers(chain) == states).all(axis=1))
    z = z_scores(np.array(rows), p, least_error=np.sqrt(p * (1 - p) / len(rows)))
    assert np.abs(z).max() < largest_z(z.size)


def statistics(path, words, document, paths):
    """Quantities of a state that tell wrong laws from right ones."""
    s, k = path
    same, above, alike = k[:, None] == k[None, :], s[:, None] == s[None, :], words[:, None] == words[None, :]
    near = document[:, None] == document[None, :]
    sizes = [*np.bincount(k, minlength=paths.n_topics), *np.bincount(s, minlength=paths.n_super)]
    pairs = [same & near, same & ~near, same & alike, above & near, above & same & near, above & alike & ~near]
    return [*sizes, *(pair.sum() for pair in pairs)]


@pytest.mark.parametrize("paths", [Paths.pachinko(2, 3), Paths.hierarchical(2, 2)])
def test_chain_and_prior_have_the_same_joint_law(paths):
    lengths, n_words, priors = np.array([5, 1, 0, 4]), 3, uneven(paths, 3, 0.2, 1.2)
    document, rng = np.repeat(np.arange(4), lengths), np.random.default_rng(2)

    def words_of(k):
        return drawn(rng.dirichlet(np.full(n_words, priors.eta), size=paths.n_topics), k, rng)

    def path_of_tokens():
        s = drawn(rng.dirichlet(priors.a, size=lengths.size), document, rng)
        theta = np.zeros((lengths.size, *priors.b.shape))
        for row, b in enumerate(priors.b):
            theta[:, row, b > 0] = rng.dirichlet(b[b > 0], size=lengths.size)
        flat = theta.reshape(-1, paths.n_topics)
        return s, drawn(flat, document * paths.n_super + s, rng)

    rows = []
    for _ in range(6000):
        path = path_of_tokens()
        rows.append(statistics(path, words_of(path[1]), document, paths))
    exact, variance = np.mean(rows, axis=0), np.var(rows, axis=0) / len(rows)
    rows = []
    for number in range(2500):
        words = words_of(path[1])
        corpus, order = of_lengths(words, lengths, n_words)
        z = path[0] << paths.bits | path[1]
        chain = chain_at(corpus, paths, z[order])
        chain.lap(number + 1, priors)
        z[order] = numbers(chain)
        path = paths.split(z)
        rows.append(statistics(path, words, document, paths))
    scores = z_scores(np.array(rows[20:]), exact, variance)
    assert np.abs(scores).max() < largest_z(scores.size)


def test_priors_are_a_fixed_point_that_maximises_the_probability_of_the_paths(kind, seed):
    corpus, _ = planted_lda(200, 20, n_topics=3, mean_tokens=40, seed=seed)
    paths, (word, document) = kind(2, 3), by_word(corpus)
    chain = Gibbs(corpus, paths, seed, "last")
    chain.begin()
    priors = Priors.even(paths, 5.0, 5.0, 0.1)
    for _ in range(80):
        priors = chain.learned(priors, ("alpha", "sub_alpha"), 50)
    n_dsk, _ = reference.counts_of(word, document, paths.split(numbers(chain)), shape_of(corpus, paths))

    def log_posterior(n, a):
        total, alpha = n.sum(axis=1), a.sum()
        of_tokens = (gammaln(n + a) - gammaln(a)).sum() - (gammaln(total + alpha) - gammaln(alpha)).sum()
        return float(of_tokens + (1 / a.size * np.log(a) - a).sum())  # of log a_k ~ log of Gamma(1/K, 1)

    rows = [(n_dsk.sum(axis=2), priors.a)]
    for s in range(paths.n_super):
        columns = paths.is_open[s]
        if columns.sum() > 1:
            rows.append((n_dsk[:, s, columns], priors.b[s, columns]))
    for n, a in rows:
        best = log_posterior(n, a)
        for k in range(a.size):
            for factor in (0.99, 1.01):
                other = a.copy()
                other[k] *= factor
                assert log_posterior(n, other) < best
    assert ((priors.b > 0) == paths.is_open).all()
