import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from stickbreak.exceptions import InputError
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


def test_completion_takes_fractional_weights_and_coo_matrices():
    weights, topic_word, counts = random_case(1)
    half = counts / 2.0
    found = completion_log_likelihood(weights, topic_word, sparse.coo_matrix(half))
    assert found == pytest.approx(direct(weights, topic_word, half))


def test_completion_scores_only_seen_words():
    weights, topic_word, counts = random_case(2)
    seen = np.arange(counts.shape[1]) % 2 == 0
    found = completion_log_likelihood(weights, topic_word, sparse.csr_matrix(counts), seen=seen)
    assert found == pytest.approx(direct(weights, topic_word, counts * seen))


def test_completion_of_a_document_without_held_out_tokens_adds_nothing():
    weights, topic_word, counts = random_case(3)
    emptied = counts.copy()
    emptied[2] = 0
    rest = np.arange(len(counts)) != 2
    found = completion_log_likelihood(weights, topic_word, sparse.csr_matrix(emptied))
    assert found == pytest.approx(direct(weights[rest], topic_word, counts[rest]))


def test_completion_of_an_impossible_word_is_minus_infinity():
    total, n_tokens = completion_log_likelihood([[1.0]], [[1.0, 0.0]], sparse.csr_matrix([[0, 1]]))
    assert (total, n_tokens) == (-np.inf, 1.0)


def test_completion_ignores_explicit_zeros_of_impossible_words():
    stored = sparse.csr_matrix((np.array([2, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert completion_log_likelihood([[1.0]], [[1.0, 0.0]], stored) == (0.0, 2.0)


def test_completion_never_forms_documents_times_words():
    n = 200_000  # dense: 320 GB
    weights = np.full((n, 2), 0.5)
    topic_word = np.full((2, n), 1.0 / n)
    held_out = sparse.csr_matrix(([1.0, 3.0], ([0, n - 1], [n - 1, 5])), shape=(n, n))
    total, n_tokens = completion_log_likelihood(weights, topic_word, held_out)
    assert (total, n_tokens) == (pytest.approx(-4 * np.log(n)), 4.0)


@pytest.mark.parametrize(
    ("weights", "topic_word", "held_out", "options", "message"),
    [
        ([[0.5, 0.4]], np.eye(2), [[1, 0]], {}, "document 0 sum to 0.9"),
        ([[0.5, np.nan]], np.eye(2), [[1, 0]], {}, "document 0 sum to nan"),
        ([[0.5, 0.25, 0.25]], np.eye(2), [[1, 0]], {}, "needs rest_word"),
        ([[0.5, 0.5]], np.eye(2), [[1, 0]], {"rest_word": [0.5, 0.5]}, "rest_word adds one"),
        ([[0.5, 0.5]], np.eye(2), [[1, 0], [0, 1]], {}, r"held_out has shape \(2, 2\)"),
        ([0.5, 0.5], np.eye(2), [[1, 0]], {}, "tables of two dimensions"),
        ([[0.5, 0.5]], np.eye(2), [[1, 0]], {"seen": [True]}, r"seen has shape \(1,\)"),
        ([[0.5, 0.5]], np.eye(2), [[1, 0]], {"rest_word": [1.0]}, "rest_word has shape"),
    ],
)
def test_completion_refuses_what_does_not_belong_together(weights, topic_word, held_out, options, message):
    with pytest.raises(InputError, match=message):
        completion_log_likelihood(weights, topic_word, sparse.csr_matrix(held_out), **options)
