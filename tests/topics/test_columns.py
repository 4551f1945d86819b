"""Topics that depend on columns: exact draws, and weights that are learned and drawn."""

from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln
from tests.sampling.laws import ALARM, chi_square, largest_z, z_scores

from stickbreak.corpus import Corpus
from stickbreak.sparse_gibbs import columns
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.columns import ColumnChain, Design, groups_of, summary
from stickbreak.sparse_gibbs.kernels.sweeps import largest_of_groups
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak.topics.laps import Merger

from . import reference
from .test_chain import drawn, of_lengths, statistics


def chain_at(corpus: Corpus, z: Any, n_topics: int, x: Any, seed: int = 0) -> ColumnChain:
    chain = ColumnChain(corpus, n_topics, seed, Design.of(np.array(x, float)))
    chain.take([np.asarray(z, np.uint16)])
    return chain


def priors_of(a: Any, effects: Any, eta: float) -> Priors:
    return Priors(np.array(a, float), float(np.sum(a)), eta, effects=np.array(effects, float))


def prior_of(x: Any, priors: Priors) -> np.ndarray:
    """Return a_dk, (D, K).                                                                           docs/math (L27)"""
    return priors.a * np.exp(np.array(x) @ priors.effects.T)


TINY = [  # one group needs several tries for most draws; of the last, it needs more than are made
    ([[2, 1], [0, 2], [1, 1]], [[-1.0], [0.5], [2.0]], [0.7, 0.2], [[1.0], [-0.4]], 1),
    ([[2, 1], [0, 2], [1, 1]], [[-1.0], [0.5], [2.0]], [0.7, 0.2], [[1.0], [-0.4]], 64),
    ([[1, 1, 0], [1, 0, 1]], [[0.0, 1.0], [4.0, -4.0]], [0.5, 0.3, 0.4], [[1.0, -1.0], [0.6, -0.6], [0.0, 0.1]], 1),
]


@pytest.mark.parametrize(("counts", "x", "a", "effects", "most"), TINY)
def test_sweep_leaves_the_exact_posterior_as_it_is(
    counts: Any, x: Any, a: Any, effects: Any, most: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr(columns, "MOST_GROUPS", most)
    corpus, priors, n_topics = Corpus.from_counts(np.array(counts)), priors_of(a, effects, 0.3), len(a)
    word, document = reference.by_word(corpus)
    prior, shape = prior_of(x, priors), (corpus.n_documents, corpus.n_words, n_topics)
    states = reference.posterior(word, document, shape, np.array(a), 0.3)[0]
    log_p = []
    for z in states:
        n_dk, n_wk, n_k = reference.counts_of(word, document, z, shape)
        of_words = gammaln(n_wk + 0.3).sum() - gammaln(n_k + 0.3 * corpus.n_words).sum()
        log_p.append((gammaln(n_dk + prior) - gammaln(prior)).sum() + of_words)
    p = np.exp(np.array(log_p) - max(log_p))
    p /= p.sum()
    rng, seen = np.random.default_rng(1), np.zeros(len(states))
    chain, place = chain_at(corpus, states[0], n_topics, x), n_topics ** np.arange(word.size)[::-1]
    for number in range(10_000):
        chain.take([states[rng.choice(len(states), p=p)].astype(np.uint16)])
        chain.lap(number + 1, priors)
        seen[chain.snapshot()[0]["z.0"] @ place] += 1
    assert chi_square(seen, p) > ALARM


def test_chain_and_prior_have_the_same_joint_law(monkeypatch: Any) -> None:
    """Topics, words, and the weights that are drawn."""
    monkeypatch.setattr(columns, "MOST_GROUPS", 2)
    monkeypatch.setattr(columns, "SCANS", 1)
    lengths, n_words, eta, x = np.array([5, 1, 0, 4]), 3, 0.4, np.array([[-1.0], [0.2], [0.0], [1.1]])
    document, rng = np.repeat(np.arange(4), lengths), np.random.default_rng(2)

    def words_of(z: np.ndarray) -> np.ndarray:
        return drawn(rng.dirichlet(np.full(n_words, eta), size=3), z, rng)

    def values(z: np.ndarray, words: np.ndarray, priors: Priors) -> list[float]:
        b = priors.effects[:, 0]
        weights = [*b, *b**2, *np.minimum(priors.a, 2.0), *(b * (z == 0).mean()), b[0] * x[document[z == 0], 0].sum()]
        return [*statistics(z, words, document, 3), *weights]

    rows = []
    for _ in range(20_000):
        priors = priors_of(rng.gamma(1 / 3, 1.0, 3) + 1e-12, rng.normal(size=(3, 1)), eta)
        z = drawn(np.array([rng.dirichlet(row + 1e-9) for row in prior_of(x, priors)]), document, rng)
        rows.append(values(z, words_of(z), priors))
    exact, variance = np.mean(rows, axis=0), np.var(rows, axis=0) / len(rows)
    rows = []
    for number in range(6000):
        words = words_of(z)
        corpus, order = of_lengths(words, lengths, n_words)
        chain = chain_at(corpus, z[order], 3, x)
        chain.lap(number + 1, priors)
        priors = chain.with_drawn_weights(priors, number + 1)
        z = np.empty_like(z)
        z[order] = chain.snapshot()[0]["z.0"]
        rows.append(values(z, words, priors))
    scores = z_scores(np.array(rows[20:]), exact, variance)
    assert np.abs(scores).max() < largest_z(scores.size), scores


def test_the_objective_is_on_average_that_of_all_weights_of_a_document(monkeypatch: Any) -> None:
    monkeypatch.setattr(columns, "MOST_GROUPS", 1)
    priors = priors_of([0.5, 0.5], [[0.7], [0.7]], 0.3)
    chain = chain_at(Corpus.from_counts(np.array([[1, 0, 0], [0, 0, 0]])), [0], 2, [[-1.0], [1.0]])
    found = np.array([chain.lap(number, priors) for number in range(1, 4001)])  # a quarter of the tries is kept
    assert np.unique(found.round(6)).size > 5
    assert abs(found.mean() - np.log(1 / 3)) < 4 * found.std() / np.sqrt(found.size)


def test_draws_of_weights_have_their_exact_law(monkeypatch: Any) -> None:
    """Draws given topics of tokens, beside draws of the prior that are weighed by the probability of these topics."""
    monkeypatch.setattr(columns, "SCANS", 1)
    x, n_dk = np.array([[-1.0], [0.3], [1.2], [0.0]]), np.array([[5, 1], [1, 0], [7, 2], [0, 0]])
    rng = np.random.default_rng(0)
    chain = ColumnChain(Corpus.from_counts(n_dk), 2, 0, Design.of(x))
    chain.take([np.repeat([0, 1], n_dk.sum(axis=0)).astype(np.uint16)])  # word k has topic k
    priors, draws = priors_of([0.5, 0.5], [[0.0], [0.0]], 0.1), []
    for number in range(10_000):
        priors = chain.with_drawn_weights(priors, number)
        draws.append([*priors.effects[:, 0], *np.minimum(priors.a, 3.0), *(priors.effects[:, 0] ** 2), priors.a[0] > 1])
    a, effects = rng.gamma(0.5, 1.0, (400_000, 2)), rng.normal(size=(400_000, 2))
    prior = a[:, None] * np.exp(x * effects[:, None])  # (n, D, K)
    alpha, length = prior.sum(axis=2), n_dk.sum(axis=1)
    log_p = (gammaln(n_dk + prior) - gammaln(prior)).sum(axis=(1, 2)) + (gammaln(alpha) - gammaln(alpha + length)).sum(
        1
    )
    p = np.exp(log_p - log_p.max())
    values = np.column_stack([effects, np.minimum(a, 3.0), effects**2, a[:, 0] > 1])
    exact = p @ values / p.sum()
    variance = (p**2 @ (values - exact) ** 2) / p.sum() ** 2
    scores = z_scores(np.array(draws), exact, variance)
    assert np.abs(scores).max() < largest_z(scores.size), scores


def test_weights_of_one_topic_have_their_prior_law() -> None:
    """One topic has all tokens, whatever its weights are."""
    rng = np.random.default_rng(1)
    corpus, x = Corpus.from_counts(rng.poisson(2.0, (12, 3))), rng.normal(size=(12, 2))
    chain = chain_at(corpus, np.zeros(int(corpus.n_tokens)), 1, x)
    priors, draws = priors_of([1.0], [[0.0, 0.0]], 0.1), []
    for number in range(8000):
        priors = chain.with_drawn_weights(priors, number)
        draws.append([*priors.effects[0], *priors.effects[0] ** 2, priors.a[0], priors.a[0] < 0.5])
    exact = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1 - np.exp(-0.5)])
    scores = z_scores(np.array(draws), exact, np.zeros(6))
    assert np.abs(scores).max() < largest_z(scores.size), scores


def test_a_summary_knows_what_correlated_draws_are_worth(seed: int) -> None:
    rng, rho = np.random.default_rng(seed), 0.8  # of ten draws one counts, about
    draws = rng.normal(size=(100, 2, 50))
    for i in range(1, 100):
        draws[i, 1] = rho * draws[i - 1, 1] + np.sqrt(1 - rho**2) * draws[i, 1]
    mean, error, freedom = summary(draws)
    np.testing.assert_allclose(mean, draws.mean(axis=0))
    assert freedom[0].min() > 60
    assert 6 < freedom[1].mean() < 20
    assert error[0].mean() == pytest.approx(1.0, abs=0.1)
    assert error[1].mean() == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("most", [1, 7, 64])
def test_no_weight_of_a_document_is_above_that_of_its_group(most: int, seed: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(columns, "MOST_GROUPS", most)
    rng = np.random.default_rng(seed)
    design = Design.of(np.column_stack([rng.normal(size=200), rng.integers(0, 4, 200), np.zeros(200)]))
    weights = rng.normal(size=(6, 4))
    group = groups_of(design, weights, np.ones(len(design.x)))
    assert np.unique(group).size == group.max() + 1 <= most
    largest = np.full((group.max() + 1, 6), -100.0)
    largest_of_groups(design.x, weights, group, largest)
    log_a = design.x @ weights.T
    assert (log_a <= largest[group] + 1e-12).all()
    for g in range(group.max() + 1):
        np.testing.assert_allclose(log_a[group == g].max(axis=0), largest[g])
    assert groups_of(design, 0.0 * weights, np.ones(len(design.x))).max() == 0


def test_as_many_groups_as_categories_need_no_tries() -> None:
    category = np.arange(40) % 9
    design = Design.of(np.eye(9)[category][:, 1:])
    group = groups_of(design, np.full((3, 9), 2.0), np.ones(9))
    assert np.unique(group).size == len(design.x) == 9


def test_merged_topics_have_the_sum_of_their_weights_and_the_mean_of_their_effects() -> None:
    merged = priors_of([0.3, 1.0, 0.1, 2.0], [[1.0], [0.5], [-1.0], [9.0]], 0.1).merged(np.array([0, 1, 0, -1]))
    np.testing.assert_allclose(merged.a, [0.4, 1.0])
    np.testing.assert_allclose(merged.effects[:, 0], [(0.3 - 0.1) / 0.4, 0.5])


def test_merges_and_halves_see_the_weights_of_each_document(seed: int) -> None:
    """Where all documents are alike in their columns, gains are those of a chain with their weights."""
    rng = np.random.default_rng(seed)
    corpus, x = Corpus.from_counts(rng.poisson(1.5, (30, 12))), np.ones((30, 1))
    z = rng.integers(3, size=int(corpus.n_tokens))
    priors = priors_of([0.4, 0.2, 0.3], [[0.8], [-0.6], [0.3]], 0.1)
    chain, plain = chain_at(corpus, z, 3, x), Chain(corpus, 3, 0)
    plain.take([z.astype(np.uint16)])
    own = Priors(priors.a * np.exp(priors.effects[:, 0]), 1.0, 0.1)
    merger = Merger(0, 0, False, 0, chain._engine)
    (pairs, gains), (other, expected) = (
        merger.gains(one, prior, np.arange(3), 1) for one, prior in ((chain, priors), (plain, own))
    )
    np.testing.assert_array_equal(pairs, other)
    np.testing.assert_allclose(gains, expected, rtol=1e-9)
    halves = priors.halved(np.array([1]))
    np.testing.assert_allclose(halves.a, [0.4, 0.1, 0.3, 0.1])
    np.testing.assert_allclose(halves.effects[:, 0], [0.8, -0.6, 0.3, -0.6])
