"""Reports in a real browser: what a reader clicks, types and copies, on a wide and on a narrow screen, light and dark.

They are skipped where the package playwright or Chromium is missing (the fixture `browser`).
"""

import csv
import io

import numpy as np
import pytest
from tests.report import browsed
from tests.report.browsed import NARROW

KINDS = ("words", "growing", "path", "tree", "grown_tree", "classes", "vectors", "large")


def table(report, button):
    """Return the rows that a button copies."""
    report.page.evaluate("() => { window.copied = undefined; }")
    button.click()
    report.page.wait_for_function("() => window.copied !== undefined")
    return list(csv.reader(io.StringIO(report.page.evaluate("window.copied"))))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_report_fits_a_narrow_screen_and_loads_nothing(opened, kind):
    report = opened(kind, NARROW, "dark")
    report.walk()
    assert report.overflow() <= 0
    assert report.number("main section:visible") >= 3
    dark = report.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(19, 22, 25)"


def test_hostile_words_and_names_are_only_text(opened, reports):
    report, data = opened(), reports("words")[1]
    report.walk()
    assert report.page.title() == report.texts("h1")[0] == browsed.TITLE
    report.go(f"topic-{data.topics[0].number}")
    report.go(f"document-{data.documents[0].row}")
    assert report.texts("#page-heading") == [data.documents[0].name]
    assert report.number("img, iframe, body script:not([type]) ~ script:not([type])") == 0


def test_slider_of_grain_joins_topics_into_fewer_groups(opened, reports):
    report, data = opened(), reports("words")[1]
    assert report.number("#path-groups > li") == data.path.overview == 20
    slider = report.page.get_by_role("slider", name="Number of groups")
    slider.fill("5")
    assert report.texts("#path-number") == ["5 groups"]
    assert report.number("#path-groups > li") == 5
    counted = [text.split("\n")[0] for text in report.texts("#path-groups .number")]
    assert sum(int(text.split()[0]) if "topic" in text else 1 for text in counted) == len(data.topics)
    report.page.locator("#path-groups summary").first.click()
    report.page.locator("#path-groups .members a").first.wait_for()  # its list is made when it opens
    assert report.number("#path-groups .members a") == int(counted[0].split()[0])
    slider.press("ArrowRight")
    assert report.number("#path-groups > li") == 6
    rows = table(report, report.page.get_by_role("button", name="Copy as CSV").first)
    assert rows[0] == ["group", "group_label", "topic", "label", "share"]
    assert sorted(int(row[2]) for row in rows[1:]) == [topic.number for topic in data.topics]
    assert {int(row[0]) for row in rows[1:]} == set(range(1, 7))


def test_search_finds_topics_by_word_and_number_and_a_row_opens_its_page(opened, reports):
    report, data = opened(), reports("words")[1]
    field = report.page.get_by_role("searchbox", name="Search for words, documents or a number")
    field.fill("#7")
    assert [text.split("\n")[0] for text in report.texts("#list > li")] == ["#7"]
    field.fill("no such word")
    assert report.number("#list > li") == 0
    assert "No topic has these words" in report.texts("#count")[0]
    asked = data.topics[5].words[0].word
    field.fill(asked)
    found = [text.split("\n")[0] for text in report.texts("#list > li .number")]
    assert "#5" in found
    report.follow(report.page.locator("#list a[href='#topic-5']").click)
    assert report.page.locator("#page-heading").inner_text().startswith("#5")
    assert report.page.evaluate("document.activeElement.id") == "page-heading"  # where a screen reader goes on
    report.follow(report.page.go_back)
    assert report.page.locator("#list").is_visible()


def point_at(report, k, event="plotly_hover"):
    """Point at the disc of topic k on the map, or click at it."""
    act = "([k, event]) => { document.getElementById('map-plot').emit(event, { points: [{ pointIndex: k }] }); }"
    report.page.evaluate(act, [k, event])


def test_map_shows_the_words_of_a_topic_and_opens_it(opened, reports):
    report, data = opened(), reports("words")[1]
    report.walk()
    for topic in (data.topics[5], data.topics[3]):
        point_at(report, topic.index)
        assert report.texts("#map-words h3") == [f"#{topic.number} {topic.label}"]
        known = [entry for entry in (*topic.words, *topic.more_words) if entry.lift is not None]
        ranked = sorted(known, key=lambda one: -(0.6 * np.log(one.probability) + 0.4 * np.log(one.lift)))[:15]
        assert report.texts("#map-words bdi")[1:] == [entry.word for entry in ranked]
        shares = [float(text.rstrip("%")) / 100 for text in report.texts("#map-words .p")]
        assert shares == pytest.approx([min(1, one.lift * topic.token_share) for one in ranked], abs=0.006)
    report.follow(lambda: point_at(report, 7, "plotly_click"))
    assert report.page.locator("#page-heading").inner_text().startswith(f"#{data.topics[7].number} ")


def test_slider_colours_the_map_and_the_bands_over_time(opened, reports):
    report, data = opened(), reports("words")[1]
    report.walk()
    colours = "new Set(document.getElementById('map-plot').data[0].marker.color).size"
    assert report.page.evaluate(colours) == 20
    report.page.get_by_role("slider", name="Number of groups").fill("5")
    report.page.wait_for_function("() => document.getElementById('time-plot').data.length === 5")
    assert report.page.evaluate(colours) == 5
    drawn = report.page.evaluate("document.getElementById('time-plot').data.map((one) => [...one.y])")
    assert len(drawn) == 5
    totals = [sum(row[p] for row in data.time.shares.shares) for p in range(len(data.time.shares.groups))]
    assert [sum(column) for column in zip(*drawn, strict=True)] == pytest.approx(totals, rel=1e-3)


def test_topics_that_grow_and_shrink_stand_high_in_a_dated_report(opened, reports):
    report, data = opened("growing"), reports("growing")[1]
    sure = [trend for trend in data.time.trends if trend.p < 0.05]
    grown, fallen = [t for t in sure if t.change > 0], [t for t in reversed(sure) if t.change < 0]
    assert [t.topic for t in grown][:1] == [2]
    assert {t.topic for t in fallen} >= {0, 4}
    told = report.texts("#changes-hint")[0]
    assert told.startswith(f"{len(grown)} of 6 topics grow and {len(fallen)} shrink by more than chance")
    links = [one.get_attribute("href") for one in report.page.locator("#changes-lists a").all()]
    assert links == [f"#topic-{data.topics[t.topic].number}" for t in (*grown, *fallen)]
    report.walk()
    lines = report.page.evaluate("document.getElementById('changes-plot').data.map((one) => [one.name, [...one.y]])")
    assert [int(name.split()[0]) for name, _ in lines] == [data.topics[t.topic].number for t in (*grown, *fallen)]
    assert lines[0][1] == pytest.approx(list(data.time.shares.shares[grown[0].topic]))
    high = report.page.locator("#changes-lists").bounding_box()
    assert high["y"] + high["height"] < report.page.locator("#overview").bounding_box()["y"]
    assert not opened("path").page.locator("#changes").is_visible()


def test_documents_are_searched_and_opened(opened, reports):
    report, data = opened(), reports("words")[1]
    field = report.page.get_by_role("searchbox", name="Search names, columns and passages of all documents")
    field.fill(data.documents[7].values[0])
    names = [one.name for one in data.documents if one.values[0] == data.documents[7].values[0]]
    copied = [row[1] for row in table(report, report.page.locator("button[data-table='documents']"))[1:]]
    assert copied == [f"'{one.name}" if one.name.startswith("=") else one.name for one in data.documents]
    assert report.texts("#document-list .name") == names
    report.follow(report.page.locator("#document-list .name a").first.click)
    assert report.texts("#page-heading") == [data.documents[7].name]
    assert report.number("#page-body mark.tint") > 0
    assert report.number("#page-body .of-document a") == len(data.documents[7].topics)
    report.follow(report.page.get_by_role("link", name="Whole report").click)
    assert report.texts("#document-list .name") == names


def test_classes_have_a_picture_and_a_table_for_each_column(opened, reports):
    report, data = opened(), reports("words")[1]
    report.walk()
    for i, grouped in enumerate(data.classes):
        shares = report.page.evaluate(f"document.getElementById('class-{i}-plot').data[1].z")
        names = report.page.evaluate(f"document.getElementById('class-{i}-plot').layout.yaxis.ticktext")
        for name, row in zip(names, shares, strict=True):
            assert row == pytest.approx(list(grouped.shares[int(name.split()[0][1:])]), rel=1e-4)
        rows = table(report, report.page.locator(f"button[data-table='class-{i}']"))
        assert rows[0][2] == grouped.column
        assert {row[2].lstrip("'") for row in rows[1:]} == set(grouped.groups)


def test_every_button_of_a_table_copies_rows_of_equal_length(opened):
    report = opened()
    report.walk()
    report.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    buttons = report.page.get_by_role("button", name="Copy as CSV")
    assert buttons.count() == 8  # groups, topics, time, trends, two classes, documents, passes
    for button in buttons.all():
        rows = table(report, button)
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}


def test_keyboard_reaches_the_topics_and_comes_back(opened):
    report = opened()
    report.page.keyboard.press("Tab")
    assert report.page.evaluate("document.activeElement.textContent") == "Skip to the topics"
    link = report.page.locator("#list a").first
    link.focus()
    report.follow(lambda: report.page.keyboard.press("Enter"))
    assert report.page.locator("#page-heading").is_visible()
    report.page.get_by_role("link", name="Whole report").focus()
    report.follow(lambda: report.page.keyboard.press("Enter"))
    assert report.page.locator("#topics").is_visible()


def test_everything_that_acts_has_a_name_for_a_screen_reader(opened):
    report = opened(place="#topic-1")
    nameless = """() => [...document.querySelectorAll("a[href], button, input, select, svg[role=img], [role=figure]")]
        .filter((one) => one.checkVisibility() && !one.closest(".plot")
            && !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length))
        .map((one) => one.outerHTML.slice(0, 120))"""
    assert report.page.evaluate(nameless) == []
    report.go("home")
    assert report.page.evaluate(nameless) == []


def test_tree_is_walked_by_links_and_clicks_and_leads_to_topics(opened, reports):
    report, data = opened("tree"), reports("tree")[1]
    report.walk()
    below = report.page.locator("#tree-node .children a").first
    below.focus()
    report.follow(lambda: report.page.keyboard.press("Enter"))
    place = report.page.url.partition("#tree-")[2]
    assert report.page.evaluate("document.getElementById('tree-plot').data[0].level") == place
    (node,) = [node for node in data.tree.nodes if node.parent == 0 and str(node.child) == place]
    assert report.texts("#tree-node .words bdi") == [entry.word for entry in node.words]
    click = "(id) => { document.getElementById('tree-plot').emit('plotly_icicleclick', { points: [{ id }] }); }"
    report.follow(lambda: report.page.evaluate(click, place))  # the node that is looked at leads back up
    assert report.page.url.endswith("#tree-all")
    report.go(f"topic-{data.topics[0].number}")
    assert "Its path in the tree" in report.texts("#page-body h3")


def test_thousand_topics_of_a_million_documents_open_and_answer(opened, reports):
    report, data = opened("large"), reports("large")[1]
    assert len(data.topics) == 1000
    assert "random sample of 100,000 of the 1,000,000 documents" in report.page.locator("#notes").inner_text()
    report.page.get_by_role("slider", name="Number of groups").fill("300")
    assert report.number("#path-groups > li") == 20
    report.page.locator("#path-more").click()
    assert report.number("#path-groups > li") == 220
