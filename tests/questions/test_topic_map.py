import numpy as np
import pytest
import scipy.spatial

from stickbreak.questions.topic_map import affinities, in_documents, neighbour_map


def test_affinities_are_one_for_equal_topics_and_zero_without_common_words():
    phi = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert affinities(phi) == pytest.approx(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))


def test_likeness_in_documents_is_the_cosine_of_shares():
    theta = np.array([[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.2, 0.2, 0.6, 0.0]])
    found = in_documents(theta.T @ theta)
    expected = 1 - scipy.spatial.distance.cosine(theta[:, 0], theta[:, 2])
    assert found[0, 2] == pytest.approx(expected)
    assert np.diag(found).tolist() == [1.0] * 4
    assert found[3, :3].tolist() == [0.0] * 3  # a topic that no document has


def test_neighbours_stay_neighbours_on_the_map_whatever_their_order():
    rng = np.random.default_rng(0)
    theme = np.repeat(np.arange(6), 8)
    phi = np.stack([rng.dirichlet(np.where(np.arange(60) // 10 == k, 2.0, 0.02)) for k in theme])
    order = rng.permutation(48)
    place = neighbour_map(affinities(phi[order]))
    distance = ((place[:, None] - place[None]) ** 2).sum(-1)
    nearest = np.argsort(distance, axis=1)[:, 1:4]
    assert (theme[order][nearest] == theme[order][:, None]).mean() > 0.95
    assert np.abs(place).max() == pytest.approx(1.0)
    np.testing.assert_array_equal(place, neighbour_map(affinities(phi[order])))
