"""The sampler of trees draws what a slow twin draws, and has the exact posterior of tiny collections."""

import numpy as np
import pytest
from tests.sampling.laws import ALARM, chi_square, largest_z, z_scores

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.numerics.streams import key_of
from stickbreak_baselines.nested_crp.gibbs import Chain
from stickbreak_baselines.nested_crp.kernels.sweeps import stick_weights
from stickbreak_baselines.nested_crp.state import Priors, Tree

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


def test_shares_of_levels_are_those_of_the_sticks():
    weight = np.empty(4)
    for n in ([0, 0, 0, 0], [3, 1, 0, 2]):
        stick_weights(np.array(n, float), 0.4, 2.0, weight)
        np.testing.assert_allclose(weight, reference.levels_prior(n, priors_of(4)), rtol=1e-12)
        assert weight.sum() == pytest.approx(1.0)


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


def test_documents_come_one_after_the_other_at_the_start(seed):
    corpus, _ = planted_lda(10, 12, n_topics=3, mean_tokens=10, seed=seed)
    priors, chain = priors_of(3), Chain(corpus, 3, seed)
    chain.begin(priors)
    tokens, found = chain._tokens, state(chain)
    again = Chain(corpus, 3, seed)
    again._sweep = lambda *_, **__: 0.0  # the levels alone
    again.begin(priors)
    z, path = again.tree.z, again.tree.path
    key = key_of(seed, 0, "sweep of NestedCRP")
    z, path, _ = reference.sweep(tokens.word, tokens.start, z, path, 12, priors, key, there=False)
    np.testing.assert_array_equal(found[0], path)
    np.testing.assert_array_equal(found[1], z)


def test_tree_is_that_of_its_paths_and_levels_after_many_sweeps(seed):
    corpus, _ = planted_lda(30, 20, n_topics=4, mean_tokens=20, seed=seed)
    priors, chain = priors_of(3), Chain(corpus, 3, seed)
    chain.begin(priors)
    for number in range(1, 20):
        chain.lap(number, priors)
    tree, again = chain.tree, Tree.of(chain._tokens, *state(chain))
    there = tree.level >= 0
    for name in ("level", "n_documents", "n_tokens"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(again, name))
    np.testing.assert_array_equal(tree.parent[there], again.parent[there])
    for head in chain._tokens.heads:
        found, expected = (set(x.lists[head + 1 : head + 1 + int(x.lists[head])].tolist()) for x in (tree, again))
        assert found == expected
    counts = chain.counts()
    assert counts.sum() == corpus.n_tokens
    np.testing.assert_array_equal(counts.sum(axis=1), tree.n_tokens[tree.order()])


TINY = [
    ([[1, 1], [0, 2]], 3, None),
    ([[1, 1, 0], [0, 1, 1]], 2, 3),
    ([[1, 0], [1, 1], [0, 1]], 2, None),
    ([[1, 0], [0, 1], [1, 0]], 3, 2),
]


@pytest.mark.parametrize(("counts", "n_levels", "n_words"), TINY)
def test_sweep_leaves_the_exact_posterior_as_it_is(counts, n_levels, n_words):
    corpus, priors = Corpus.from_counts(np.array(counts)), priors_of(n_levels, n_words=n_words)
    tokens = Chain(corpus, n_levels, 0)._tokens
    document = np.repeat(np.arange(corpus.n_documents), np.diff(tokens.start))
    states, p = reference.posterior(tokens.word, document, corpus.n_documents, n_levels, corpus.n_words, priors)
    place, seen = {one: i for i, one in enumerate(states)}, np.zeros(len(states))
    rng = np.random.default_rng(1)
    for number, at in enumerate(rng.choice(len(states), p=p, size=6_000)):
        path, z = states[at]
        chain = chain_at(corpus, as_nodes(path), z)
        chain.lap(number + 1, priors)
        path, z = state(chain)
        seen[place[reference.canonical(path), tuple(z.tolist())]] += 1
    assert chi_square(seen, p) > ALARM


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


def test_gamma_is_a_fixed_point_that_maximises_the_probability_of_the_paths(seed):
    corpus, _ = planted_lda(60, 30, n_topics=6, mean_tokens=20, seed=seed)
    priors, chain = priors_of(3), Chain(corpus, 3, seed)
    chain.begin(priors)
    for number in range(1, 10):
        chain.lap(number, priors)
    for _ in range(200):
        priors = chain.learned(priors, ("gamma",), 10)
    path = state(chain)[0]

    def log_posterior(gamma):
        return reference.log_paths(path, gamma) + np.log(gamma) - gamma  # of log gamma

    best = log_posterior(priors.gamma)
    assert log_posterior(priors.gamma * 0.99) < best > log_posterior(priors.gamma * 1.01)
    assert chain.learned(priors, (), 10) is priors
    assert chain.learned(priors, ("gamma",), 9) is priors


def test_probability_of_paths_does_not_depend_on_the_order_of_documents(seed):
    rng = np.random.default_rng(seed)
    path = rng.integers(2, size=(5, 3))
    path[:, 0] = 0
    assert reference.log_paths(path, 0.7) == pytest.approx(reference.log_paths(path[rng.permutation(5)], 0.7))
