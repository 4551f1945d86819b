"""What the globals are to the documents of a minibatch."""

import numpy as np
import pytest
from scipy.special import digamma

from stickbreak.hybrid.state import HybridState, Priors
from stickbreak.hybrid.word_weights import G_WEIGHTS, WEIGHTS, topic_weights, weigh

from . import reference
from .problems import ONE_THREAD, alias_table


def state_of(seed, n_words=9, n_topics=7, scale=0.25):
    rng = np.random.default_rng(seed)
    counts = rng.gamma(0.3, 20.0, (n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.5)
    counts[4] = 0.0  # a word without tokens
    return HybridState(counts, scale, scale * counts.sum(axis=0), rng.gamma(1.0, 9.0, n_topics), 3)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_alias_table_draws_in_proportion_to_the_weights(n, seed):
    weight = np.random.default_rng(seed).gamma(0.2, 1.0, n)
    total, prob, alias = alias_table(weight)
    assert total == pytest.approx(weight.sum(), rel=1e-14)
    np.testing.assert_allclose(reference.alias_law(prob, alias), weight / weight.sum(), atol=1e-14)


def test_weights_of_a_table_are_those_of_the_specification():
    state = HybridState(np.ones((1, 3)), 1.0, np.ones(3), np.array([2.0, 20.0, 278.0]) - 1 / 3, 0)
    found = {kind: topic_weights(state, Priors(1.0, 1.0, 0.1, kind)) for kind in G_WEIGHTS}
    np.testing.assert_allclose(found["mean_field"][:2], [0.00510, 0.0651], rtol=2e-3)
    np.testing.assert_allclose(found["ratio"][:2], [0.00667, 0.0667], rtol=1e-3)
    np.testing.assert_allclose(found["printed"][:2], [0.00443, 0.0633], rtol=1e-3)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_of_words_are_those_of_the_twin(kind, seed):
    state, priors = state_of(seed), Priors(1.3, 2.0, 0.05, "ratio", kind)
    words = np.array([0, 2, 4, 8], np.int32)
    found = weigh(words, state, priors, ONE_THREAD, sparse=True)
    expected = reference.word_weights(state.scale * state.counts, priors.eta, kind)
    np.testing.assert_allclose(found.of_words.phi, expected[words], rtol=1e-11)
    e = priors.alpha * topic_weights(state, priors)
    smooth = found.of_topics.numbers[0]
    np.testing.assert_allclose(found.of_words.own + smooth, expected[words] @ e, rtol=1e-11)
    mean = reference.word_weights(state.scale * state.counts, priors.eta, "ratio")
    prior_mean = state.tables + priors.gamma / 7
    np.testing.assert_allclose(found.of_words.mean, 1.3 * mean[words] @ (prior_mean / prior_mean.sum()), rtol=1e-12)
    for b in range(words.size):
        part = slice(found.of_words.start[b], found.of_words.start[b + 1])
        q = np.zeros(7)
        if part.start < part.stop:
            own = reference.alias_law(found.of_words.prob[part], found.of_words.alias[part])
            q[found.of_words.topic[part]] = found.of_words.own[b] * own
        q += smooth * reference.alias_law(found.of_topics.prob, found.of_topics.alias)
        np.testing.assert_allclose(q, e * expected[words[b]], rtol=1e-9)


def test_a_topic_without_tables_weighs_nothing_under_the_mean_field_and_something_under_the_ratio():
    state = HybridState(np.ones((1, 1000)), 1.0, np.ones(1000), np.full(1000, 9.0), 0)
    state.tables[3] = 0.0
    assert topic_weights(state, Priors(1.0, 1.0, 0.1, "mean_field"))[3] == np.exp(digamma(1e-3)) == 0.0
    assert topic_weights(state, Priors(1.0, 1.0, 0.1, "ratio"))[3] > 1e-8
