"""The start from anchor words: exact without noise, near with it, and sane at the edges."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment, nnls

from stickbreak.corpus import Corpus, cooccurrence
from stickbreak.corpus.cooccurrence import Cooccurrence
from stickbreak.initialization import StartSettings, anchors, make_start
from stickbreak.initialization.kernels import simplex as simplex_kernels
from stickbreak.numerics.corners import corners


def settings_of(**changes):
    return StartSettings(**({"n_topics": 6, "alpha": 0.5, "gamma": 10.0, "eta": 0.1, "seed": 3} | changes))


def separable(n_topics, n_words, rng, anchor_share=0.1):
    """Topics of which each has the word of its own number to itself."""
    topics = rng.dirichlet(np.full(n_words - n_topics, 0.3), size=n_topics) * (1 - anchor_share)
    return np.hstack([np.eye(n_topics) * anchor_share, topics])


def draw(topics, n_documents, n_tokens, rng):
    weights = rng.dirichlet(np.full(len(topics), 0.3), size=n_documents)
    return Corpus.from_counts(np.array([rng.multinomial(n_tokens, row) for row in weights @ topics]))


def without_noise(topics, rng):
    """The co-occurrence of endless documents of these topics, and p(topic | word)."""
    weights = rng.dirichlet(np.full(len(topics), 0.3), size=200)
    pair = weights.T @ weights / 200  # p(topic of one token, topic of the other)
    left, right = sp.csr_matrix(topics.T @ pair), sp.csr_matrix(topics)
    mass = np.asarray(left.sum(axis=1)).ravel()
    n_documents = np.full(topics.shape[1], 1000)
    Q = Cooccurrence(left, right, np.zeros(mass.size), mass, n_documents)
    return Q, topics.T * pair.sum(axis=1) / mass[:, None]


def l1_errors(found, truth):
    """L1 distances of the best one-to-one matching of topics."""
    distance = np.abs(found[:, None] - truth[None]).sum(axis=2)
    return distance[linear_sum_assignment(distance)]


def phi_of(start):
    return (start.counts / start.counts.sum(axis=0)).T


@pytest.mark.parametrize("n_words", [80, 1500])  # without and with a random projection
def test_anchors_are_exact_without_noise(n_words):
    rng = np.random.default_rng(0)
    Q, truth = without_noise(separable(8, n_words, rng, anchor_share=0.01), rng)
    words = anchors.find_anchors(Q, 8, rng)
    assert sorted(words) == list(range(8))
    np.testing.assert_allclose(anchors.topic_given_word(Q, words), truth[:, words], atol=0.02)


def test_anchors_do_not_depend_on_the_blocks_of_the_products(monkeypatch):
    corpus = draw(separable(6, 60, np.random.default_rng(1)), 200, 50, np.random.default_rng(2))
    whole = make_start("anchors", corpus, settings_of())
    monkeypatch.setattr(cooccurrence, "BLOCK_BYTES", 8 * 200 * 4)
    monkeypatch.setattr(anchors, "WORDS_PER_BLOCK", 7)
    parts = make_start("anchors", corpus, settings_of())
    np.testing.assert_allclose(parts.counts, whole.counts, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("n_words", "most"), [(60, 0.06), (1200, 0.35)])
def test_anchors_start_recovers_separable_topics(n_words, most):
    rng = np.random.default_rng(4)
    topics = separable(6, n_words, rng)
    corpus = draw(topics, 2000, 150, rng)
    start = make_start("anchors", corpus, settings_of())
    random = make_start("documents", corpus, settings_of())
    errors, errors_at_random = l1_errors(phi_of(start), topics), l1_errors(phi_of(random), topics)
    assert errors.max() < most
    assert errors.mean() < 0.2 * errors_at_random.mean()
    np.testing.assert_allclose(start.counts.sum(axis=1), corpus.counts.toarray().sum(axis=0))
    np.testing.assert_allclose(start.weights, start.counts.sum(axis=0) / corpus.n_tokens * 6 / 7)
    assert (np.diff(start.weights) <= 0).all()


def test_simplex_weights_are_those_of_a_slow_solver():
    rng = np.random.default_rng(6)
    corners = rng.dirichlet(np.full(30, 0.3), size=9)
    targets = np.vstack([rng.dirichlet(np.full(9, 0.3), size=20) @ corners, rng.dirichlet(np.full(30, 0.2), size=20)])
    found = simplex_kernels.simplex_weights(corners @ corners.T, targets @ corners.T, 1e-12, 10_000)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found >= 0).all()
    for target, weights in zip(targets, found, strict=True):
        slow, _ = nnls(np.vstack([corners.T, np.full(9, 1e4)]), np.append(target, 1e4))
        np.testing.assert_allclose(weights, slow, atol=1e-5)


def test_corners_are_the_farthest_from_the_flat_of_those_before():
    rng = np.random.default_rng(8)
    points = rng.normal(size=(40, 6))
    found = list(corners(points, 5))
    expected = [int(np.argmax((points**2).sum(axis=1)))]
    while len(expected) < 5:
        moved = points - points[expected[0]]
        flat = moved[expected[1:]].T
        rest = moved - (moved @ np.linalg.pinv(flat).T) @ flat.T if flat.size else moved
        expected.append(int(np.argmax((rest**2).sum(axis=1))))
    assert found == expected


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_corners_end_when_all_points_are_spanned(precision):
    rng = np.random.default_rng(9)
    flat = rng.dirichlet(np.ones(4), size=50) @ rng.normal(size=(4, 10))
    assert corners(flat.astype(precision), 9).size == 4
    assert corners(np.ones((5, 3), precision), 3).size == 1
    assert corners(rng.normal(size=(30, 3)).astype(precision), 9).size == 4


def test_anchors_start_fills_up_with_documents_and_says_so(caplog):
    counts = np.repeat([[4, 4, 0, 0, 0], [0, 0, 4, 5, 4]], 10, axis=0)
    corpus = Corpus.from_counts(counts)
    with caplog.at_level(logging.INFO, "stickbreak"):
        made = make_start("anchors", corpus, settings_of(n_topics=9))
    found = int(caplog.records[-1].args[0])
    assert "topics start from random documents" in caplog.text
    assert 2 <= found <= 5
    np.testing.assert_allclose(made.counts.sum(), corpus.n_tokens)
    phi = counts[[0, -1]] / counts[[0, -1]].sum(axis=1, keepdims=True)
    from_documents = np.isclose(phi_of(made)[:, None], phi).all(axis=2).any(axis=1)
    assert from_documents.sum() == 9 - found
    np.testing.assert_allclose(made.counts[:, from_documents].sum(axis=0), corpus.n_tokens / 9)
    assert (made.weights > 0).all()
    assert made.weights.sum() < 1


@pytest.mark.parametrize(
    "counts", [[[3]], [[1]], [[0.2]], [[1, 0], [0, 1]], [[2, 1, 4]], [[0, 0], [5, 1]], [[1e-200, 1]]]
)
@pytest.mark.parametrize("n_topics", [1, 2, 7])
def test_anchors_start_stands_the_smallest_collections(counts, n_topics):
    corpus = Corpus.from_counts(counts)
    made = make_start("anchors", corpus, settings_of(n_topics=n_topics))
    assert made.counts.shape == (corpus.n_words, n_topics)
    assert np.isfinite(made.counts).all()
    assert (made.counts >= 0).all()
    np.testing.assert_allclose(made.counts.sum(), corpus.n_tokens)
    assert (made.weights > 0).all()
    assert made.weights.sum() < 1
