"""The chain with Pitman-Yor priors has the law that its model says."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.topics import power_laws
from scipy.special import gammaln, logsumexp

DOCS, WORDS, K = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 0, 2]), 2
B, DISCOUNT, N_SWEEPS = 1.5, 0.4, 60_000


def log_stirling(n, t):
    """The number of seatings of n tokens at t tables, each weighed by its discounts; by its definition."""
    if n == t:
        return 0.0
    if not 0 < t < n:
        return -np.inf
    return np.logaddexp(log_stirling(n - 1, t - 1), np.log(n - 1 - t * DISCOUNT) + log_stirling(n - 1, t))


def log_dirichlet(counts, base):
    total = base.sum()
    return (gammaln(base + counts) - gammaln(base)).sum() + gammaln(total) - gammaln(total + counts.sum())


def log_p(n, base, by_tables):
    """Log probability of the counts of restaurants in rows, with all tables summed out."""
    if not by_tables:
        return sum(log_dirichlet(of_restaurant, base) for of_restaurant in n)
    found = []
    for tables in itertools.product(*[range(min(1, m), m + 1) for m in n.ravel()]):
        t = np.reshape(tables, n.shape)
        opened = sum(np.log(B + DISCOUNT * np.arange(T)).sum() for T in t.sum(axis=1))
        customers = (gammaln(B + n.sum(axis=1)) - gammaln(B)).sum()
        of_cells = sum(log_stirling(m, s) for m, s in zip(n.ravel(), tables, strict=True))
        found.append(of_cells + opened - customers + log_dirichlet(t.sum(axis=0), base))
    return logsumexp(found)


@pytest.mark.parametrize("by_tables", [(True, False), (False, True), (True, True)])
def test_the_chain_has_the_exact_law(by_tables):
    counts = sp.csr_array(sp.coo_array((np.ones(6, np.int64), (DOCS, WORDS)), shape=(2, 3)))
    chain = power_laws.Chain(counts, K, by_tables, seed=0)
    for side, base in ((chain.of_words, np.full(3, 0.7)), (chain.of_topics, np.array([0.4, 0.9]))):
        side.base[:] = base
        side.set_numbers(*((B, 8) if side.by_tables else (base.sum(), 0)))
    exact = []
    for z in itertools.product(range(K), repeat=WORDS.size):
        of_words, of_topics = np.zeros((K, 3), np.int64), np.zeros((2, K), np.int64)
        np.add.at(of_words, (np.array(z), chain.words), 1)
        np.add.at(of_topics, (chain.docs, np.array(z)), 1)
        exact.append(
            log_p(of_words, chain.of_words.base, by_tables[0]) + log_p(of_topics, chain.of_topics.base, by_tables[1])
        )
    exact = np.exp(exact - logsumexp(exact))
    words, topics, known = chain.of_words.tables(), chain.of_topics.tables(), np.zeros((0, 0))
    times, digits = np.zeros(exact.size), K ** np.arange(WORDS.size)[::-1]
    for _ in range(N_SWEEPS):
        power_laws.sweep(chain.docs, chain.words, chain.z, words, topics, known, chain.random)
        times[digits @ chain.z] += 1
    assert np.abs(times / N_SWEEPS - exact).sum() / 2 < 0.025
