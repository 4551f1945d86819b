"""The map of documents keeps neighbours together, is the same by its seed, and names its regions by what is in them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from stickbreak import TopicModel
from stickbreak.corpus import planted_lda
from stickbreak.questions import document_map as maps
from stickbreak.questions.document_map import (
    document_map,
    embedded,
    nearest_documents,
    placed_documents,
    repulsion,
    topics_of_map,
)


def planted_roots(n, K=12, seed=0):
    """Return roots of topic weights of documents with one large topic each, and these topics."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(K, size=n)
    weights = 0.2 * rng.dirichlet(np.full(K, 0.2), n)
    weights[np.arange(n), topic] += 0.8
    return np.sqrt(weights).astype(np.float32), topic


@pytest.fixture(scope="module")
def corpus():
    return planted_lda(300, 60, n_topics=6, alpha=0.05, mean_tokens=60.0, seed=0)[0]


@pytest.fixture(scope="module")
def model(corpus):
    fitted = TopicModel(n_topics=8, n_laps=10, random_state=0).fit(corpus)
    fitted.find_path(corpus)
    return fitted


def test_the_same_seed_gives_the_same_map_on_any_number_of_threads(model, corpus):
    from threadpoolctl import threadpool_limits

    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(document_map(model, corpus, random_state=3).positions.tobytes())
    assert found[0] == found[1]
    assert found[0] != document_map(model, corpus, random_state=4).positions.tobytes()


def test_neighbours_on_the_map_have_the_same_planted_topic():
    root, topic = planted_roots(900)
    places = embedded(nearest_documents(root, 15, 0), np.random.default_rng(1).normal(size=(900, 2)), 0)
    _, near = cKDTree(places).query(places, 11)
    assert (topic[near[:, 1:]] == topic[:, None]).mean() > 0.9  # by chance 1 / 12
    assert np.abs(places).max() == pytest.approx(1.0)


def test_near_documents_are_the_nearest_ones(monkeypatch):
    root, _ = planted_roots(700)
    likeness = root @ root.T
    np.fill_diagonal(likeness, -1)
    nearest = np.argsort(-likeness, axis=1)[:, :5]
    whole = nearest_documents(root, 5, 0)
    assert all(set(a) == set(b) for a, b in zip(whole.tolist(), nearest.tolist(), strict=True))
    monkeypatch.setattr(maps, "_MOST_COMPARED", 100)
    monkeypatch.setattr(maps, "_CELLS_SEARCHED", 6)
    some = nearest_documents(root, 5, 0)
    assert np.mean([len(set(a) & set(b)) for a, b in zip(some.tolist(), nearest.tolist(), strict=True)]) > 4
    assert not (some == np.arange(700)[:, None]).any()


@pytest.mark.parametrize(("spread", "most"), [(2, 0.05), (8, 0.2)])
def test_repulsion_on_a_grid_is_that_of_all_pairs(spread, most):
    places = np.random.default_rng(0).normal(size=(400, 2)) * spread
    apart = places[:, None] - places
    kernel = 1 / (1 + np.square(apart).sum(axis=2))
    exact = (np.square(kernel)[:, :, None] * apart).sum(axis=1) / (kernel.sum() - 400)
    assert np.linalg.norm(repulsion(places) - exact) < most * np.linalg.norm(exact)


def test_groups_are_those_of_the_path_and_each_level_has_more(model, corpus):
    topics = replace(topics_of_map(model), overview=2)
    weights = model.transform(corpus).astype(np.float32)
    found = placed_documents(weights, np.arange(300), 300, topics, 0)
    assert [len(level.names) for level in found.levels] == [2, 4, 8]
    for level in found.levels:
        n = len(level.names)
        groups = {frozenset(np.flatnonzero(level.groups == g).tolist()) for g in range(n)}
        assert groups == {frozenset(group) for group in model.path_.groups(n)}
        assert level.sizes.sum() == 300
        shares = [model.topic_shares_[level.groups == g].sum() for g in range(n)]
        assert shares == sorted(shares, reverse=True)
