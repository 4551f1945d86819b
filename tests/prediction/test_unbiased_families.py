"""Left-to-right likelihood of every family is unbiased: its mean over seeds is p(document), by enumeration.

What stood before are given topics and given trees. Here each family is fitted to a corpus drawn at random, its prior is
read from its public face, and p is the sum over all topics of the tokens in closed form, not by the sequential rule.
"""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln
from sklearn.base import clone

from stickbreak import BackoffTreeTopics, GibbsHDP, HybridHDP, TopicModel, VariationalHDP

from ..sampling.laws import BLOCKS, largest_z, z_scores

N_WORDS, N_TOPICS, N_SEEDS = 6, 3, 2 * BLOCKS
FAMILIES = {
    "variational": VariationalHDP(n_topics=N_TOPICS, n_laps=3, init_sweeps=2),
    "variational stochastic": VariationalHDP(n_topics=N_TOPICS, n_laps=3, init_sweeps=2, schedule="stochastic"),
    "topics": TopicModel(n_topics=N_TOPICS, n_laps=5, learn=()),
    "gibbs": GibbsHDP(n_topics=N_TOPICS, n_laps=4, burn_in=1, estimate="last"),
    "gibbs best": GibbsHDP(n_topics=N_TOPICS, n_laps=4, burn_in=1, estimate="best", representation="franchise"),
    "hybrid": HybridHDP(n_topics=N_TOPICS, n_laps=2, batch_size=10),
    "hybrid unbounded": HybridHDP(n_topics=N_TOPICS, n_laps=2, batch_size=10, top_level="unbounded"),
}


def corpus(rng):
    counts = rng.poisson(0.9, (15, N_WORDS))
    counts[0] = 1
    return counts


def document(rng, n_tokens):
    """Words of a document in which one word comes twice."""
    words = rng.integers(N_WORDS, size=n_tokens)
    words[1] = words[0]
    return words


def estimates(model, words, seed, **options):
    """Return estimates of p(words) of many seeds, (N_SEEDS, 1)."""
    count = [np.bincount(words, minlength=N_WORDS)]
    found = [model.left_to_right(count, random_state=1000 * seed + s, **options) for s in range(N_SEEDS)]
    return np.exp([[one.unbiased_log_p[0]] for one in found])


def probability(model, words):
    """p(words): topics of all tokens, weights of the document integrated out."""
    rest = 1.0 - model.topic_weights_.sum()
    a = model.alpha_ * np.append(model.topic_weights_, rest)
    phi = np.vstack([model.topic_word_, np.full(N_WORDS, 1 / N_WORDS)])[a > 1e-12]
    a = a[a > 1e-12]  # some families have no further topics
    z = np.array(list(itertools.product(range(a.size), repeat=words.size)))
    n = (z[:, :, None] == np.arange(a.size)).sum(axis=1)
    log_prior = (gammaln(a + n) - gammaln(a)).sum(axis=1) + gammaln(a.sum()) - gammaln(a.sum() + words.size)
    return float(np.exp(log_prior) @ phi[z, words].prod(axis=1))


def topic_scores(seed, name, resample):
    """Return the z-score of a family of topics."""
    rng = np.random.default_rng(seed)
    model = clone(FAMILIES[name]).set_params(random_state=seed).fit(corpus(rng))
    words = document(rng, 5)
    found = estimates(model, words, seed, n_particles=500, resample=resample) / probability(model, words)
    return z_scores(found, 1.0)


def mass(branching, delta, n):
    """Leaf masses of a tree with counts n (L,), from the root down.                                 docs/math (T1)"""
    if not branching:
        return np.array([max(n[0] - sum(delta), 0.0)])
    children = np.split(n, branching[0])
    own = delta[len(delta) - len(branching)] * np.count_nonzero(n) / n.size
    return np.concatenate([mass(branching[1:], delta, child) for child in children]) + own


def tree_probability(model, words):
    """Mean of p over all orders of the words, as the order of a seed is drawn evenly.              docs/math (T12)"""
    branching, delta, phi = list(model.branching_), list(model.alpha_levels_), model.topic_word_
    L, known = model.n_leaves_, {}

    def next_leaf(leaves):
        if leaves not in known:
            n = np.bincount(leaves, minlength=L) if leaves else np.zeros(L, int)
            known[leaves] = mass(branching, delta, n) / len(leaves) if leaves else np.full(L, 1 / L)
        return known[leaves]

    def go(leaves, rest):
        if not rest:
            return 1.0
        p = next_leaf(tuple(sorted(leaves))) * phi[:, rest[0]]
        return sum(p[z] * go((*leaves, z), rest[1:]) for z in range(L))

    orders = list(itertools.permutations(words.tolist()))
    value = {order: go((), order) for order in set(orders)}
    return float(np.mean([value[order] for order in orders]))


def tree_scores(seed):
    """Return the z-score of a tree, each of whose leaves has words."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(2.0, (20, N_WORDS)) + 1
    branching = ((2, 2), (3,), (4,))[seed % 3]
    model = BackoffTreeTopics(branching=branching, n_laps=4, alpha=0.6, random_state=seed).fit(counts)
    assert model.n_topics_ == model.n_leaves_
    words = document(rng, 4)
    found = estimates(model, words, seed, n_particles=500, resample=False) / tree_probability(model, words)
    return z_scores(found, 1.0)


@pytest.mark.parametrize("resample", [True, False], ids=["resampled", "plain"])
def test_mean_over_seeds_is_the_probability_of_the_document(resample, seed):
    z = np.concatenate([topic_scores(seed, name, resample) for name in FAMILIES])
    assert np.abs(z).max() < largest_z(z.size)


def test_mean_over_seeds_is_the_probability_under_a_tree(seed):
    z = np.concatenate([tree_scores(3 * seed + case) for case in range(3)])
    assert np.abs(z).max() < largest_z(z.size)
