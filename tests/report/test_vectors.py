"""The report on a model of vectors: its numbers are the model's, its pictures are patches, its page loads nothing."""

import base64
import json
import re

import numpy as np
import pytest
from sklearn import config_context

import stickbreak
from stickbreak.corpus import GroupedVectors, PatchShape, planted_gaussians
from stickbreak.exceptions import InputError
from stickbreak.report import build_component_report, build_report, render_html

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


def test_numbers_are_the_same_where_transform_gives_data_frames(hdp, groups):
    data = build_component_report(hdp, groups)
    with config_context(transform_output="pandas"):
        assert build_component_report(hdp, groups).components == data.components


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


def test_projected_patches_have_zero_in_the_middle(patches):
    projected = stickbreak.corpus.patches_of(np.tile([[0.0, 1.0]], (12, 20)), 3, mean="project")
    projected = projected + np.random.default_rng(0).normal(0, 0.1, projected.shape)
    model = stickbreak.GaussianDPMixture(n_components=3, likelihood="zero_mean", n_laps=5).fit(projected)
    data = build_component_report(model, GroupedVectors.from_values(projected), patches=PatchShape(3, projected=True))
    assert data.patch_size == 3
    assert set(pixels(data.components[0].pictures[0]).ravel().tolist()) == {128}
    stripes = pixels(data.components[0].pictures[1]).astype(int)
    assert np.abs(np.diff(stripes, axis=1)).min() > 100
    assert np.abs(np.diff(stripes, axis=0)).max() < 60


def test_a_sample_stands_for_many_vectors(hdp, mixture, groups, monkeypatch):
    monkeypatch.setattr("stickbreak.report.components._MOST_VECTORS", 100)
    monkeypatch.setattr("stickbreak.report.components._MOST_IN_GROUPS", 200)
    assert build_component_report(mixture, groups).n_described == 100
    data = build_component_report(hdp, groups)
    assert data.n_described == 90  # whole groups
    assert all(group.name in groups.names for component in data.components for group in component.groups)


def test_only_the_largest_components_are_shown(hdp, groups, monkeypatch):
    monkeypatch.setattr("stickbreak.report.components._MOST_COMPONENTS", 2)
    data = build_component_report(hdp, groups)
    assert (len(data.components), data.n_components) == (2, hdp.n_components_)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"coordinates": ["x"]}, "there are 1 names"), ({"patches": PatchShape(8)}, "have 2 numbers")],
)
def test_what_does_not_fit_is_refused(hdp, groups, options, words):
    with pytest.raises(InputError, match=words):
        build_component_report(hdp, groups, **options)


def test_nothing_to_describe_is_refused(hdp, groups):
    with pytest.raises(InputError, match="no vectors to describe"):
        build_component_report(hdp, groups[:0])


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


def test_pages_of_words_and_of_vectors_share_their_frame(hdp, groups, model, corpus):
    vectors = render_html(build_component_report(hdp, groups))
    words = render_html(build_report(model, corpus))
    for page, own, other in ((vectors, 'id="components"', 'id="map"'), (words, 'id="map"', 'id="components"')):
        assert own in page
        assert other not in page
        assert page.count("<main") == page.count("</main>") == 1
        for shared in ('id="fit-plot"', 'id="settings"', "function startTables", "const charts"):
            assert shared in page


@pytest.mark.parametrize("n", [-1, True, 1.5, "2"])
def test_number_of_directions_is_a_whole_number(mixture, n):
    with pytest.raises(InputError, match="n_directions is"):
        mixture.shown_components(n)
