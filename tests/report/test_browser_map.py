"""The map of documents in a browser: alone and in the report."""

import base64
import json
import zlib

import numpy as np
import pytest
from tests.report.browsed import NARROW

DRAWN = "() => document.getElementById('map-canvas').width > 300"


def told_of(data):
    """Return the names and the beginnings of texts of a map."""
    return json.loads(zlib.decompress(base64.b64decode(data.document_map.told)))


@pytest.fixture
def shown(opened):
    def open_map(kind="map", **options):
        report = opened(kind, **options)
        report.page.wait_for_function(DRAWN)
        return report

    return open_map


def test_a_document_that_is_pointed_at_tells_its_name_and_how_it_begins(shown, reports):
    report, data = shown(), reports("map")[1]
    told = told_of(data)
    for i in (3, 100):
        report.page.evaluate("(i) => documentMap.point(i)", i)
        card = report.page.locator("#map-card")
        assert card.locator("b").inner_text() == " ".join(told["names"][i].split())
        assert told["texts"][i] in card.inner_text()
        x, y = report.page.evaluate("(i) => documentMap.place(documentMap.xs[i], documentMap.ys[i])", i)
        near = report.page.evaluate("([x, y]) => documentMap.pick(x, y)", [x, y])
        places = report.page.evaluate("[[...documentMap.xs], [...documentMap.ys]]")
        assert np.ptp([[axis[j] for j in (i, near)] for axis in places], axis=1).max() < 65535 / 40


def test_the_ring_of_a_chosen_document_goes_with_it(shown):
    report = shown()
    page, ring = report.page, report.page.locator("#map-ring")

    def away():
        """Return how far the ring is from the document, in pixels; None where it is not shown."""
        return page.evaluate(
            """() => { documentMap.draw();
                const [ring, all] = ["ring", "canvas"].map((name) => document.getElementById(`map-${name}`));
                const [a, b] = [ring, all].map((one) => one.getBoundingClientRect());
                const [x, y] = documentMap.place(documentMap.xs[3], documentMap.ys[3]);
                const [across, down] = [(a.left + a.right) / 2 - b.left - x, (a.top + a.bottom) / 2 - b.top - y];
                return ring.hidden ? null : Math.hypot(across, down); }"""
        )

    page.evaluate("documentMap.view.x = documentMap.xs[3]; documentMap.view.y = documentMap.ys[3]; documentMap.draw()")
    x, y = page.evaluate("documentMap.place(documentMap.xs[3], documentMap.ys[3])")
    page.evaluate("documentMap.choose(3)")
    ring.wait_for()
    assert away() < 2
    page.evaluate("documentMap.move(40, -25)")
    assert away() < 2
    assert page.evaluate("documentMap.place(documentMap.xs[3], documentMap.ys[3])") != [x, y]
    page.evaluate("documentMap.zoomBy(1.5)")
    assert away() < 2
    page.evaluate("documentMap.zoomBy(60)")
    page.evaluate("documentMap.move(5000, 0)")
    assert away() is None
    page.evaluate("documentMap.fit()")
    assert away() < 2


def test_keys_and_buttons_move_the_map(shown):
    report = shown()
    scale = lambda: report.page.evaluate("documentMap.view.scale")  # noqa: E731
    whole = scale()
    report.page.locator("#map-nearer").click()
    assert scale() == pytest.approx(1.5 * whole)
    report.page.locator("#map-canvas").press("0")
    assert scale() == pytest.approx(whole)
    before = report.page.evaluate("documentMap.view.x")
    report.page.locator("#map-canvas").press("+")
    report.page.locator("#map-canvas").press("ArrowRight")
    assert report.page.evaluate("documentMap.view.x") > before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_narrow_screens_and_dark_rooms(shown, scheme):
    report = shown(viewport=NARROW, scheme=scheme)
    assert report.overflow() <= 0
    corner = report.page.evaluate(
        "[...document.getElementById('map-canvas').getContext('2d').getImageData(0, 0, 1, 1).data.slice(0, 3)]"
    )
    assert (max(corner) < 80) == (scheme == "dark")


def test_the_report_has_the_map_of_its_documents(shown, reports):
    report, data = shown("words"), reports("words")[1]
    assert data.document_map.n_shown == 240
    assert report.number("#map-sample") == 0
    report.page.evaluate("documentMap.point(5)")
    report.page.locator("#map-card a").wait_for()
    number = report.page.locator("#map-card a").get_attribute("href")
    report.go(number.removeprefix("#"))
    assert report.page.locator("#page-heading").inner_text().startswith(number.replace("#topic-", "#"))
    report.go("document-map")
    assert report.page.locator("#map-canvas").is_visible()
