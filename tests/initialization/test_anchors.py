"""The start from anchor words: exact without noise, near with it, and sane at the edges."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment, nnls

from stickbreak.corpus import Corpus, cooccurrence, toy_bars
from stickbreak.corpus.cooccurrence import Cooccurrence
from stickbreak.initialization import StartSettings, anchors, make_start
from stickbreak.initialization.kernels import simplex as simplex_kernels
from stickbreak.numerics.corners import corners
from stickbreak.variational import VariationalHDP


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


def test_anchors_are_found_where_the_projection_is_smaller_than_their_number(monkeypatch):
    """K anchors span K - 1 dimensions: a projection to fewer would leave none to find."""
    monkeypatch.setattr(anchors, "PROJECTION", 4)
    rng = np.random.default_rng(0)
    Q, _ = without_noise(separable(8, 100, rng), rng)
    assert anchors.find_anchors(Q, 8, rng).size == 8


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


def test_anchors_take_another_seed_where_they_project():
    rng = np.random.default_rng(5)
    corpus = draw(rng.dirichlet(np.full(1100, 0.1), size=20), 100, 40, rng)
    one, same, other = (make_start("anchors", corpus, settings_of(n_topics=40, seed=seed)).counts for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


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


def test_simplex_weights_are_within_the_tolerance_and_the_steps_allowed():
    rng = np.random.default_rng(7)
    corners, targets = rng.dirichlet(np.full(30, 0.3), size=9), rng.dirichlet(np.full(30, 0.2), size=50)
    gram, products = corners @ corners.T, targets @ corners.T

    def half_distance(weights):
        return 0.5 * ((weights @ corners - targets) ** 2).sum(axis=1)

    best = half_distance(simplex_kernels.simplex_weights(gram, products, 1e-14, 100_000))
    rough = half_distance(simplex_kernels.simplex_weights(gram, products, 1e-3, 100_000))
    assert (rough <= best + 1e-3 * gram.max()).all()
    assert (rough > best + 1e-9).any()
    nearest = simplex_kernels.simplex_weights(gram, products, 1e-14, 0)
    distances = ((targets[:, None] - corners[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(nearest, np.eye(9)[distances.argmin(axis=1)])


def test_simplex_weights_allow_the_same_anchor_twice():
    corners = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    targets = np.array([[0.5, 0.5, 0], [0, 0.2, 0.8]])
    found = simplex_kernels.simplex_weights(corners @ corners.T, targets @ corners.T, 1e-9, 1000)
    np.testing.assert_allclose(found @ corners, [[0.5, 0.5, 0], [0.4, 0.6, 0]], atol=1e-4)


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


def test_many_corners_of_single_precision_end_too():
    """Each is found once, though rounding adds up over hundreds of steps."""
    rng = np.random.default_rng(4)
    flat = rng.dirichlet(np.full(200, 0.01), size=3000) @ rng.normal(size=(200, 300))
    found = corners(flat.astype(np.float32), 300)
    assert np.unique(found).size == found.size == 200


def test_corners_are_the_same_in_single_precision():
    points = np.random.default_rng(8).normal(size=(400, 60))
    np.testing.assert_array_equal(corners(points.astype(np.float32), 50), corners(points, 50))


def test_candidates_are_in_enough_documents_and_as_many_as_topics():
    counts = np.zeros((400, 30), dtype=int)
    for word in range(30):
        counts[: 2 * word, word] = 1  # words 5 to 29 are in at least sqrt(400) / 2 = 10 documents
    Q = Cooccurrence.of(Corpus.from_counts(counts))
    np.testing.assert_array_equal(anchors.candidates(Q, 6), np.arange(5, 30))
    np.testing.assert_array_equal(anchors.candidates(Q, 27), np.arange(3, 30))
    np.testing.assert_array_equal(anchors.candidates(Q, 100), np.arange(1, 30))  # all that occur
    few = Cooccurrence.of(Corpus.from_counts(counts[:16, :10]))
    np.testing.assert_array_equal(anchors.candidates(few, 2), np.arange(3, 10))  # 5 documents at least


def test_anchors_of_toy_bars_lie_where_bars_cross():
    """No word of the bars is an anchor: each is in a row and in a column. The corners are the crossings instead."""
    corpus, _ = toy_bars(1000, seed=0)
    words = anchors.find_anchors(Cooccurrence.of(corpus), 10, np.random.default_rng(0))
    crossing = set(zip(words // 30 // 6, words % 30 // 6, strict=True))
    assert len(crossing) >= 8
    of_anchors, of_documents = (
        VariationalHDP(n_topics=10, init=init, moves=(), n_laps=5, random_state=0).fit(corpus[:300]).objective_
        for init in ("anchors", "documents")  # moves lead from both to one objective
    )
    assert of_anchors > of_documents + 0.1


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


def test_anchors_start_gives_words_that_stand_alone_the_weights_of_the_topics():
    """A word of documents with a single token says nothing of its topic; a word that never occurs has no counts."""
    counts = np.zeros((41, 8), dtype=int)
    counts[:20, :3], counts[20:40, 3:6], counts[40, 6] = [5, 2, 1], [1, 1, 2], 1
    made = make_start("anchors", Corpus.from_counts(counts), settings_of(n_topics=2))
    np.testing.assert_allclose(made.counts.sum(axis=1), counts.sum(axis=0))
    np.testing.assert_allclose(made.counts[6], made.counts[:6].sum(axis=0) / 240)
    np.testing.assert_array_equal(made.counts[7], 0)
    np.testing.assert_allclose(made.counts[:3, 0], made.counts[:3].sum(axis=1), rtol=0.1)  # the larger half


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


def test_anchors_start_of_one_topic_is_all_words():
    corpus, _ = toy_bars(30, size=6, n_bars=4, tokens=30, seed=0)
    made = make_start("anchors", corpus, settings_of(n_topics=1))
    np.testing.assert_allclose(made.counts[:, 0], corpus.counts.toarray().sum(axis=0))
    np.testing.assert_allclose(made.weights, 0.5)


def test_anchors_start_takes_weights_as_well_as_counts():
    rng = np.random.default_rng(10)
    topics = separable(4, 40, rng)
    counts = draw(topics, 1000, 100, rng).counts.toarray()
    made = make_start("anchors", Corpus.from_counts(counts * 0.37), settings_of(n_topics=4))
    assert l1_errors(phi_of(made), topics).max() < 0.3
    np.testing.assert_allclose(made.counts.sum(axis=1), 0.37 * counts.sum(axis=0))


def test_anchors_start_reports_blocks_and_ends_when_asked(monkeypatch):
    monkeypatch.setattr(anchors, "WORDS_PER_BLOCK", 20)
    corpus = draw(separable(6, 60, np.random.default_rng(1)), 200, 50, np.random.default_rng(2))
    done = []
    make_start("anchors", corpus, settings_of(progress=lambda at, of: done.append((at, of))))
    assert done == [(1, 3), (2, 3), (3, 3)]
    whole = make_start("anchors", corpus, settings_of())
    cut = make_start("anchors", corpus, settings_of(stop=lambda: True))
    mixed = (whole.counts > 0).sum(axis=1) > 1
    assert mixed[20:].sum() > 20
    assert ((cut.counts[20:] > 0).sum(axis=1) == 1).all()
    assert ((cut.counts[:20] > 0).sum(axis=1) > 1).sum() == mixed[:20].sum()
    np.testing.assert_allclose(cut.counts.sum(axis=1), whole.counts.sum(axis=1))
