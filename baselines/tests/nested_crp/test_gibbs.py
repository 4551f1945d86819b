"""The sampler of trees draws what a slow twin draws, and has the exact posterior of tiny collections."""

import numpy as np
import pytest
from tests.sampling.laws import largest_z, z_scores

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.numerics.streams import key_of
from stickbreak_baselines.nested_crp.gibbs import Chain
from stickbreak_baselines.nested_crp.state import Priors

from . import reference


def priors_of(n_levels, gamma=0.7, n_words=None):
    """Return priors; with a number of words these have pseudo-counts that differ by a factor of up to ten."""
    of_words = None if n_words is None else np.linspace(0.2, 2.0, n_words)
    alike = None if of_words is None else of_words / of_words.mean()
    return Priors(gamma, 0.4, 2.0, np.linspace(0.6, 0.2, n_levels), alike)


def state(chain):
    arrays = chain.snapshot()[0]
    return arrays["path"], arrays["z"]


def chain_at(corpus, path, z, seed=0):
    path = np.asarray(path, np.int64)
    chain = Chain(corpus, path.shape[1], seed)
    chain.restore({"path": path, "z": np.asarray(z, np.int8)}, {})
    return chain


def as_nodes(path):
    """Return node numbers (D, L) for paths that name the child at each level."""
    names = {}
    return np.array([[names.setdefault(tuple(row[: h + 1]), len(names)) for h in range(len(row))] for row in path])


@pytest.mark.parametrize(("n_levels", "n_words"), [(2, None), (3, None), (4, None), (2, 15), (3, 15)])
def test_sweeps_draw_what_the_twin_draws(n_levels, n_words, seed):
    corpus, _ = planted_lda(12, 15, n_topics=4, mean_tokens=12, seed=seed)
    priors, chain = priors_of(n_levels, n_words=n_words), Chain(corpus, n_levels, seed)
    chain.begin(priors)
    tokens = chain._tokens
    path, z = state(chain)
    for number in (1, 2, 3):
        key = key_of(seed, number, "sweep of NestedCRP")
        z, path, log_p = reference.sweep(tokens.word, tokens.start, z, path, 15, priors, key)
        assert chain.lap(number, priors) == pytest.approx(log_p, rel=1e-9)
        for found, expected in zip(state(chain), (path, z), strict=True):
            np.testing.assert_array_equal(found, expected)


TINY = [
    ([[1, 1], [0, 2]], 3, None),
    ([[1, 1, 0], [0, 1, 1]], 2, 3),
    ([[1, 0], [1, 1], [0, 1]], 2, None),
    ([[1, 0], [0, 1], [1, 0]], 3, 2),
]


def test_chain_has_the_exact_posterior():
    counts, n_levels, _ = TINY[0]
    corpus, priors = Corpus.from_counts(np.array(counts)), priors_of(n_levels)
    chain = Chain(corpus, n_levels, 0)
    document = np.repeat(np.arange(2), np.diff(chain._tokens.start))
    states, p = reference.posterior(chain._tokens.word, document, 2, n_levels, 2, priors)
    place, rows = {one: i for i, one in enumerate(states)}, np.zeros((8_000, len(states)))
    chain.begin(priors)
    for number in range(len(rows)):
        chain.lap(number + 1, priors)
        path, z = state(chain)
        rows[number, place[reference.canonical(path), tuple(z.tolist())]] = 1
    z = z_scores(rows, p, least_error=np.sqrt(p * (1 - p) / len(rows)))
    assert np.abs(z).max() < largest_z(z.size)


def statistics(path, z, document, word):
    """Quantities of a state that tell wrong laws from right ones."""
    node = path[document, z]
    same, alike = node[:, None] == node[None, :], word[:, None] == word[None, :]
    near = document[:, None] == document[None, :]
    nodes = [len(np.unique(path[:, h])) for h in range(1, path.shape[1])]
    levels = np.bincount(z, minlength=path.shape[1])
    pairs = [same & near, same & ~near, same & alike, same & alike & ~near]
    return [*nodes, *levels, *levels**2, *(pair.sum() for pair in pairs)]


def test_chain_and_prior_have_the_same_joint_law():
    lengths, n_words, L, priors = np.array([4, 1, 0, 3, 2]), 3, 3, priors_of(3)
    document, rng = np.repeat(np.arange(5), lengths), np.random.default_rng(2)

    def prior_state():
        path, ways = [], {}
        for _ in lengths:
            row = [0]
            for _ in range(1, L):
                children = ways.setdefault(tuple(row), {})
                names, n = [*children, len(children)], np.array([*children.values(), priors.gamma], float)
                child = names[rng.choice(n.size, p=n / n.sum())]
                children[child] = children.get(child, 0) + 1
                row.append(child)
            path.append(tuple(row))
        sticks = rng.beta(priors.mean * priors.scale, (1 - priors.mean) * priors.scale, size=(lengths.size, L - 1))
        left = np.cumprod(np.column_stack([np.ones(lengths.size), 1 - sticks]), axis=1)
        shares = left * np.column_stack([sticks, np.ones(lengths.size)])
        z = np.array([rng.choice(L, p=shares[d] / shares[d].sum()) for d in document])
        return as_nodes(path), z

    def words_of(path, z):
        word, node = np.empty(z.size, int), path[document, z]
        for j in np.unique(node):
            at = node == j
            phi = rng.dirichlet(np.full(n_words, priors.eta[z[at][0]]))
            word[at] = rng.choice(n_words, p=phi, size=at.sum())
        return word

    rows = []
    for _ in range(6000):
        path, z = prior_state()
        rows.append(statistics(path, z, document, words_of(path, z)))
    exact, variance = np.mean(rows, axis=0), np.var(rows, axis=0) / len(rows)
    rows = []
    for number in range(3000):
        word = words_of(path, z)
        order = np.lexsort((word, document))
        counts = np.zeros((lengths.size, n_words), int)
        np.add.at(counts, (document, word), 1)
        chain = chain_at(Corpus.from_counts(counts), path, z[order])
        chain.lap(number + 1, priors)
        path, found = state(chain)
        z = np.empty(z.size, int)
        z[order] = found
        rows.append(statistics(path, z, document, word))
    scores = z_scores(np.array(rows[20:]), exact, variance)
    assert np.abs(scores).max() < largest_z(scores.size)
