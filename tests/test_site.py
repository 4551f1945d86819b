"""The built site: every page, links that lead somewhere, nothing from another host, and what a screen reader needs."""

import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from stickbreak import ESTIMATORS, VECTOR_ESTIMATORS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
_LOADED = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^>]*>"""
                     r"""|<link\b[^>]*\bhref=["']?(?:https?:)?//[^>]*>""")  # fmt: skip
_NAMED = ("aria-label", "aria-labelledby", "title")


@dataclass
class Page(HTMLParser):
    """What the tests ask of a page: its ids, links, headings, and parts without a name."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    nameless: list[str] = field(default_factory=list)
    language: str = ""
    title: str = ""
    labelled: set[str] = field(default_factory=set)
    fields: list[dict[str, str]] = field(default_factory=list)
    in_title: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag, attrs):
        given = {key: value or "" for key, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "html":
            self.language = given.get("lang", "")
        self.in_title = tag == "title" and not self.title
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "label":
            self.labelled.add(given.get("for", ""))
        if (
            tag in ("input", "select", "textarea")
            and given.get("type") != "hidden"
            and "md-toggle" not in given.get("class", "")
        ):
            self.fields.append(given)
        if (tag == "img" and "alt" not in given) or (tag == "iframe" and "title" not in given):
            self.nameless.append(f"<{tag} {given}>")

    def handle_data(self, data):
        if self.in_title:
            self.title += data
            self.in_title = False


def read(text: str) -> Page:
    found = Page()
    found.feed(text)
    return found


def read_all(site: Path) -> dict[str, Page]:
    return {file.relative_to(site).as_posix(): read(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built documentation; the build fails for a link or an anchor that leads nowhere."""
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("mkdocstrings") is None:
        pytest.skip("mkdocs is not installed (it is one of the development requirements)")
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]  # --quiet hides warnings
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return target


def test_site_has_every_page(site):
    files = (file.relative_to(DOCS) for file in DOCS.rglob("*.md"))
    pages = {file.with_suffix(".html") for file in files if "generated" not in file.parts}
    assert pages <= {file.relative_to(site) for file in site.rglob("*.html")}


def test_every_page_of_the_gallery_leads_to_its_notebook(site):
    for file in sorted(DOCS.glob("gallery/*.md")):
        page = read((site / "gallery" / f"{file.stem}.html").read_text(encoding="utf-8"))
        assert (f"{file.stem}.ipynb" in page.links) == (file.stem != "index"), file.name
    notebooks = list(site.rglob("*.ipynb"))
    assert len(notebooks) == 8
    assert all(json.loads(file.read_text(encoding="utf-8"))["nbformat"] == 4 for file in notebooks)


def test_site_loads_nothing_from_another_host(site):
    for file in site.rglob("*.html"):
        assert _LOADED.findall(file.read_text(encoding="utf-8")) == [], file.name
    imported = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")
    for file in site.rglob("*.css"):
        assert imported.findall(file.read_text(encoding="utf-8")) == [], file.name


def test_the_check_for_other_hosts_can_fail():
    assert _LOADED.findall('<script src="https://example.org/x.js"></script>')
    assert _LOADED.findall('<link rel="stylesheet" href="//example.org/x.css">')
    assert not _LOADED.findall('<script src="assets/x.js"></script><a href="https://example.org">x</a>')


def dead_links(pages: dict[str, Page], site: Path) -> list[str]:
    """Links of pages to files or anchors that do not exist."""
    dead = []
    for name, found in pages.items():
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or name == "404.html":
                continue
            target = name if not parts.path else os.path.normpath(Path(name).parent / unquote(parts.path))
            anchor = unquote(parts.fragment)
            known = target in pages and (not anchor or anchor in pages[target].ids)
            if not known and not (target not in pages and (site / target).is_file()):
                dead.append(f"{name}: {link}")
    return dead


def skipped_headings(found: Page) -> bool:
    """Tell whether a heading is more than one level below the one before it."""
    return any(after > before + 1 for before, after in zip([0, *found.headings], found.headings, strict=False))


def test_every_link_of_the_site_leads_somewhere(site):
    assert dead_links(read_all(site), site) == []


def test_every_page_has_a_language_a_title_and_one_first_heading(site):
    for name, found in read_all(site).items():
        assert found.language == "en", name
        assert found.title.strip(), name
        assert found.headings.count(1) == 1, name


def test_no_page_skips_a_level_of_headings(site):
    assert [name for name, found in read_all(site).items() if skipped_headings(found)] == []


def test_every_picture_frame_and_field_has_a_name(site):
    for name, found in read_all(site).items():
        assert found.nameless == [], name
        unlabelled = [
            f for f in found.fields if f.get("id") not in found.labelled and not any(key in f for key in _NAMED)
        ]
        assert unlabelled == [], name


def test_search_menus_and_headings_of_tables_have_names(site):
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r'role="dialog"(?! aria-label="Search")', text), file.name
        menus = re.findall(r'<nav class="md-nav" data-md-level="[^0]"([^>]*)>', text)
        assert menus
        assert [menu for menu in menus if not re.search(r'aria-label="[^"]+"', menu)] == [], file.name
        assert not re.search(r"<th[^>]*>\s*</th>", text), file.name


def test_no_page_has_an_id_twice(site):
    for name, found in read_all(site).items():
        assert sorted(found.ids) == sorted(set(found.ids)), name


def test_the_checks_of_a_page_can_fail(tmp_path):
    bad = read('<html><h1>A</h1><h3 id=x>B</h3><img src=a.png><a href="#y">c</a><input id=q>')
    assert skipped_headings(bad)
    assert bad.nameless
    assert bad.fields
    assert dead_links({"a.html": bad}, tmp_path) == ["a.html: #y"]
    assert bad.language == bad.title == ""


def test_every_picture_of_a_page_has_words_for_those_who_do_not_see_it():
    for file in DOCS.rglob("*.md"):
        assert not re.search(r"!\[\s*\]\(", file.read_text(encoding="utf-8")), file.name


def test_every_equation_in_latex_is_typeset(site):
    math = (site / "math.html").read_text(encoding="utf-8")
    assert math.count('<div class="equations"') == (DOCS / "math.md").read_text(encoding="utf-8").count("```math")
    assert "begin{aligned}" not in "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.html"))


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, #rrggbb, as the Web Content Accessibility Guidelines define it: from 1 to 21."""
    lights = []
    for colour in (one, other):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize(("scheme", "ground"), [("default", "#ffffff"), ("slate", "#1e2129")])
def test_links_stand_out_from_the_ground(scheme, ground):
    style = (DOCS / "style.css").read_text(encoding="utf-8")
    rules = style.split(f'[data-md-color-scheme="{scheme}"] {{', 1)[1].split("}", 1)[0]
    for name in ("--md-typeset-a-color", "--md-accent-fg-color"):
        colour = re.search(rf"{name}: (#\w{{6}});", rules)
        assert colour, name
        assert contrast(colour[1], ground) > 4.5, name


def test_contrast_is_that_of_the_guidelines():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_no_asterisk_of_an_equation_is_taken_for_emphasis(site):
    emphasized = re.findall(r"<em>(.*?)</em>", (site / "math.html").read_text(encoding="utf-8"), re.DOTALL)
    assert emphasized
    assert [text for text in emphasized if re.search(r"[=^_(]", text)] == []


def test_the_search_works_from_disk(site):
    assert (site / "search" / "search_index.js").is_file()
    assert "iframe-worker.js" in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted([*ESTIMATORS, *VECTOR_ESTIMATORS]))
def test_the_reference_shows_each_parameter_with_its_own_default(site, name):
    kind = getattr(import_module("stickbreak"), name)
    file = "-".join(re.findall(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z][a-z]+", name)).lower()
    text = (site / "reference" / f"{file}.html").read_text(encoding="utf-8")
    for key in ("alpha", "gamma", "eta"):
        parameter = inspect.signature(kind).parameters.get(key)
        if parameter is None:
            continue
        shown = re.search(rf"<b><code>{key}</code></b>.*?default:\s*<code>(.*?)</code>", text, re.DOTALL)
        assert shown, key
        assert shown[1] == str(parameter.default)
