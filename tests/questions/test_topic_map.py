import numpy as np
import pytest

from stickbreak.questions.topic_map import affinities, neighbour_map


def test_affinities_are_one_for_equal_topics_and_zero_without_common_words():
    phi = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert affinities(phi) == pytest.approx(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))


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
