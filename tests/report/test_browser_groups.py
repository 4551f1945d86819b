"""Reports of many groups, many classes and trees of topics, in a real browser: all can be seen and told apart."""

import re

import numpy as np
import pytest
from tests.report.browsed import NARROW, WIDE


def test_words_of_an_inner_topic_itself_have_a_place_in_the_tree(opened, reports):
    report, data = opened("grown_tree"), reports("grown_tree")[1].tree
    own = next(node.n_own for node in data.nodes if node.parent < 0)
    below = sum(node.n_tokens for node in data.nodes if node.parent == 0)
    assert own + below == data.nodes[0].n_tokens
    assert own > 0
    widths = report.page.evaluate(
        """() => [...document.querySelectorAll("#tree-picture .rest")].map((cell) =>
            [cell.textContent, cell.firstElementChild.getBoundingClientRect().width / cell.parentNode.clientWidth])"""
    )
    assert [part for text, part in widths if text == "#0 itself"] == [pytest.approx(own / (own + below), abs=0.01)]
    assert "these are pale" in report.texts("#tree-hint")[0]


def test_words_of_narrow_nodes_are_whole_and_within_their_nodes(opened):
    report = opened("long_words_tree", NARROW)
    cells = report.page.evaluate(
        """() => [...document.querySelectorAll("#tree-picture .cell[aria-level='3']")].map((cell) => {
            const around = cell.querySelector("rect").getBoundingClientRect();
            return [[...cell.querySelectorAll("text")].map((text) => {
                const box = text.getBoundingClientRect();
                return Math.min(box.left - around.left, around.right - box.right, box.top - around.top,
                    around.bottom - box.bottom);
            }), cell.querySelector("text").textContent]; })"""
    )
    assert len(cells) == 6
    assert [text for _, text in cells if "…" in text] == []
    assert min(space for spaces, _ in cells for space in spaces) > 0


@pytest.mark.parametrize("viewport", [NARROW, WIDE])
def test_siblings_of_a_tree_have_names_of_their_own(opened, reports, viewport):
    report, nodes = opened("alike_tree", viewport), reports("alike_tree")[1].tree.nodes
    texts = report.page.evaluate(
        """() => [...document.querySelectorAll("#tree-picture .cell[id]")]
            .map((cell) => [cell.id.slice(5), cell.querySelector("text")?.textContent ?? null])"""
    )
    by_parent = {}
    for place, text in texts:
        if place != "all" and text is not None:
            by_parent.setdefault(place.rpartition(".")[0], []).append(text)
    assert len(by_parent) > 2
    for row in by_parent.values():
        assert len(set(row)) == len(row), row
    (first, *_), siblings = report.texts("#tree-node .children .gist"), [node for node in nodes if node.parent == 0]
    assert first.split()[:4] == ["same00", "same01", "same02", "same03"]
    assert len(set(report.texts("#tree-node .children .gist"))) == len(siblings)
    report.go(f"topic-{reports('alike_tree')[1].topics[0].number}")
    way = report.texts("#page-body .similar a")[-3:]
    assert all(len(text.split(", ")) >= 5 for text in way[:1]), "two words would be those of its siblings, too"


def test_nodes_with_names_are_called_by_them_in_the_picture(opened):
    report = opened("named_tree")
    first = report.page.evaluate(
        """() => [...document.querySelectorAll("#tree-picture .cell")]
            .map((cell) => cell.querySelector("text").textContent.split(": ")[0])"""
    )
    assert set(first[1:]) == {"science", "optics", "heat", "arts", "music", "painting"}
    assert "its name, then by its words" in report.texts("#tree-hint")[0]


def test_words_in_another_order_than_their_bars_are_said_to_be_the_most_telling_first(opened, reports):
    report, data = opened("tree"), reports("tree")[1]
    words = data.tree.nodes[0].words, data.topics[0].words[:20]
    sorted_by_bars = [list(some) == sorted(some, key=lambda one: -one.probability) for some in words]
    assert sorted_by_bars == [True, False]
    assert report.texts("#tree-node h3")[0] == "Words and their probability; bars are compared with the largest"
    report.go(f"topic-{data.topics[0].number}")
    assert report.texts("#page-body h3")[0].startswith("Words, the most relevant first, and their probability; ")


def test_thirty_groups_at_a_glance_are_all_listed_and_the_stream_tells_twelve_apart(opened):
    report = opened("classes")
    assert report.number("#path-groups > li") == 30
    assert not report.page.locator("#path-more").is_visible()
    legend = report.texts("#time-legend li")
    assert len(legend) == 13
    assert legend[-1] == "18 smaller groups"
    report.walk()
    top = report.page.evaluate(
        """() => { const bands = document.getElementById("time-plot").data;
            return bands[0].x.map((_, p) => bands.reduce((sum, band) => sum + band.y[p], 0)); }"""
    )
    assert len(report.page.evaluate("document.getElementById('time-plot').data")) == 13
    assert top == pytest.approx([1.0] * len(top), abs=1e-3)  # shares are written with few digits
    report.page.get_by_role("slider", name="Number of groups").fill("40")
    assert report.texts("#path-more") == ["Show the other 10"]


def test_a_period_is_drawn_as_wide_as_it_has_documents(opened):
    report = opened("classes")
    report.walk()
    drawn, documents = report.page.evaluate(
        """() => [document.getElementById("time-plot").data.map((band) => band.width),
            JSON.parse(document.querySelector("script[type='application/json']").textContent).time.shares.documents]"""
    )
    most = max(documents)
    for width in drawn:
        shares = [one / max(width) for one in width]
        assert shares == pytest.approx([max(n / most, 0.02) for n in documents])


def test_name_below_the_picture_shows_its_band_alone_and_again_all(opened):
    report = opened("classes")
    report.walk()
    bands = "document.getElementById('time-plot').data.map((band) => [band.name, [...band.y]])"
    every = report.page.evaluate(bands)
    for name in ("18 smaller groups", every[3][0]):  # from one to another
        button = report.page.get_by_role("button", name=name, exact=True)
        button.click()
        report.page.wait_for_function(  # pictures are drawn when the browser has time
            "name => document.getElementById('time-plot').data.every((band) => band.name === name)", arg=name
        )
        assert report.page.evaluate(bands) == [band for band in every if band[0] == name]
        assert report.page.locator("#time-legend [aria-pressed=true]").all_inner_texts() == [name]
    low, high = report.page.evaluate("document.getElementById('time-plot')._fullLayout.yaxis.range")
    assert low == 0
    assert max(every[3][1]) <= high < 1
    report.page.keyboard.press("Enter")
    report.page.wait_for_function("n => document.getElementById('time-plot').data.length === n", arg=len(every))
    assert report.page.evaluate(bands) == every


@pytest.mark.parametrize("viewport", [NARROW, WIDE])
def test_names_of_twenty_classes_are_read_beside_each_other(opened, viewport):
    report = opened("classes", viewport)
    report.walk()
    names, width = report.page.evaluate(
        """() => { const left = document.getElementById("class-plot").getBoundingClientRect().left;
            return [[...document.querySelectorAll("#class-plot .xtick text")].map((name) => {
                const box = name.getBoundingClientRect();
                return [box.left - left, box.right - left,
                    Number(/rotate\\((-?[0-9.]+)/.exec(name.getAttribute('transform'))[1])];
            }), document.getElementById("class-plot").clientWidth]; }"""
    )
    assert len(names) == 20
    assert [one for one in names if one[0] < 0 or one[1] > width] == []
    pitch = (names[-1][0] - names[0][0]) / 19
    letters = report.page.evaluate(
        "parseFloat(getComputedStyle(document.querySelector('#class-plot .xtick text')).fontSize)"
    )
    rows = report.page.evaluate(
        "[...document.querySelectorAll('#class-plot .ytick text')].map((row) => row.textContent)"
    )
    assert len(rows) == 40
    assert [row for row in rows if not re.fullmatch(r"#\d+ word\d+(, word\d+)*", row)] == []  # whole words
    assert letters <= pitch * min(abs(np.sin(np.radians(angle))) for *_, angle in names) + 0.5


def test_interval_band_of_a_topic_is_open_where_periods_have_no_interval(opened, reports):
    report, shares = opened("gaps"), reports("gaps")[1].time.shares
    report.go("topic-2")
    report.walk()
    bands = report.page.evaluate(
        """() => document.querySelector(".small-plot").data.filter((trace) => trace.fill)
            .map(({ x, y, fill, line }) => [x, y, fill, line.width])"""
    )
    runs = [[0, 1], [3, 4, 5], [7], list(range(9, len(shares.groups) - 1))]
    assert [x for x, *_ in bands] == [[shares.groups[q] for q in run + run[::-1]] for run in runs]
    assert [y for _, y, *_ in bands] == [
        [shares.high[2][q] for q in run] + [shares.low[2][q] for q in reversed(run)] for run in runs
    ]
    assert {fill for *_, fill, _ in bands} == {"toself"}
    assert [width > 0 for *_, width in bands] == [False, False, True, False]  # a period alone has no area


def test_a_number_that_rounds_to_nothing_has_no_sign(opened):
    report = opened("growing")
    written = "[-0.0004, 0.0004, -0.006, -12].map((x) => pageTools().fixed(x, 2))"
    assert report.page.evaluate(written) == ["0.00", "0.00", "−0.01", "−12.00"]


def test_page_of_a_topic_says_how_many_classes_it_leaves_out(opened):
    report = opened("classes")
    report.go("topic-0")
    assert report.number("#page-body .class-bars li") == 12
    (heading,) = [text for text in report.texts("#page-body h3") if "by list" in text]
    assert "the 12 largest of 20" in heading
