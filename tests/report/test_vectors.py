"""The report on a model of vectors: its numbers are the model's, its pictures are patches, its page loads nothing."""

import base64
import json
import re

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import GroupedVectors, planted_gaussians
from stickbreak.report import build_component_report, render_html

NASTY = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>"]


@pytest.fixture(scope="module")
def groups():
    found = planted_gaussians(n_groups=12, n_vectors=30, n_components=3, seed=0)[0]
    return GroupedVectors.from_values(found.values, found.offsets, [f"{NASTY[1]} {g}" for g in range(12)])


@pytest.fixture(scope="module")
def hdp(groups):
    return stickbreak.GaussianHDP(n_components=6, likelihood="full", n_laps=10, random_state=0).fit(groups)


@pytest.fixture(scope="module")
def mixture(groups):
    return stickbreak.GaussianDPMixture(n_components=6, n_laps=10, random_state=0).fit(groups.values)


@pytest.fixture(scope="module")
def patches():
    """Vectors of 3 x 3 pixels: light on the left, or on the right."""
    rng = np.random.default_rng(0)
    left = np.tile([1.0, 0.5, 0.0], 3)
    side = rng.random(300) < 0.7
    values = np.where(side[:, None], left, left[::-1]) + rng.normal(0, 0.02, (300, 9))
    return np.maximum(values, 0.0)


def pixels(picture):
    return np.frombuffer(base64.b64decode(picture.grey), np.uint8).reshape(3, 3)


def test_numbers_are_those_of_the_model(hdp, groups):
    data = build_component_report(hdp, groups, held_out=-3.5)
    assert (data.n_components, data.n_groups, data.n_vectors, data.dim) == (hdp.n_components_, 12, 360, 2)
    assert (data.patch_size, data.held_out, data.fit.objective) == (None, -3.5, hdp.objective_)
    weights, labels = hdp.transform(groups), hdp.predict(groups)
    assert [c.weight for c in data.components] == sorted(hdp.weights_, reverse=True)
    for component in data.components:
        k = component.number
        assert component.weight == hdp.weights_[k]
        assert component.count == hdp.counts_[k]
        assert component.share == pytest.approx((labels == k).mean())
        best = np.argsort(-weights[:, k])[:5]
        assert [group.share for group in component.groups] == pytest.approx(weights[best, k].tolist())
        assert component.groups[0].name == groups.names[best[0]]
        values, vectors = np.linalg.eigh(hdp.covariances_[k])
        assert component.shares == pytest.approx((values[::-1] / values.sum()).tolist())
        for coordinate in component.coordinates:
            j = int(coordinate.name.removeprefix("x"))
            assert coordinate.mean == pytest.approx(hdp.means_[k, j])
            assert coordinate.spread == pytest.approx(np.sqrt(hdp.covariances_[k, j, j]))
            assert np.abs(coordinate.directions) == pytest.approx(np.abs(vectors[j, ::-1]))


def test_single_vectors_have_no_groups(mixture, groups):
    data = build_component_report(mixture, groups, coordinates=["left", "right"])
    assert data.n_groups is None
    assert all(component.groups == () for component in data.components)
    assert {entry.name for entry in data.components[0].coordinates} == {"left", "right"}
    assert sum(component.share for component in data.components) == pytest.approx(1)


def test_means_and_directions_of_patches_are_pictures(patches):
    model = stickbreak.GaussianDPMixture(n_components=6, n_laps=20, random_state=0).fit(patches)
    data = build_component_report(model, GroupedVectors.from_values(patches))
    assert data.patch_size == 3
    assert data.n_components == 2
    largest, other = data.components
    for component, light, dark in ((largest, 0, 2), (other, 2, 0)):
        mean = pixels(component.pictures[0])
        assert mean[:, light].min() > 240  # white
        assert mean[:, dark].max() < 15  # black is zero: light is never negative
        assert component.pictures[0].share is None
        assert [p.share for p in component.pictures[1:]] == list(component.shares)
        assert len(component.pictures) == 7
        assert len(component.examples) == 8
        assert all(pixels(example)[:, light].min() > 200 for example in component.examples)


def test_page_is_one_file_whose_names_are_text(hdp, groups, plotly_of):
    page = render_html(build_component_report(hdp, groups, coordinates=NASTY, title="<em>{{program}}</em>"))
    ours = page.replace(plotly_of(page), "")
    assert len(ours) < 200_000
    for bad in (*(name for name in NASTY if "<" in name), "<em>", "{{ "):
        assert bad not in ours
    block = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page)[1]
    assert {entry["name"] for entry in json.loads(block)["components"][0]["coordinates"]} == set(NASTY)
    assert "&lt;em&gt;{{program}}&lt;/em&gt;" in page
    assert len(re.findall(r"'sha256-[^']+'", page)) == 2
