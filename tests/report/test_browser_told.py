"""What the pages of a report say in a browser: days, searches without result, how the fit went, what is not there."""


def test_an_address_that_is_not_one_opens_the_whole_report(opened):
    report = opened(place="#%")
    assert report.page.locator("#topics").is_visible()
    report.go("topic-3")
    assert report.page.locator("#page-heading").inner_text().startswith("#3")


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
