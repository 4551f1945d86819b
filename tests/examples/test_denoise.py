"""The example of denoising: the prior, the filter, the splitting, on small pictures."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from scipy.stats import multivariate_normal


def picture(height=40, width=44):
    """A ramp with a bright disc."""
    y, x = np.mgrid[:height, :width]
    disc = (y - 18) ** 2 + (x - 25) ** 2 < 90
    return np.where(disc, 0.8, 0.2 + 0.3 * x / width).astype(np.float32)


@pytest.fixture
def prior(example):
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((3, 15, 15)) * np.array([0.01, 0.1, 0.5])[:, None, None]
    model = SimpleNamespace(weights_=np.array([0.5, 0.3, 0.2]), covariances_=roots @ roots.transpose(0, 2, 1))
    return example.PatchPrior.of(model, size=4), model


def test_the_best_component_is_that_of_the_largest_density(prior):
    ours, model = prior
    x = np.random.default_rng(1).standard_normal((40, 15)).astype(np.float32) * 0.3
    expected = np.stack(
        [
            np.log(w) + multivariate_normal.logpdf(x, cov=C + 0.01 * np.eye(15))
            for w, C in zip(model.weights_, model.covariances_, strict=True)
        ],
        axis=1,
    )
    found = ours.explained(x, 0.01)
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], rtol=1e-3, atol=1e-2)


def test_patches_are_filtered_by_wiener(prior):
    ours, model = prior
    x = np.random.default_rng(1).standard_normal((40, 15)).astype(np.float32) * 0.3
    best = ours.explained(x, 0.01).argmax(axis=1)
    assert len(set(best)) > 1
    for patch, filtered, k in zip(x, ours.filtered(x, 0.01), best, strict=True):
        C = model.covariances_[k]
        np.testing.assert_allclose(filtered, C @ np.linalg.solve(C + 0.01 * np.eye(15), patch), rtol=1e-3, atol=1e-3)


def test_a_fitted_prior_removes_noise(example, tmp_path):
    for i in range(4):
        rolled = np.roll(picture(), (3 * i, 5 * i), axis=(0, 1))
        Image.fromarray((255 * rolled).astype(np.uint8)).save(tmp_path / f"{i}.png")
    arguments = SimpleNamespace(fitted=tmp_path / "model", patches=200, components=6, laps=5, model="dp")
    model = example.fitted_prior(sorted(tmp_path.glob("[1-3].png")), arguments)
    again = example.fitted_prior([], arguments)
    np.testing.assert_array_equal(again.covariances_, model.covariances_)
    clean = example.read_grey(tmp_path / "0.png")
    noisy = example.with_noise(clean, 0.1, 0)
    better = example.denoised(noisy, 0.1, example.PatchPrior.of(model))
    assert example.psnr(better, clean) > example.psnr(noisy, clean) + 6
