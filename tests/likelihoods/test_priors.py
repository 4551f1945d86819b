"""Priors from the data."""

import numpy as np
import pytest

from stickbreak.exceptions import InputError
from stickbreak.likelihoods.gaussian import mean_and_covariance


@pytest.mark.parametrize("value", [0.1, -1 / 3, 1e-20, 12345.678])
@pytest.mark.parametrize("n", [2, 300, 40_000])
def test_a_spread_of_rounding_alone_is_none(value, n):
    with pytest.raises(InputError, match="are the same, so they do not determine"):
        mean_and_covariance(np.full((n, 3), value), zero_mean=False)


def test_a_small_spread_is_one():
    X = 1.0 + 1e-10 * np.random.default_rng(0).normal(size=(1000, 3))
    mean, covariance = mean_and_covariance(X, zero_mean=False)
    np.testing.assert_allclose(mean, 1.0, rtol=1e-9)
    np.testing.assert_allclose(np.diag(covariance), 1e-20, rtol=0.2)
