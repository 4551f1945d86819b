import base64
import hashlib
import html.parser
import json
import re
import zlib

import pytest
from plotly.offline import get_plotlyjs

from stickbreak.exceptions import WriteError
from stickbreak.report import build_report, render_html, write_report

NASTY = [
    "</script><script>alert(1)</script>",
    "<img src=http://evil.example/x onerror=alert(2)>",
    "{{data}}",
    "<!--<script>",
    "quote\"'&amp;",
    "javascript:alert(3)",
]
LOADING = {"src", "srcset", "href", "data", "action", "poster", "xlink:href", "background"}


class Page(html.parser.HTMLParser):
    """The elements of a page, with attributes, and the contents of its scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.contents, self.text, self.inside = [], [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self.inside = (tag, dict(attributes))
            self.contents.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.contents[-1][2] += data
        else:
            self.text += data


def unpacked(text):
    """Undo what the page does to plotly.js to stay small."""
    return zlib.decompress(base64.b64decode(text)).decode("utf-8")


@pytest.fixture
def nasty_page(with_words):
    model, corpus = with_words(NASTY, names=[f"{word} {i}" for i, word in enumerate(NASTY[:5])])
    model.stop_reason_ = "<b>stopped</b>"
    return render_html(
        build_report(model, corpus, title="</title><b>bad</b> {{program}}", texts=["<i>text</i> " * 9] * 5)
    )


def test_page_holds_no_element_made_of_words(nasty_page, model, corpus):
    plain = render_html(build_report(model, corpus))
    assert [tag for tag, _ in Page(nasty_page).elements] == [tag for tag, _ in Page(plain).elements]


def test_page_refers_to_nothing_outside(nasty_page):
    page = Page(nasty_page)
    for tag, attributes in page.elements:
        for name in LOADING & set(attributes):
            assert attributes[name].startswith("#"), (tag, name)
    assert not {"link", "iframe", "base", "img", "object"} & {tag for tag, _ in page.elements}
    style = next(text for tag, _, text in page.contents if tag == "style")
    assert "url(" not in style
    assert "@import" not in style
    addresses = set(re.findall(r"https?://[^\s\"'<>\\]+", nasty_page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://evil.example/x"}  # a name space, and a word


def test_page_may_run_its_own_scripts_only(nasty_page, plotly_of):
    page = Page(nasty_page)
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy.split("script-src")[1]
    scripts = [text for tag, attributes, text in page.contents if tag == "script" and not attributes]
    scripts.append(unpacked(plotly_of(nasty_page)))
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert policy.split("script-src")[1].split() == [f"'sha256-{digest}'" for digest in digests]
    assert len(digests) == 2


def test_page_holds_plotly_once_and_the_data_unchanged(model, corpus, plotly_of):
    data = build_report(model, corpus)
    page = render_html(data)
    assert unpacked(plotly_of(page)) == get_plotlyjs()
    assert page.count('id="plotly"') == 1
    block = next(text for tag, a, text in Page(page).contents if a.get("type") == "application/json")
    assert json.loads(block) == json.loads(data.to_json())


def test_report_is_written_whole_or_not_at_all(model, corpus, tmp_path):
    data = build_report(model, corpus)
    write_report(data, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == render_html(data)
    with pytest.raises(WriteError):
        write_report(data, tmp_path / "missing" / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_report_of_lone_surrogates_is_written(with_words, tmp_path):
    words = ["\ud800", "b", "c", "d", "e", "f"]
    write_report(build_report(*with_words(words), title="\udcff odd"), tmp_path / "report.html")
    assert "odd" in (tmp_path / "report.html").read_text(encoding="utf-8")
