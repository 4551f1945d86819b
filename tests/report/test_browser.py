"""Reports in a real browser: what a reader clicks, types and copies, on a wide and on a narrow screen, light and dark.

They are skipped where the package playwright or Chromium is missing (the fixture `browser`).
"""

import csv
import io

import numpy as np
import pytest
from tests.report import browsed
from tests.report.browsed import NARROW, WIDE

KINDS = ("words", "growing", "path", "tree", "grown_tree", "classes", "vectors", "large")


def table(report):
    """Return the rows that the last button has copied."""
    report.page.wait_for_function("window.copied !== undefined")
    return list(csv.reader(io.StringIO(report.page.evaluate("window.copied"))))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_report_fits_a_narrow_screen_and_loads_nothing(opened, kind):
    report = opened(kind, NARROW, "dark")
    report.walk()
    assert report.overflow() <= 0
    assert report.number("main section:visible") >= 3
    dark = report.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(19, 22, 25)"


@pytest.mark.parametrize("place", ["#topic-3", "#document-0", "#tree-0"])
def test_pages_of_a_topic_and_of_a_document_fit_a_narrow_screen(opened, reports, place):
    if place == "#document-0":
        place = f"#document-{reports('words')[1].documents[0].row}"
    report = opened("tree" if "tree" in place else "words", NARROW, place=place)
    report.walk()
    assert report.overflow() <= 0
    if "tree" not in place:
        assert report.page.locator("#page-heading").is_visible()


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
    report.page.get_by_role("button", name="Copy as CSV").first.click()
    rows = table(report)
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


def test_order_of_topics_is_what_was_asked(opened, reports):
    report, data = opened(), reports("words")[1]
    report.page.get_by_label("Sort by").select_option("coherence")
    best = max(data.topics, key=lambda topic: topic.coherence)
    assert report.texts("#list > li .number")[0] == f"#{best.number}"


def test_map_opens_topics_and_zooms_by_buttons_and_keys(opened, reports):
    report, data = opened(), reports("words")[1]
    assert report.number("#map-plot circle") == len(data.topics)
    before = report.page.locator("#map-plot circle").first.get_attribute("r")
    report.page.get_by_role("button", name="Zoom in").click()
    zoomed = report.page.locator("#map-plot circle").first.get_attribute("r")
    assert float(zoomed) > float(before)
    report.page.get_by_role("button", name="Show the whole map").click()
    report.page.locator("#map-plot svg").press("+")
    assert report.page.evaluate("document.activeElement.tagName") == "svg"
    report.page.locator("#map-plot svg").press("ArrowLeft")
    report.page.get_by_role("button", name="Show the whole map").click()
    assert report.page.locator("#map-plot circle").first.get_attribute("r") == before
    report.follow(lambda: report.page.locator("#map-plot circle").last.click(force=True))
    assert report.page.locator("#page-heading").is_visible()


def test_words_of_a_topic_stand_beside_the_map(opened, reports):
    report, data = opened(), reports("words")[1]
    for topic in (max(data.topics, key=lambda topic: topic.token_share), data.topics[3]):
        disc = report.page.locator("#map-plot circle").nth(
            sorted(data.topics, key=lambda one: (-one.token_share, one.index)).index(topic)
        )
        disc.dispatch_event("pointerenter")
        assert report.texts("#map-words h3") == [f"#{topic.number} {topic.label}"]
        assert report.number("#map-plot circle.told") == 1
        known = [entry for entry in (*topic.words, *topic.more_words) if entry.lift is not None]
        ranked = sorted(known, key=lambda one: -(0.6 * np.log(one.probability) + 0.4 * np.log(one.lift)))[:15]
        assert report.texts("#map-words bdi")[1:] == [entry.word for entry in ranked]
        shares = [float(text.rstrip("%")) / 100 for text in report.texts("#map-words .p")]
        assert shares == pytest.approx([min(1, one.lift * topic.token_share) for one in ranked], abs=0.006)
    box, beside = (report.page.locator(name).bounding_box() for name in ("#map-plot", "#map-words"))
    assert box["x"] + box["width"] < beside["x"]
    assert max(box["y"] + box["height"], beside["y"] + beside["height"]) - min(box["y"], beside["y"]) < WIDE["height"]


def test_word_beside_the_map_shows_the_topics_that_have_it(opened, reports):
    report, data = opened(), reports("words")[1]
    ordered = sorted(data.topics, key=lambda one: (-one.token_share, one.index))
    known = [{one.word: one.lift for one in (*topic.words, *topic.more_words)} for topic in ordered]
    line = report.page.locator("#map-words li").nth(2)
    asked = report.texts("#map-words li bdi")[2]
    drawn = "[...document.querySelectorAll('#map-plot circle')].map((disc) => Number(disc.style.opacity))"
    for begin, end in (("pointerenter", "pointerleave"), ("focus", "blur")):
        line.dispatch_event(begin)
        seen = report.page.evaluate(drawn)
        having = [asked in lifts for lifts in known]
        assert 0 < sum(having) < len(ordered)
        assert [opacity == 0.1 for opacity in seen] == [not has for has in having]
        parts = {i: known[i][asked] * ordered[i].token_share for i, has in enumerate(having) if has}
        assert max(parts, key=parts.get) == int(np.argmax(seen))
        line.dispatch_event(end)
        assert report.page.evaluate(drawn) == [0] * len(ordered)  # none is set


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
    line = report.page.locator("#changes-lists .spark polyline").first.get_attribute("points").split()
    heights = np.array([27 - float(point.split(",")[1]) for point in line])
    shares = np.array(data.time.shares.shares[grown[0].topic])
    assert heights / heights.max() == pytest.approx(shares / shares.max(), abs=0.01)
    high = report.page.locator("#changes-lists").bounding_box()
    assert high["y"] + high["height"] < report.page.locator("#overview").bounding_box()["y"]
    assert not opened("path").page.locator("#changes").is_visible()


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_two_pieces_of_the_stick_have_one_name(opened, viewport):
    names = opened("growing", viewport).page.locator("#stick text").all_text_contents()
    assert len(names) >= 3
    assert len(set(names)) == len(names)
    assert names.count("python") <= 1
    for name in names:
        assert any(name.rstrip("…") in label for label in browsed.SAME_BEGINNINGS)


def test_bars_say_what_they_are_compared_with(opened, reports):
    report = opened("path")
    assert "Bars are compared with the largest topic" in report.texts("#count")[0]
    assert "Bars of groups are compared with the largest group" in report.texts("#overview-hint")[0]
    report.go(f"topic-{reports('path')[1].topics[0].number}")
    assert "bars are compared with the largest" in report.texts("#page-body h3")[0]
    assert "Bars are compared with the largest" in opened("vectors").texts("#components-hint")[0]


def test_every_topic_is_a_leaf_of_the_tree_of_joins(opened, reports):
    report, data = opened("path"), reports("path")[1]
    report.page.locator("#path-how > summary").click()
    report.page.get_by_role("slider", name="Number of groups").fill(str(len(data.topics)))
    leaves = report.page.locator("#path-tree a")
    assert sorted(leaves.all_text_contents()) == sorted(f"#{topic.number} {topic.label}" for topic in data.topics)
    report.follow(leaves.first.click)
    assert report.page.locator("#page-heading").is_visible()


def test_slider_of_relevance_moves_rare_words_up(opened, reports):
    report, data = opened(place="#topic-2"), reports("words")[1]
    topic = data.topics[2]
    assert report.texts("#page-body .words bdi")[:3] == [entry.word for entry in topic.words[:3]]
    slider = report.page.get_by_role("slider", name="Relevance")
    slider.fill("0")
    assert report.texts("#page-body .relevance output") == ["λ 0.0"]
    known = [entry for entry in (*topic.words, *topic.more_words) if entry.lift is not None]
    expected = sorted(known, key=lambda entry: -entry.lift)
    assert report.texts("#page-body .words bdi")[:5] == [entry.word for entry in expected[:5]]
    report.page.locator("#page-body").get_by_role("button", name="Copy as CSV").first.click()
    assert {row[0] for row in table(report)[1:]} == {entry.word for entry in (*topic.words, *topic.more_words)}


def test_page_of_a_topic_has_its_line_in_time_and_its_classes(opened, reports):
    report, data = opened(place="#topic-4"), reports("words")[1]
    report.walk()
    drawn = report.page.evaluate("[...document.querySelector('.small-plot').data.at(-1).y]")
    assert drawn == pytest.approx(list(data.time.shares.shares[4]))
    heads = report.texts("#page-body h3")
    told = "Mean weight by {}, with 95 % intervals; bars are compared with the largest"
    assert {told.format("list"), told.format("draft")} <= set(heads)
    assert report.number("#page-body .documents > li") == len(data.topics[4].documents)
    assert report.number("#page-body .documents mark") > 0
    report.follow(report.page.locator("#page-body .similar a").first.click)
    assert report.page.url.endswith(f"#topic-{data.topics[data.topics[4].similar[0]].number}")


def test_documents_are_searched_and_opened(opened, reports):
    report, data = opened(), reports("words")[1]
    field = report.page.get_by_role("searchbox", name="Search names, columns and passages of all documents")
    field.fill(data.documents[7].values[0])
    names = [one.name for one in data.documents if one.values[0] == data.documents[7].values[0]]
    report.page.locator("#document-csv button").click()
    copied = [row[1] for row in table(report)[1:]]
    assert copied == [f"'{one.name}" if one.name.startswith("=") else one.name for one in data.documents]
    assert report.texts("#document-list .name") == names
    report.follow(report.page.locator("#document-list .name a").first.click)
    assert report.texts("#page-heading") == [data.documents[7].name]
    assert report.number("#page-body mark.tint") > 0
    assert report.number("#page-body .of-document a") == len(data.documents[7].topics)
    report.page.get_by_role("link", name="Whole report").click()
    assert report.texts("#document-list .name") == names


def test_table_of_shares_over_time_is_copied_with_its_numbers(opened, reports):
    report, data = opened(), reports("words")[1]
    report.walk()
    drawn = report.page.evaluate("document.querySelector('#time-plot').data.map((one) => [...one.y])")
    assert len(drawn) == 13  # 12 groups, and the others as one
    assert [sum(column) for column in zip(*drawn, strict=True)] == pytest.approx(
        [1] * len(data.time.shares.groups), rel=1e-2
    )
    report.page.locator("#time-csv button").click()
    rows = table(report)
    assert rows[0] == ["topic", "label", "quarter", "mean_weight", "low", "high", "documents"]
    shares = [float(row[3]) for row in rows[1:] if row[0] == "6"]
    assert shares == pytest.approx(list(data.time.shares.shares[6]))


def test_table_of_classes_follows_the_chosen_column(opened, reports):
    report, data = opened(), reports("words")[1]
    report.walk()
    assert report.page.evaluate("document.querySelector('#class-plot').data[0].z.length") == len(data.topics)
    report.page.locator("#class-column").select_option("draft")
    report.page.locator("#class-scale").select_option("share")
    report.page.locator("#class-csv button").click()
    rows = table(report)
    assert rows[0][2] == "draft"
    assert {row[2] for row in rows[1:]} == set(data.classes[1].groups)
    plot = "document.querySelector('#class-plot')"
    report.page.locator("#class-plot").scroll_into_view_if_needed()
    for _ in range(100):  # it is drawn later; the policy of the page forbids to wait for an expression
        if report.page.evaluate(f"{plot}.data[0].zmin === 0 && {plot}.data[0].x.length === 2"):
            break
        report.page.wait_for_timeout(50)
    drawn = report.page.evaluate(f"Math.max(...{plot}.data[0].z.flat())")
    assert drawn == pytest.approx(max(v for row in data.classes[1].shares for v in row))
    assert report.page.evaluate(f"{plot}.data[0].x") == [0, 1]  # numbers: two names may be cut to the same
    assert report.page.evaluate(f"{plot}.layout.xaxis.ticktext") == list(data.classes[1].groups)


def test_every_button_of_a_table_copies_rows_of_equal_length(opened):
    report = opened()
    report.walk()
    report.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    buttons = report.page.get_by_role("button", name="Copy as CSV")
    assert buttons.count() == 7  # groups, topics, time, trends, classes, documents, passes
    for button in buttons.all():
        report.page.evaluate("() => { window.copied = undefined; }")
        button.click()
        rows = table(report)
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}
        report.page.wait_for_function("document.body.innerText.includes('Copied')")
        report.page.evaluate(
            "() => document.querySelectorAll('.csv').forEach((one) => { one.textContent = 'Copy as CSV'; })"
        )


def test_keyboard_reaches_the_topics_and_comes_back(opened):
    report = opened()
    report.page.keyboard.press("Tab")
    assert report.page.evaluate("document.activeElement.textContent") == "Skip to the topics"
    link = report.page.locator("#list a").first
    link.focus()
    report.follow(lambda: report.page.keyboard.press("Enter"))
    assert report.page.locator("#page-heading").is_visible()
    report.page.get_by_role("link", name="Whole report").focus()
    report.page.keyboard.press("Enter")
    assert report.page.locator("#topics").is_visible()


def test_everything_that_acts_has_a_name_for_a_screen_reader(opened):
    report = opened(place="#topic-1")
    nameless = """() => [...document.querySelectorAll("a[href], button, input, select, svg[role=img], [role=figure]")]
        .filter((one) => one.checkVisibility() && !one.closest(".plot, .small-plot")
            && !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length))
        .map((one) => one.outerHTML.slice(0, 120))"""
    assert report.page.evaluate(nameless) == []
    report.go("home")
    assert report.page.evaluate(nameless) == []


def test_print_leaves_out_what_only_a_screen_can_use(opened):
    report = opened()
    report.walk()
    report.page.emulate_media(media="print")
    for selector in ("nav", "#controls", "#map-buttons", ".csv", "#path-slider"):
        assert not report.page.locator(selector).first.is_visible()
    assert report.page.locator("#path-groups").is_visible()
    assert report.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_tree_is_walked_by_keys_and_leads_to_topics(opened, reports):
    report, data = opened("tree"), reports("tree")[1]
    picture = report.page.locator("#tree-picture svg")
    picture.press("ArrowDown")
    report.follow(lambda: picture.press("Enter"))
    assert "#tree-" in report.page.url
    report.go(f"topic-{data.topics[0].number}")
    assert "Its path in the tree" in report.texts("#page-body h3")


def test_thousand_topics_of_a_million_documents_open_and_answer_quickly(opened, reports):
    report, data = opened("large"), reports("large")[1]
    assert len(data.topics) == 1000
    assert "random sample of 100,000 of the 1,000,000 documents" in report.page.locator("#notes").inner_text()
    seconds = report.page.evaluate(
        """() => {
            const begin = performance.now(), slider = document.getElementById("path-slider");
            slider.value = 300;
            slider.dispatchEvent(new Event("input"));
            const query = document.getElementById("query");
            query.value = "word1";
            query.dispatchEvent(new Event("input"));
            return (performance.now() - begin) / 1000;
        }"""
    )
    assert seconds < 2
    assert report.number("#path-groups > li") == 20
    report.page.locator("#path-more").click()
    assert report.number("#path-groups > li") == 220
