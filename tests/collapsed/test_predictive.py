"""Alpha from documents that are set apart, where passes are sampled (math.md (C24))."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from stickbreak import CollapsedHDP
from stickbreak.collapsed import predictive
from stickbreak.collapsed.cvb0 import add_up, random_start, sweep
from stickbreak.collapsed.predictive import Drawn, learn_drawn, predictive_alpha, says_alpha
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import completed, documents_apart
from stickbreak.collapsed.shards import ONE_DRAW
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import planted_lda
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor

from .problems import BY_WORD, set_apart

ONE = Engine(ThreadExecutor(1))


def swept(n_words=60, eta=0.1, sweeps=12, alpha=2.0):
    corpus = planted_lda(900, n_words, n_topics=4, alpha=0.3, mean_tokens=12, seed=0)[0]
    state = random_start(corpus, 6, 0)
    set_apart(state, 0)
    priors = Priors(alpha, 1.0, eta)
    for _ in range(sweeps):
        sweep(state, priors, ONE_DRAW, 0, ONE)
    return state, priors, documents_apart(state, 0, ONE)


@pytest.mark.parametrize(("n_words", "eta"), [(60, 0.1), (12, BY_WORD)])
def test_alpha_is_the_best_of_the_tokens_held_out(n_words, eta):
    state, priors, documents = swept(n_words, eta)
    of_word = np.broadcast_to(eta, n_words)
    phi = (state.S + of_word[:, None]) / (state.N + of_word.sum())
    rows = []  # (probabilities under the tokens kept, and under the corpus weights; tokens kept, and held out)
    for given in documents:
        shard = completed(given, state.S, state.N, priors.alpha * state.beta, priors, 0)
        for d in range(shard.indptr.size - 1):
            places, n = range(shard.indptr[d], shard.indptr[d + 1]), np.zeros(state.beta.size)
            for p in places:
                for j in range(shard.shares.start[p], shard.shares.start[p + 1]):
                    n[shard.shares.topic[j]] += shard.count[p] * shard.shares.share[j]
            for p in places:
                if given.held[p]:
                    w, kept = shard.word[p], sum(shard.count[q] for q in places)
                    unseen = (1 - state.beta.sum()) * of_word[w] / of_word.sum()
                    rows.append((phi[w] @ n, phi[w] @ state.beta + unseen, kept, given.held[p]))
    own, common, kept, held = np.array(rows).T

    def loss(log_alpha):
        alpha = np.exp(log_alpha)
        return alpha - log_alpha - held @ np.log((own + alpha * common) / (kept + alpha))

    best = np.exp(minimize_scalar(loss, bounds=(-4, np.log(5)), method="bounded", options={"xatol": 1e-9}).x)
    assert predictive_alpha(drawn(state, priors), documents, 5.0, 0, ONE) == pytest.approx(best, rel=1e-4)
    assert predictive_alpha(drawn(state, priors), documents, 0.5 * best, 0, ONE) == pytest.approx(0.5 * best)


def test_it_is_near_the_alpha_of_the_documents():
    """Topics are known nearly exactly; draws alone would say less, and start far above."""
    corpus, truth = planted_lda(6000, 200, n_topics=4, alpha=0.3, mean_tokens=16, seed=1)
    state = random_start(corpus, 4, 0)
    set_apart(state, 0)
    state.S[:] = 1e5 * truth.topic_word.T
    state.N[:] = state.S.sum(axis=0)
    state.beta[:] = 0.25 - 1e-6
    documents, alpha = documents_apart(state, 0, ONE), 20.0
    for _ in range(8):  # what the tokens kept say depends on alpha
        alpha = predictive_alpha(drawn(state, Priors(alpha, 1.0, 0.01)), documents, 20.0, 0, ONE)
    assert 0.8 < alpha < 2.0  # 4 topics of 0.3


def drawn(state, priors):
    return Drawn(state.S, state.N, state.beta, priors)


def test_alpha_is_learned_in_some_passes_alone():
    state, priors, documents = swept()
    rules = Rules(6, 100, priors, 1 / 15, ("alpha", "gamma"), 0, 0, False, 0.1, "auto")
    lengths = state.documents.lengths(ONE)

    def learned(number, learn=rules.learn, given=documents):
        return learn_drawn(state, priors, replace(rules, learn=learn), number, given, lengths, 0, ONE)

    state.n_sweeps = 40
    assert learned(4).alpha == priors.alpha
    assert learned(4).gamma != priors.gamma
    best = predictive_alpha(drawn(state, priors), documents, priors.alpha, 0, ONE)
    assert learned(5).alpha == best != priors.alpha
    assert learned(5, ("gamma",)).alpha == priors.alpha
    assert learned(5, given=[]).alpha == priors.alpha


def test_many_short_documents_say_it(monkeypatch):
    short = planted_lda(400, 50, mean_tokens=10, seed=0)[0]
    long = planted_lda(100, 900, mean_tokens=60, seed=0)[0]
    add_up(state := random_start(short, 3, 0), ONE)
    assert not says_alpha(state.documents)  # of too few counts
    monkeypatch.setattr(predictive, "LEAST", 1000)
    assert says_alpha(state.documents)
    assert not says_alpha(random_start(long, 3, 0).documents)


def test_a_fit_of_short_documents_resumes_with_it(monkeypatch, tmp_path):
    monkeypatch.setattr(predictive, "LEAST", 1000)
    corpus = planted_lda(900, 60, n_topics=4, alpha=0.1, mean_tokens=8, seed=0)[0]

    def model(n_laps):
        return CollapsedHDP(n_laps=n_laps, merge_laps=20, tolerance=None, random_state=0)

    whole = model(60).fit(corpus)
    model(33).fit(corpus, checkpoint=tmp_path / "cut")
    resumed = model(60).fit(corpus, checkpoint=tmp_path / "cut", resume=True)
    np.testing.assert_array_equal(whole.components_, resumed.components_)
    assert whole.alpha_ == resumed.alpha_
    trace = whole.trace_
    trial = [float(a) for lap, a in zip(trace["lap"], trace["alpha"], strict=True) if 20 < lap <= 50]
    assert len(set(trial)) in range(2, 8)  # every fifth pass
