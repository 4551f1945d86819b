"""What the page of mathematics says, written down again from it alone, has the law of the code."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from tests.sampling.laws import ALARM

from stickbreak import TopicModel
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import Engine
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak.topics.laps import Merger

from .rewritten import Rewritten, fit, tokens_of

X, A, ETA = np.array([[2, 1, 0, 0], [0, 2, 0, 0]]), np.array([0.7, 0.2]), 0.3  # words that do not occur count, too


def both(X, z, a, eta, seed):
    """Return the code and the rewritten state at topics z of the tokens, document by document."""
    d, w = tokens_of(X)
    chain = Chain(Corpus.from_counts(X), a.size, seed)
    chain.take([z[np.lexsort((d, w))].astype(np.uint16)])
    return chain, Rewritten(X, z, a, eta, np.random.default_rng(seed))


def test_two_sweeps_have_one_law():
    d, w = tokens_of(X)
    order, place, seen = np.lexsort((d, w)), 2 ** np.arange(5), np.zeros((2, 32))
    for seed in range(2500):
        chain, state = both(X, np.array([0, 1, 1, 0, 0]), A, ETA, seed)
        for number in (1, 2):
            chain.lap(number, Priors(A, float(A.sum()), ETA))
            state.sweep()
        seen[0, chain.z[0] @ place] += 1
        seen[1, state.z[order] @ place] += 1
    frequent = seen[:, seen.sum(axis=0) >= 10]
    assert chi2_contingency(np.column_stack([frequent, seen.sum(axis=1) - frequent.sum(axis=1) + 1])).pvalue > ALARM


@pytest.fixture
def some(seed):
    X = planted_lda(12, 15, n_topics=3, mean_tokens=12, seed=seed)[0].counts.toarray()
    rng = np.random.default_rng(seed)
    return X, rng.integers(3, size=X.sum()), rng.uniform(0.05, 0.9, 3)


def test_weights_are_learned_alike(some):
    chain, state = both(*some, 0.1, 0)
    state.learn()
    np.testing.assert_allclose(chain.with_weights(Priors(some[2], float(some[2].sum()), 0.1), 10).a, state.a, rtol=1e-9)


def test_gains_of_merges_have_one_expectation(some):
    chain, state = both(*some, 0.1, 0)
    priors, merger = Priors(some[2], float(some[2].sum()), 0.1), Merger(0, 0, False, 0, Engine())
    counts, sizes = chain.words(np.arange(3)), chain.sizes().astype(float)
    plain = merger._plain(chain, counts, sizes, priors.a, np.full(15, 0.1), np.arange(3))
    drawn = [merger.gains(chain, priors, np.arange(3), number) for number in range(400)]
    for place, (k, l) in enumerate(drawn[0][0]):  # noqa: E741
        assert plain[k, l] == pytest.approx(state.plain(k, l), abs=1e-6)
        code, page = np.array([gains[place] for _, gains in drawn]), np.array([state.gain(k, l) for _ in range(400)])
        error = np.sqrt((code.var() + page.var()) / 400)
        assert abs(code.mean() - page.mean()) < 4.5 * error
        assert 0.7 < code.std() / page.std() < 1.4


def test_fits_find_the_same_topics():
    corpus, _ = planted_lda(150, 30, n_topics=3, mean_tokens=25, seed=0)
    X = corpus.counts.toarray()
    model = TopicModel(max_topics=12, n_laps=70, random_state=0).fit(corpus)
    state = fit(X, 12, 5.0, 0.05, np.random.default_rng(0), 70)
    assert state.a.size == pytest.approx(model.n_topics_, abs=1)
    phi = (state.n_kw + 0.05) / (state.n_kw + 0.05).sum(axis=1, keepdims=True)
    largest = np.argsort(-state.n_k)[:3]
    distance = np.abs(phi[largest][:, None] - model.topic_word_[:3]).sum(axis=2) / 2
    assert (distance.min(axis=1) < 0.12).all()
    assert state.a.sum() == pytest.approx(model.trace_["alpha"][-1], rel=0.5)
