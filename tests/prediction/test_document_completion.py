import json
from pathlib import Path

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.evaluation import document_completion
from stickbreak.prediction import words as prediction_words

ORACLE = json.loads((Path(__file__).parents[1] / "data" / "evaluation.json").read_text())["completion"]


def oracle_halves(extra_observed=(), extra_held_out=()):
    """The document of the oracle, between others."""
    n_words = len(ORACLE["tau"][0])
    observed = np.zeros(n_words)
    observed[ORACLE["first_half"]["types"]] = ORACLE["first_half"]["counts"]
    held_out = np.bincount(ORACLE["second_half"], minlength=n_words)
    first = np.vstack([observed, *extra_observed]).astype(int)
    second = np.vstack([held_out, *extra_held_out]).astype(int)
    return Corpus.from_counts(first), Corpus.from_counts(second)


@pytest.fixture
def oracle_model(make_model):
    tau, theta = np.array(ORACLE["tau"]), np.array(ORACLE["theta"])

    def weights(corpus):
        assert (corpus.document_lengths > 0).all(), "an empty half was asked for"
        return np.tile(theta / theta.sum(), (corpus.n_documents, 1))

    return make_model(tau / tau.sum(axis=1, keepdims=True), weights, ORACLE["prior_mean_inactive"])


def test_document_completion_agrees_with_the_oracle_in_both_conventions(oracle_model):
    found = document_completion(oracle_model, *oracle_halves())
    assert found.active == pytest.approx(ORACLE["loglik_active"] / ORACLE["n"], abs=ORACLE["tol"])
    assert found.with_inactive == pytest.approx(ORACLE["loglik_with_inactive"] / ORACLE["n"], abs=ORACLE["tol"])
    assert (found.n_tokens, found.n_documents) == (ORACLE["n"], 1)
    assert found.perplexity == pytest.approx(np.exp(-ORACLE["loglik_active"] / ORACLE["n"]))


def test_document_completion_is_the_same_in_blocks(make_model, monkeypatch):
    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, (20, 6))
    phi = rng.dirichlet(np.ones(6), 2)

    def weights(corpus):
        share = (corpus.counts[:, 0].toarray().ravel() + 1.0) / (corpus.document_lengths + 3.0)
        return np.column_stack([share * 0.9, (1 - share) * 0.9, np.full(share.size, 0.1)])

    model = make_model(phi, weights)
    halves = Corpus.from_counts(counts).halves(seed=1)
    whole = document_completion(model, *halves)
    monkeypatch.setattr(prediction_words, "_BLOCK_ELEMENTS", 9)
    cut = document_completion(model, *halves)
    assert cut.n_documents == whole.n_documents > 3
    assert cut.active == pytest.approx(whole.active)
    assert cut.with_inactive == pytest.approx(whole.with_inactive)


def test_document_completion_scores_only_seen_words(oracle_model):
    found = document_completion(oracle_model, *oracle_halves(), seen=[True, False, False, False])
    tau, theta = np.array(ORACLE["tau"]), np.array(ORACLE["theta"])
    active = theta[:-1] / theta[:-1].sum()
    assert found.n_tokens == ORACLE["second_half"].count(0)
    first_word = [*(tau[:, 0] / tau.sum(axis=1)), ORACLE["prior_mean_inactive"][0]]
    assert found.with_inactive == pytest.approx(np.log(theta / theta.sum() @ first_word))
    assert found.active == pytest.approx(np.log(active @ (tau[:, 0] / tau.sum(axis=1))))
