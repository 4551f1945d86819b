"""What the globals are to the documents of a minibatch."""

import numpy as np
import pytest
from scipy.special import digamma

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine
from stickbreak.hybrid.document_sampler import SweepSettings
from stickbreak.hybrid.state import Priors
from stickbreak.hybrid.word_weights import WEIGHTS, Tables, topic_weights, weigh

from . import reference
from .problems import ONE_THREAD, alias_table, expected_counts, found_under, state_of


def some_state(seed, n_words=9, n_topics=7, scale=0.25):
    rng = np.random.default_rng(seed)
    counts = rng.gamma(0.3, 20.0, (n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.5)
    counts[4] = 0.0  # a word without tokens
    counts[:, 2] = 0.0  # a topic without tokens
    return state_of(counts, rng.gamma(1.0, 9.0, n_topics), scale, 3)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_alias_table_draws_in_proportion_to_the_weights(n, seed):
    weight = np.random.default_rng(seed).gamma(0.2, 1.0, n)
    total, prob, alias = alias_table(weight)
    assert total == pytest.approx(weight.sum(), rel=1e-14)
    np.testing.assert_allclose(reference.alias_law(prob, alias), weight / weight.sum(), atol=1e-14)


BY_WORD = np.array([0.05, 0.2, 1.0, 0.01, 0.4, 0.05, 0.3, 0.02, 2.0])


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("eta", [0.05, BY_WORD], ids=["number", "by word"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_of_words_are_those_of_the_twin(kind, eta, sparse, seed):
    """Where eta is one for each word, they are by its unit, which the words of a draw have in common."""
    state, priors = some_state(seed), Priors(1.3, 2.0, eta, "ratio", kind)
    words = np.array([0, 2, 4, 8], np.int32)
    found = weigh(words, state, priors, Tables(), ONE_THREAD, sparse=sparse)
    of_topics, of_words = found.of_topics, found.of_words
    whole = np.broadcast_to(eta, 9)[:, None]
    mean_unit = whole[words] if np.ndim(eta) else np.ones((4, 1))
    unit = np.exp(digamma(mean_unit)) if np.ndim(eta) and kind == "mean_field" else mean_unit
    np.testing.assert_allclose(of_words.log_unit, np.log(mean_unit[:, 0]), atol=1e-15)
    expected = reference.word_weights(expected_counts(state), whole, kind) / 1.0
    expected[words] /= unit
    np.testing.assert_allclose(of_topics.base + of_words.delta[:, of_topics.column], expected[words], rtol=1e-10)
    mean = reference.word_weights(expected_counts(state), whole, "ratio")
    mean[words] /= mean_unit
    np.testing.assert_allclose(of_topics.mean_base + of_words.mean_delta[:, of_topics.column], mean[words], rtol=1e-12)
    e = priors.alpha * topic_weights(state, priors)
    smooth = of_topics.smooth[0]
    np.testing.assert_allclose(of_words.own + smooth, expected[words] @ e, rtol=1e-10)
    prior_mean = state.tables + priors.gamma / 7
    np.testing.assert_allclose(of_words.mean, 1.3 * mean[words] @ (prior_mean / prior_mean.sum()), rtol=1e-12)
    for b in range(words.size):
        part = slice(of_words.start[b], of_words.start[b + 1])
        q = smooth * reference.alias_law(of_topics.prob, of_topics.alias)
        q[of_words.topic[part]] += np.diff(of_words.sum[part], prepend=0.0)
        np.testing.assert_allclose(q, e * expected[words[b]], rtol=1e-9)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_tables_that_are_given_back_hold_zeros_again(kind, seed, monkeypatch):
    monkeypatch.setattr("stickbreak.hybrid.word_weights._SHARD_PAIRS", 3)
    tables, priors = Tables(), Priors(1.0, 1.0, 0.1, phi_weight=kind)
    with Engine(2) as engine:
        for words in ([0, 1, 2, 3, 5], [6], [3, 4, 8]):
            state = some_state(seed)
            given = np.array(words, np.int32), state, priors
            found = weigh(*given, tables, engine, sparse=True)
            fresh = weigh(*given, Tables(), ONE_THREAD, sparse=True)
            for name in ("delta", "mean_delta", "sum", "own", "mean"):
                np.testing.assert_array_equal(getattr(found.of_words, name), getattr(fresh.of_words, name))
            tables.give_back(found, engine)
            assert not found.of_words.delta.any()
            assert not found.of_words.mean_delta.any()


@pytest.mark.parametrize("kind", WEIGHTS)
def test_score_of_a_word_alone_is_its_probability_under_an_eta_by_word(kind, seed):
    state, priors = some_state(seed), Priors(1.3, 2.0, BY_WORD, "ratio", kind)
    mean = reference.word_weights(expected_counts(state), BY_WORD[:, None], "ratio")
    weights = state.tables + priors.gamma / 7
    for w in range(9):
        tokens = Tokens.from_corpus(Corpus.from_counts(np.eye(9, dtype=int)[[w]]))
        found = found_under(tokens, state, priors, SweepSettings(1, 1, "sparse"), 3)
        assert found.log_p == pytest.approx(np.log(mean[w] @ weights / weights.sum()), rel=1e-10)
