import numpy as np
import pytest

from stickbreak.questions.topic_map import affinities, map_positions, most_similar


def test_affinities_are_one_for_equal_topics_and_zero_without_common_words():
    phi = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert affinities(phi) == pytest.approx(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))


def test_map_keeps_distances_that_fit_in_a_plane():
    points = np.array([[0.0, 0.0], [0.6, 0.0], [0.0, 0.3], [0.5, 0.4]])
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    found = map_positions(1.0 - distances)
    mapped = ((found[:, None] - found[None]) ** 2).sum(-1)
    ratio = mapped[distances > 0] / distances[distances > 0]
    assert ratio == pytest.approx(np.full(ratio.size, ratio[0]))
    assert np.abs(found).max() == pytest.approx(1.0)


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_map_of_equal_topics_is_finite(n_topics):
    found = map_positions(affinities(np.full((n_topics, 4), 0.25)))
    assert found.shape == (n_topics, 2)
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 1


def test_most_similar_never_names_the_topic_itself():
    similar = most_similar(np.ones((3, 3)), 5)
    assert similar == [(1, 2), (0, 2), (0, 1)]
    assert most_similar(np.ones((1, 1)), 5) == [()]
