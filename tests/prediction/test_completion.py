import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from stickbreak.prediction import completion
from stickbreak.prediction.completion import completion_log_likelihood

ORACLE = json.loads((Path(__file__).parents[1] / "data" / "evaluation.json").read_text())["completion"]


def oracle_case():
    """Topics, weights and held-out counts of the oracle."""
    tau, theta = np.array(ORACLE["tau"]), np.array(ORACLE["theta"])
    held_out = np.bincount(ORACLE["second_half"], minlength=tau.shape[1])[None, :]
    return tau / tau.sum(axis=1, keepdims=True), theta, sparse.csr_matrix(held_out)


def random_case(seed, n_documents=7, n_topics=3, n_words=11):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n_topics), n_documents)
    topic_word = rng.dirichlet(np.ones(n_words), n_topics)
    counts = rng.poisson(0.7, (n_documents, n_words))
    return weights, topic_word, counts


def direct(weights, topic_word, counts):
    """The same by a dense product."""
    return float((counts * np.log(weights @ topic_word)).sum()), float(counts.sum())


def test_completion_agrees_with_the_oracle_over_active_topics():
    topic_word, theta, held_out = oracle_case()
    active = theta[None, :-1] / theta[:-1].sum()
    total, n_tokens = completion_log_likelihood(active, topic_word, held_out)
    assert total == pytest.approx(ORACLE["loglik_active"], abs=ORACLE["tol"])
    assert n_tokens == ORACLE["n"]


def test_completion_agrees_with_the_oracle_with_inactive_mass():
    topic_word, theta, held_out = oracle_case()
    total, _ = completion_log_likelihood(
        theta[None, :] / theta.sum(), topic_word, held_out, rest_word=ORACLE["prior_mean_inactive"]
    )
    assert total == pytest.approx(ORACLE["loglik_with_inactive"], abs=ORACLE["tol"])


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), chunk=st.integers(1, 60))
def test_completion_equals_the_dense_product_for_every_chunk_size(seed, chunk):
    weights, topic_word, counts = random_case(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion, "_CHUNK_ELEMENTS", chunk)
        found = completion_log_likelihood(weights, topic_word, sparse.csr_matrix(counts))
    assert found == pytest.approx(direct(weights, topic_word, counts), rel=1e-12)


def test_completion_never_forms_documents_times_words():
    n = 200_000  # dense: 320 GB
    weights = np.full((n, 2), 0.5)
    topic_word = np.full((2, n), 1.0 / n)
    held_out = sparse.csr_matrix(([1.0, 3.0], ([0, n - 1], [n - 1, 5])), shape=(n, n))
    total, n_tokens = completion_log_likelihood(weights, topic_word, held_out)
    assert (total, n_tokens) == (pytest.approx(-4 * np.log(n)), 4.0)
