"""The example of patches: what is drawn from components, and which are shown."""

import numpy as np
import pytest

from stickbreak import GaussianDPMixture, GaussianHDP, GroupedVectors


@pytest.fixture(scope="module")
def fitted():
    """Two images of flat and of strong patches, and both models."""
    rng = np.random.default_rng(0)
    groups = GroupedVectors.from_arrays([0.01 * rng.normal(size=(300, 63)), rng.normal(size=(200, 63))])
    settings = {"n_components": 4, "n_laps": 10, "likelihood": "zero_mean", "random_state": 0}
    return groups, GaussianDPMixture(**settings).fit(groups.values), GaussianHDP(**settings).fit(groups)


def test_a_tile_has_patches_of_its_component(example, fitted):
    _, mixture, _ = fitted
    spread = [np.nanstd(example.tile(mixture, k)) for k in range(2)]
    expected = np.sqrt(np.trace(mixture.covariances_, axis1=1, axis2=2) / 64)
    assert expected.max() > 5 * expected.min()
    np.testing.assert_allclose(spread, expected, rtol=0.2)  # wider than C: parameters are drawn, too
    assert example.tile(mixture, 0).shape == (44, 44)
    assert np.isnan(example.tile(mixture, 0)[8]).all()  # the line between patches
    assert np.nanmean(example.tile(mixture, 0)[:8, :8]) == pytest.approx(0, abs=1e-9)  # no patch has a mean


def test_each_image_has_its_own_components(example, fitted, tmp_path):
    groups, mixture, hdp = fitted
    images = [np.zeros((9, 9)), np.ones((9, 9))]
    rows = example.rows_of(mixture, hdp, groups, images, 1)
    assert [row.name for row in rows] == ["DP mixture, all images", "HDP, all images"] + ["HDP, this image"] * 2
    assert rows[0].components[0][0] == pytest.approx(0.6, abs=0.01)
    (flat, flat_patches), (strong, strong_patches) = (row.components[0] for row in rows[2:])
    assert flat > 0.95
    assert strong > 0.95
    assert np.nanstd(flat_patches) < 0.1 < np.nanstd(strong_patches)
    example.draw(rows, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000
