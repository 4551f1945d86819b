"""Where fits of vectors start and what they count from: fitted models, seeds, origins, precision, checkpoints."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreak import GaussianDPMixture
from stickbreak.exceptions import InputError
from stickbreak.fitting.engine import Engine
from stickbreak.variational.vectors import Vectors

from .test_gaussian_models import SMALL, mixture


@pytest.mark.parametrize("likelihood", ["full", "diagonal"])
def test_a_start_stands_where_the_components_of_the_model_are(likelihood):
    """The prior is set from each data set, so that statistics count from another origin than those of the model."""
    X, _ = mixture(4)
    first = GaussianDPMixture(likelihood=likelihood, **SMALL).fit(X)
    other = GaussianDPMixture(likelihood=likelihood, init=first).fit(X + np.array([30.0, 0.0]))
    data = Vectors(X + np.array([30.0, 0.0]), None)
    start = other._begin(data, 0, Engine(1), print, lambda: False)
    means = other.likelihood_.mean(other.likelihood_.posterior(start.tau, start.tau_sum))
    assert np.abs(first.likelihood_.origin - other.likelihood_.origin).max() > 29
    np.testing.assert_allclose(means, first.means_, atol=0.02)


@pytest.mark.parametrize("far", [1e6, 1e8])
@pytest.mark.parametrize("likelihood", ["full", "diagonal"])
def test_vectors_far_from_zero_lose_no_digits_in_float32(likelihood, far):
    X, _ = mixture(3)
    near = GaussianDPMixture(likelihood=likelihood, dtype="float32", **SMALL).fit(X)
    away = GaussianDPMixture(likelihood=likelihood, dtype="float32", **SMALL).fit(X + far)
    assert away.n_components_ == near.n_components_ == 4
    np.testing.assert_allclose(away.means_ - far, near.means_, atol=1e-4)
    np.testing.assert_allclose(away.covariances_, near.covariances_, atol=1e-4)
    assert away.objective_ == pytest.approx(near.objective_, abs=1e-5)


def test_a_checkpoint_knows_the_prior_of_the_model_it_began_with(tmp_path):
    X, _ = mixture(0)
    first = GaussianDPMixture(n_laps=2, **SMALL).fit(X)
    GaussianDPMixture(init=first, n_laps=1, random_state=0).fit(X, checkpoint=tmp_path / "c")
    first.likelihood_ = replace(first.likelihood_, m=first.likelihood_.m + 1)
    with pytest.raises(InputError, match="differs in its init"):
        GaussianDPMixture(init=first, random_state=0).fit(X, checkpoint=tmp_path / "c", resume=True)
