"""What fitted models of groups are asked, and what is no groups."""

import numpy as np
import pytest

from stickbreak import GaussianHDP, GroupedVectors
from stickbreak.corpus import planted_gaussians
from stickbreak.exceptions import InputError

OPTIONS = {"n_components": 5, "likelihood": "full", "n_laps": 2, "random_state": 0}


@pytest.fixture(scope="module")
def groups():
    return planted_gaussians(12, 15, n_components=2, seed=0)[0]


def test_empty_groups_alone_have_the_weights_of_the_corpus(groups):
    model = GaussianHDP(**OPTIONS).fit(groups)
    for empty in ([[]], [np.zeros((0, 2)), []], GroupedVectors(np.zeros((0, 2)), np.array([0, 0]))):
        np.testing.assert_allclose(model.transform(empty), np.tile(model.weights_, (len(empty), 1)))
        assert model.predict(empty).size == 0
        assert model.predict_proba(empty).shape == (0, model.n_components_)
    for nothing in ([[]], groups[:0]):
        with pytest.raises(InputError, match="all groups are empty"):
            GaussianHDP(**OPTIONS).fit(nothing)
