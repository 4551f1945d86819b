"""Effects of several columns: estimates and errors by hand, draws from the exact posterior, planted effects."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from tests.questions.problems import GivenTopics

from stickbreak.corpus import Corpus
from stickbreak.questions.regression import Pooled, Regression, effects, weight_draws

PHI = np.array([[0.5, 0.3, 0.1, 0.05, 0.05], [0.05, 0.15, 0.5, 0.2, 0.1], [0.1, 0.1, 0.1, 0.2, 0.5]])
EFFECTS = np.array([[0.5, 0.3, 0.2], [0.2, -0.2, 0.0], [0.15, 0.0, -0.15]])  # intercept, kind, number; topics


def planted(seed=0, documents=300, tokens=40):
    rng = np.random.default_rng(seed)
    kind, number = rng.integers(0, 2, documents), rng.uniform(-1, 1, documents)
    design = np.column_stack([np.ones(documents), kind, number])
    theta = np.array([rng.dirichlet(8 * mean) for mean in design @ EFFECTS])
    counts = np.array([rng.multinomial(tokens, weights @ PHI) for weights in theta])
    columns = {
        "kind": np.where(kind, "b", "a"),
        "number": number,
        "day": np.datetime64("2020-01-01") + np.round(365.25 * number).astype("timedelta64[D]"),
        "text": [f"{day}" for day in np.datetime64("2020-01-01") + np.round(365.25 * number).astype("timedelta64[D]")],
    }
    return GivenTopics(PHI, np.full(3, 8 / 3)), Corpus.from_counts(counts, metadata=columns)


def test_coefficients_and_errors_are_those_by_hand():
    rng = np.random.default_rng(0)
    X, shares = np.column_stack([np.ones(12), rng.normal(2000, 5, 12)]), rng.random((12, 2))
    found, squared = Regression(X).fit(shares)
    inverse = np.linalg.inv(X.T @ X)
    expected = inverse @ X.T @ shares
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    hat = np.diag(X @ inverse @ X.T)
    for k in range(2):
        residual = (shares[:, k] - X @ expected[:, k]) / (1 - hat)
        cov = inverse @ (X.T * residual**2) @ X @ inverse
        np.testing.assert_allclose(squared[:, k], np.diag(cov), rtol=1e-3)


def test_pooled_results_are_those_of_rubin():
    rng = np.random.default_rng(1)
    regression = Regression(np.column_stack([np.ones(30), rng.random(30)]))
    draws = rng.random((4, 30, 2))
    pooled = Pooled(regression)
    for theta in draws:
        pooled.add(theta)
    mean, error, freedom = pooled.result()
    estimates, squares = (np.array(part) for part in zip(*(regression.fit(theta) for theta in draws), strict=True))
    between = estimates.var(axis=0, ddof=1)
    total = squares.mean(axis=0) + 1.25 * between
    np.testing.assert_allclose(mean, estimates.mean(axis=0))
    np.testing.assert_allclose(error, np.sqrt(total))
    part = 1.25 * between / total
    observed = 29 / 31 * 28 * (1 - part)
    np.testing.assert_allclose(freedom, 1 / (part**2 / 3 + 1 / observed))


def test_draws_are_from_the_exact_posterior():
    """Of a document of three tokens: all choices of their topics, weighed."""
    words, a = [0, 2, 2], np.array([0.7, 0.4, 0.9])
    mean, total = np.zeros(3), 0.0
    for z in product(range(3), repeat=3):
        weight, n = 1.0, np.zeros(3)
        for w, k in zip(words, z, strict=True):
            weight *= PHI[k, w] * (a[k] + n[k])
            n[k] += 1
        mean += weight * (a + n) / (a.sum() + 3)
        total += weight
    corpus = Corpus.from_counts(np.tile([1, 0, 2, 0, 0], (4000, 1)))
    draws = np.mean([theta.mean(axis=0) for theta in weight_draws(PHI, a, corpus, None, 10, 0)], axis=0)
    np.testing.assert_allclose(draws, mean / total, atol=0.006)


def test_draws_with_bursts_follow_the_exact_posterior():
    counts, strength = np.array([30, 0, 1, 1]), 2.0
    phi = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.3, 0.3, 0.3]])
    weights = (np.arange(20_000) + 0.5) / 20_000  # of the first topic; the prior is flat
    p = strength * (np.outer(weights, phi[0]) + np.outer(1 - weights, phi[1]))
    density = np.exp((gammaln(p + counts) - gammaln(p)).sum(axis=1))
    density /= density.sum()
    mean = density @ weights
    corpus = Corpus.from_counts(np.tile(counts, (4000, 1)))
    draws = np.array([theta[:, 0] for theta in weight_draws(phi, np.ones(2), corpus, None, 10, 0, strength=strength)])
    assert draws.mean() == pytest.approx(mean, abs=0.01)
    assert draws.std() == pytest.approx(np.sqrt(density @ (weights - mean) ** 2), abs=0.01)
    sure = np.array([theta[:, 0] for theta in weight_draws(phi, np.ones(2), corpus, None, 2, 0)])
    assert sure.std() < 0.5 * draws.std(), "without bursts all thirty tokens speak for the topic"


def test_effects_know_the_bursts_of_a_model(monkeypatch):
    model, corpus = planted()
    without = effects(model, corpus, "kind", n_draws=3)
    monkeypatch.setattr(type(model), "_strength", 5.0)
    with_bursts = effects(model, corpus, "kind", n_draws=3)
    assert not np.allclose(with_bursts["estimate"], without["estimate"])


def test_planted_effects_are_found_and_not_drawn_towards_zero():
    model, corpus = planted(documents=800)
    table = effects(model, corpus, "kind + number", n_draws=10)
    assert list(table.columns) == ["topic", "label", "term", "estimate", "low", "high", "p"]
    assert table["term"].tolist() == ["Intercept", "kind[T.b]", "number"] * 3
    estimate = table["estimate"].to_numpy().reshape(3, 3).T
    np.testing.assert_allclose(estimate, EFFECTS, atol=0.035)
    plain = Regression(np.column_stack([np.ones(800), np.array(corpus.metadata["kind"]) == "b"]))
    weights, _ = plain.fit(model.transform(corpus))
    assert abs(weights[1, 0]) < 0.85 * abs(estimate[1, 0]), "weights alone lean towards the whole collection"
    sure = table[table["p"] < 0.01]
    assert set(zip(sure["topic"], sure["term"], strict=True)) == {
        (0, "kind[T.b]"), (1, "kind[T.b]"), (0, "number"), (2, "number"),
    }  # fmt: skip
    assert table.loc[table["term"] == "Intercept", "p"].isna().all()
    told = []
    again = effects(model, corpus, "kind + number", n_draws=10, callback=told.append)
    assert [event["done"] for event in told] == list(range(1, told[0]["total"] + 1))
    assert again.equals(table)
    one = effects(model, corpus, "kind + number", n_draws=10, topic=2)
    np.testing.assert_allclose(one["estimate"], table.loc[table["topic"] == 2, "estimate"])


def test_a_single_topic_depends_on_nothing():
    number = np.random.default_rng(1).normal(size=200)
    corpus = Corpus.from_counts(np.ones((200, 1), int), metadata={"number": number, "large": 1e6 * number**2})
    table = effects(GivenTopics(np.ones((1, 1)), np.ones(1)), corpus, "number + large", n_draws=2)
    assert table["estimate"].tolist() == [pytest.approx(1), 0, 0]
    assert table["p"].tolist()[1:] == [1, 1]


def test_dates_count_in_years_from_their_mean():
    model, corpus = planted()
    by_number = effects(model, corpus, "number", n_draws=4)
    for name in ("day", "text"):
        by_day = effects(model, corpus, name, n_draws=4)
        slopes = (table.loc[table["term"] != "Intercept", "estimate"].to_numpy() for table in (by_day, by_number))
        np.testing.assert_allclose(*slopes, atol=0.002)
