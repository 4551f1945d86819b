"""Words that rise and fall inside a topic: planted ones are found, a topic that only grows has none."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.questions.problems import GivenTopics

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.questions.changed_words import (
    TopicTokens,
    compared,
    tail,
    topic_tokens,
    words_by,
    words_over_time,
)

K, W, YEARS = 4, 80, 6


def collection(seed, *, shift=0.0, documents=600, bursts=True):
    """Return topics and documents: topic 0 grows, topic 1 shrinks; from year 3 on words 0 and 1 of topic 2 change."""
    rng = np.random.default_rng(seed)
    phi = 0.9 * rng.dirichlet(np.full(W, 0.1), K) + 0.1 * rng.dirichlet(np.full(W, 1.0))
    phi[:, :2] = 1e-3
    phi[2, :2] = 0.06
    phi /= phi.sum(axis=1, keepdims=True)
    year = rng.integers(0, YEARS, documents)
    concentration = np.full((documents, K), 0.4)
    concentration[:, 0] *= np.linspace(0.2, 4, YEARS)[year]
    concentration[:, 1] *= np.linspace(4, 0.2, YEARS)[year]
    sign = np.where(np.arange(K)[:, None] == 2, [[shift, -shift]], 0.0)
    early, late = phi.copy(), phi.copy()
    early[:, :2] -= sign
    late[:, :2] += sign
    counts = np.zeros((documents, W), int)
    for d in range(documents):
        tokens = rng.multinomial(1 + rng.poisson(rng.gamma(2, 25)), rng.dirichlet(concentration[d]))
        for k in np.flatnonzero(tokens):
            words = (late if year[d] >= YEARS // 2 else early)[k]
            counts[d] += rng.multinomial(tokens[k], rng.dirichlet(60 * words + 1e-9) if bursts else words)
    columns = {"year": 2015 + year, "late": np.where(year >= YEARS // 2, "late", "early")}
    return GivenTopics(phi, np.full(K, 0.4)), Corpus.from_counts(counts, metadata=columns)


def test_planted_words_are_found_and_no_others():
    model, corpus = collection(1, shift=0.05)
    table = words_by(model, corpus, "late")
    found = table[table["category"] == "late"].set_index("word")["lift"]
    assert set(found.index) == {"w0", "w1"}
    assert found["w0"] > 1.2
    assert found["w1"] < 0.8
    assert set(table["topic"]) == {2}
    over_time = words_over_time(model, corpus, "year")
    assert over_time.attrs["by"] == "year"
    assert set(over_time["topic"]) == {2}
    assert set(over_time["word"]) == {"w0", "w1"}
    late = over_time[over_time["period"] >= pd.Timestamp(2018, 1, 1)]
    assert ((late["lift"] > 1) == (late["word"] == "w0")).all()
    alone = words_by(model, corpus, "late", topic=2)
    assert set(alone["word"]) == {"w0", "w1"}
    assert (alone["p"].to_numpy() <= table["p"].to_numpy() + 1e-12).all(), "of fewer tests"


def test_tokens_of_topics_are_those_of_a_slow_twin():
    model, corpus = collection(3, documents=60)
    theta, phi, counts = model.transform(corpus), model.topic_word_, corpus.counts.toarray()
    r = np.einsum("dk,kw->dkw", theta, phi)
    r /= r.sum(axis=1, keepdims=True)
    n = np.einsum("dw,dkw->dk", counts, r)
    for given in (None, theta):
        found = topic_tokens(model, corpus, np.array([2, 0]), given)
        for one, k in zip(found, (2, 0), strict=True):
            present = n[:, k] >= np.maximum(1.0, 0.05 * counts.sum(axis=1))
            np.testing.assert_allclose(one.tokens, np.where(present, n[:, k], 0.0))
            kept = present[:, None] & (counts * r[:, k] > 0.01)
            d, w = np.nonzero(kept)
            np.testing.assert_array_equal([one.document, one.word], [d, w])
            np.testing.assert_allclose(one.part, r[d, k, w])
            np.testing.assert_array_equal(one.count, counts[d, w])


def test_tail_is_that_of_all_outcomes():
    """The exact distribution of the sum, from each choice of documents and each number of tokens."""
    rng = np.random.default_rng(0)
    n = 7
    x, r, q = rng.integers(1, 4, n).astype(float), rng.uniform(0.3, 0.9, n), rng.uniform(0.1, 0.4, n)
    expected = 0.2 * rng.random(n)
    values, chances = np.zeros(1), np.ones(1)
    for i in range(n):
        tokens = np.arange(x[i] + 1)
        own = np.append(0.0, tokens - expected[i])
        chance = np.append(1 - q[i], q[i] * stats.binom.pmf(tokens, x[i], r[i]))
        values = (values[:, None] + own).ravel()
        chances = (chances[:, None] * chance).ravel()
    mean = values @ chances
    assert mean == pytest.approx(q @ (x * r - expected))
    for excess in (2.0, 4.0, 6.0):
        exact = chances[values >= mean + excess].sum()
        assert tail(expected, x, r, q, np.ones(n), excess) == pytest.approx(exact, rel=0.35)
    below = chances[values <= mean - 1.5].sum()
    assert tail(expected, x, r, q, np.ones(n), -1.5) == pytest.approx(below, rel=0.5)


def test_sums_and_lift_are_those_by_hand():
    """Twenty documents of one stratum, each with ten tokens of the topic; a word twice in the first twelve."""
    tokens, d = np.full(20, 10.0), np.arange(12)
    found = TopicTokens(tokens, d, np.zeros(12, np.int64), np.full(12, 2.0), np.ones(12))
    group = np.repeat([0, 1], 10)
    tested = compared(found, group, 2)
    np.testing.assert_allclose(tested.observed, [20, 4])
    np.testing.assert_allclose(tested.expected, [12, 12])
    np.testing.assert_allclose(tested.lift, [(20 + 4) / (12 + 4), (4 + 4) / (12 + 4)])
    assert tested.p[0] == pytest.approx(tested.p[1], rel=1e-6)
    exact = 2 * (comb(12, 10) + comb(12, 11) + 1) / 2**20  # ten of the twelve or more, and none of the other eight
    assert tested.p[0] == pytest.approx(exact, rel=0.5)


def test_words_do_not_fall_by_chance_where_a_few_documents_have_most_of_a_topic():
    rng = np.random.default_rng(0)
    lengths = np.append([80, 60, 40], np.full(40, 9))
    counts = np.array([rng.multinomial(n, np.full(20, 1 / 20)) for n in lengths])
    d, w = np.nonzero(counts)
    found = TopicTokens(lengths.astype(float), d, w, counts[d, w].astype(float), np.ones(d.size))
    p = np.concatenate([compared(found, rng.integers(0, 6, lengths.size), 6).p for _ in range(150)])
    assert (p < 0.001).mean() < 0.001
    assert (p < 0.01).mean() < 0.01


def test_a_single_period_or_category_is_refused():
    model, corpus = collection(0, documents=30)
    with pytest.raises(InputError, match=r"all dates lie in one year, .* give by='day' \(--by day\)"):
        words_over_time(model, corpus, pd.date_range("2020-01-01", periods=30), "year")
    with pytest.raises(InputError, match=r"all dates lie in one day, .* give documents of more days"):
        words_over_time(model, corpus, ["2020-01-01"] * 30)
    with pytest.raises(InputError, match="there is 1 category; give a column of 2"):
        words_by(model, corpus, ["one"] * 30)
