"""Alpha is set by documents that had no part in the topics.                                          docs/math (L21)"""

import math

import numpy as np
import pytest
from scipy import sparse

from stickbreak import TopicModel
from stickbreak.corpus import planted_lda
from stickbreak.evaluation import document_completion
from stickbreak.fitting.engine import Engine
from stickbreak.prediction.completion import completion_log_likelihood
from stickbreak.topics.laps import best_factor


@pytest.fixture(scope="module")
def short():
    """Documents of six tokens, and others that no fit sees."""
    return planted_lda(6000, 800, n_topics=40, mean_tokens=6, alpha=0.3 / 40, seed=1)[0].split(0.2, seed=0)


def test_new_short_documents_are_predicted_better_than_with_the_alpha_of_the_chain(short):
    train, new = short
    model = TopicModel(random_state=0).fit(train)
    of_chain = model.trace_["alpha"][-1]
    assert model.alpha_ > 1.3 * of_chain
    assert model.topic_prior_.sum() == pytest.approx(model.alpha_)
    with Engine(1) as engine:
        a, unseen = model.topic_prior_ * of_chain / model.alpha_, new[np.flatnonzero(new.document_lengths > 1)]
        of_unseen = best_factor(unseen, model.topic_word_, a, 1.0, engine, 0)
    assert model.alpha_ / of_chain == pytest.approx(of_unseen, rel=0.3)  # not apart: 0.6 of it
    observed, held_out = new.halves(seed=0)
    score = document_completion(model, observed, held_out).active
    model.topic_prior_ = model.topic_prior_ * of_chain / model.alpha_
    assert score > document_completion(model, observed, held_out).active + 0.01


def test_the_factor_is_the_best_one_for_the_documents_apart():
    corpus, truth = planted_lda(2000, 60, n_topics=5, mean_tokens=8, alpha=0.2, seed=0)
    observed, held_out = corpus.halves(seed=3)
    a, counts = np.full(5, 0.05), sparse.csr_array(observed.counts)
    document = np.repeat(np.arange(len(observed)), np.diff(counts.indptr))
    sums = sparse.csr_array((counts.data, np.arange(counts.nnz), counts.indptr), (len(observed), counts.nnz))
    phi = truth.topic_word[:, counts.indices].T

    def score(factor):
        r = np.full((counts.nnz, 5), 0.2)
        for _ in range(100):  # the fixed point of all documents
            r = ((sums @ r)[document] - r + factor * a) * phi
            r /= r.sum(axis=1, keepdims=True)
        weights = (sums @ r + factor * a) / (observed.document_lengths[:, None] + factor * a.sum())
        return completion_log_likelihood(weights, truth.topic_word, held_out.counts)[0]

    with Engine(1) as engine:
        found = best_factor(corpus, truth.topic_word, a, 1.0, engine, 3)
    assert 2.0 < found < 8.0  # documents are drawn with four times this a
    assert score(found) - 2 * math.log(found) ** 2 > max(score(found * step) for step in (0.8, 1.25)) - 2.0
    assert score(found) > score(found / 2) + 5.0
    assert score(found) > score(found * 2) + 5.0


def test_an_update_of_few_documents_keeps_the_factor(short):
    train, new = short
    model = TopicModel(n_topics=40, n_laps=60, random_state=0).fit(train)
    factor = model.alpha_ / model.trace_["alpha"][-1]
    assert factor > 1.2
    model.update(new[:15])
    assert model.alpha_ / model.trace_["alpha"][-1] == pytest.approx(factor, rel=0.2)


def test_ctrl_c_while_documents_are_apart_keeps_the_topics(short, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("stickbreak.topics.laps.best_factor", interrupted)
    model = TopicModel(n_topics=5, n_laps=15, random_state=0).fit(short[0])
    assert model.alpha_ == model.trace_["alpha"][-1]
    assert model.stop_reason_.endswith(" Its alpha was not set to predict best, as it was interrupted.")
