"""What the pages of a report say in a browser: days, searches without result, how the fit went, what is not there."""

from dataclasses import replace

from stickbreak.report import render_html


def test_the_text_of_the_fit_says_where_the_model_is_not_its_last_pass(opened, reports):
    words, path = opened(), opened("path")
    assert "The curve ends with 3 topics, and the model has 24: topics were joined" in words.texts("#fit-text")[0]
    assert "The curve ends" not in path.texts("#fit-text")[0]
    assert "a start of 2.5 s made the topics that the fit began with" in path.texts("#fit-text")[0]
    assert "after a start of 2.5 s" in " ".join(path.texts("#facts")[0].split())
    assert "start" not in words.texts("#fit-text")[0]


def test_trends_that_may_be_chance_are_grey(opened, reports):
    report, data = opened("growing"), reports("growing")[1]
    grey = {f"#{data.topics[trend.topic].number} " for trend in data.time.trends if trend.p >= 0.05}
    told = report.page.locator("#time-trends .unsure .number").all_text_contents()
    assert 0 < len(told) < len(data.topics)
    assert set(told) == grey


def test_a_search_without_result_says_where_to_go_on(opened, reports):
    report, data = opened("span"), reports("span")[1]
    field = report.page.get_by_role("searchbox", name="Search names, columns and telling words")
    assert "The search finds only these." in report.texts("#document-count")[0]
    field.fill("no such word")
    (told,) = report.texts("#document-count")
    others = data.span.n_documents - data.span.n_empty - len(data.documents)  # no word of an empty one is known
    assert f"None of the {len(data.documents):,} documents in this report" in told
    assert f"{others} other documents may: stickbreak ask MODEL search WORD" in told


def test_a_report_of_some_days_says_so(opened, reports):
    report, data = opened("span"), reports("span")[1]
    (told,) = report.texts("#span")
    assert told.startswith(f"This report shows {data.span.n_documents:,} documents of these: those from 2021-02-01 to ")
    assert "5 documents without a date are left out" in told
    assert data.time.n_dated == data.span.n_documents < data.corpus.n_documents - 5
    assert (
        f"{data.time.n_dated:,} documents with a date, 7 of them without a known word" in report.texts("#time-hint")[0]
    )
    assert opened().number("#span") == 0


def test_the_top_of_a_report_says_what_was_found_and_the_objective_comes_last(opened, reports):
    report, data = opened("growing"), reports("growing")[1]
    largest = sorted(data.topics, key=lambda topic: -topic.token_share)[:3]
    (lead,) = report.texts("#lead")
    named = " · ".join(f"#{topic.number} {topic.label} {100 * topic.token_share:.1f}%" for topic in largest)
    assert lead.startswith(f"6 topics in 300 documents. The largest: {named}. ")
    sure = [trend.change > 0 for trend in data.time.trends if trend.p < 0.05]
    grow, shrink = sum(sure), len(sure) - sum(sure)
    assert grow
    assert shrink > 1
    grown = f"{grow} topic{'s' * (grow > 1)} grow{'s' * (grow == 1)}"
    assert lead.endswith(f"{grown} and {shrink} shrink by more than chance.")
    names, units = report.texts("#facts dt"), report.texts("#facts .unit")
    assert names[:3] == ["Topics", "Documents", "Words"]
    assert names[-1] == "Objective"
    shares = sorted((topic.token_share for topic in data.topics), reverse=True)
    half = next(n for n in range(1, 7) if sum(shares[:n]) >= 0.5)
    assert units[0] == f"the {half} largest have half of the words"
    assert units[1] == f"of {data.corpus.n_tokens / 300:.0f} words on average"
    assert any(text.startswith("Objective") for text in report.texts("#notes li"))
    report.follow(lambda: report.page.locator("#lead a").first.click())
    assert report.texts("#page-heading") == [f"#{largest[0].number} {largest[0].label}"]


def test_the_top_of_a_report_on_vectors_counts_components_and_vectors(opened, reports):
    report, data = opened("vectors"), reports("vectors")[1]
    assert report.texts("#facts dt")[:2] == ["Components", "Vectors"]
    assert report.texts("#facts dt")[-1] == "Objective"
    largest = max(data.components, key=lambda component: component.weight)
    assert f"The largest: #{largest.number} {100 * largest.weight:.1f}% · " in report.texts("#lead")[0]
    assert any(text.startswith("Objective") for text in report.texts("#notes li"))


def test_shares_below_one_percent_have_a_second_digit(opened, reports):
    report, data = opened("large"), reports("large")[1]
    shares = sorted((topic.token_share for topic in data.topics), reverse=True)[:20]
    assert max(shares) < 0.005, "of 1,000 topics"
    told = report.texts("#list .share b")
    assert told == [f"{100 * share:.2f}%" for share in shares]
    percents = report.page.evaluate("[0, 2e-5, 0.0012, 0.0099, 0.00996, 0.1234, 0.9996].map((x) => percent(x))")
    assert percents == ["0%", "<0.01%", "0.12%", "0.99%", "1.0%", "12.3%", "100%"]


def test_a_link_to_what_is_not_in_the_report_says_so(opened, reports):
    report, data = opened(place="#topic-999"), reports("words")[1]
    assert report.texts("#missing") == [
        "No topic here has the number 999. This report has 24 topics, numbered from 0 to 23."
    ]
    assert report.page.locator("#missing").is_visible()
    report.go("topic-3")
    report.go("home")
    assert not report.page.locator("#missing").is_visible()
    report.page.evaluate("scrollTo(0, 3000)")
    report.go("document-100000")
    told = f"row 100000 is not in this report. It shows {len(data.documents)} of 240 documents."
    assert told in report.texts("#missing")[0]
    assert report.page.evaluate("scrollY") == 0
    report.go("topics")
    assert not report.page.locator("#missing").is_visible()
    tree = opened("tree", place="#tree-0.9")
    assert tree.texts("#missing") == ["The tree on this page has no node 0.9."]
    tree.go("tree-0")
    assert not tree.page.locator("#missing").is_visible()
    tree.go("topic-999")
    assert "No topic here has the number 999. This report has " in tree.texts("#missing")[0]


def test_the_top_of_a_report_leads_to_how_a_fit_ended_that_did_not_converge(opened, reports):
    data = reports("growing")[1]
    assert "how the fit ended" not in " ".join(opened("growing").texts("#facts"))
    page = render_html(replace(data, fit=replace(data.fit, converged=False, stop_reason="interrupted: after pass 3.")))
    assert '<a href="#fit">The fit ended early.</a>' in page
    assert '; <a href="#fit">how the fit ended</a>' in page


def test_the_last_line_says_when_the_page_was_written_and_how_many_topics_had_labels(opened, reports):
    data = reports("words")[1]
    (told,) = opened().texts("#colophon")
    assert told.startswith(f"Written on {data.written} by stickbreak {data.version}, when no topic had a label")


def test_each_topic_says_how_often_it_comes_again(opened, reports):
    report, data = opened("path"), reports("path")[1]
    times = {topic.number: round(2 * topic.found) for topic in data.topics}
    assert len(set(times.values())) > 1
    report.page.get_by_label("Sort by").select_option("found")
    rows = report.texts("#list > li")
    numbers = [int(row.split("\n")[0].strip().lstrip("#")) for row in rows]
    assert [times[k] for k in numbers] == sorted(times.values(), reverse=True)
    assert all(f"in {times[k]} of 2 other fits" in row for k, row in zip(numbers, rows, strict=True))
    report.follow(lambda: report.page.locator("#list > li a").first.click())
    (told,) = report.texts("dl.numbers")
    assert f"{times[numbers[0]]} of 2" in told
    assert "Similarity to its match there" in told
    assert "Stability" not in " ".join(opened().texts("#facts dt"))
