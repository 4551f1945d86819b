"""The page of two models: every topic has a bar and a line, bands are as wide as what topics share, texts are texts."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import stickbreak
from stickbreak import Corpus
from stickbreak.comparison import align
from stickbreak.exceptions import WriteError
from stickbreak.report import render_comparison, write_comparison

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("<script>alert(1)</script>", "b & c")


def fitted(seed, n_topics):
    counts = stickbreak.corpus.toy_bars(n_documents=60, seed=0)[0].counts
    corpus = Corpus.from_counts(counts, [f"<i>w{w}</i>" for w in range(counts.shape[1])])
    settings = {"n_laps": 5, "random_state": seed}
    return stickbreak.TopicModel(n_topics=n_topics, **settings).fit(corpus)


@pytest.fixture(scope="module")
def models():
    return fitted(0, 5), fitted(1, 7)


@pytest.fixture(scope="module")
def found(models):
    return align(*models)


@pytest.fixture(scope="module")
def page(models, found):
    return render_comparison(models, NAMES, found.table, found.shared)


@pytest.fixture(scope="module")
def drawn(page):
    return ElementTree.fromstring(re.search("<svg.*</svg>", page, re.S)[0].replace("<svg", f'<svg xmlns="{SVG[1:-1]}"'))


def bars(drawn):
    """Places (x, y) and heights by what stands in the titles."""
    return {
        (float(bar.get("x")), int(bar[0].text.split()[0])): (float(bar.get("y")), float(bar.get("height")))
        for bar in drawn.iter(f"{SVG}rect")
    }


def test_every_topic_has_a_bar_as_high_as_its_share(drawn, found):
    places = bars(drawn)
    left = min(x for x, _ in places)
    for x, shared in ((left, found.shared.sum(axis=1)), (max(x for x, _ in places), found.shared.sum(axis=0))):
        heights = np.array([places[x, k][1] for k in range(shared.size)])
        large = shared > 0.05
        np.testing.assert_allclose(
            heights[large] / heights[large].sum(), shared[large] / shared[large].sum(), atol=1e-3
        )


def test_bands_are_as_wide_as_what_topics_share_and_stay_in_their_bars(drawn, found):
    places = bars(drawn)
    xs = sorted({x for x, _ in places})
    bands = list(drawn.iter(f"{SVG}path"))
    assert len(bands) == (found.shared >= 0.001).sum()
    widest = max(float(re.search(r"v([\d.]+)C", band.get("d"))[1]) for band in bands)
    for band in bands:
        a, b = map(int, re.match(r"(\d+) and (\d+):", band[0].text).groups())
        wide = float(re.search(r"v([\d.]+)C", band.get("d"))[1])
        assert wide / widest == pytest.approx(found.shared[a, b] / found.shared.max(), abs=1e-3)
        begin = float(re.match(r"M[\d.]+,([\d.]+)C", band.get("d"))[1])
        end = float(re.search(r" [\d.]+,([\d.]+)v", band.get("d"))[1])
        for (y, tall), at in ((places[xs[0], a], begin), (places[xs[1], b], end)):
            assert y - 0.02 <= at
            assert at + wide <= y + tall + 0.05


def test_every_topic_has_a_line_with_its_words(page, models, found):
    assert page.count("<tr ") == len(found.table) + 1
    for model in models:
        for words in model._relevant(np.arange(model.n_topics_), 3):
            assert " ".join(words).replace("<", "&lt;").replace(">", "&gt;") in page


def test_the_lead_counts_what_became_of_every_topic(page, found):
    (lead,) = re.findall('<p class="lead">(.*?)</p>', page)
    of_first = found.table[found.table["topic_a"] >= 0]
    told = [int(number) for number in re.findall(r"\d+", lead.partition(". ")[0].replace("alert(1)", ""))]
    assert told[1] == len(of_first) == told[0] + sum(told[2:])
    n_new = (found.table["what"] == "new").sum()
    assert lead.endswith(f"{n_new} of 7 topics of b &amp; c {'is' if n_new == 1 else 'are'} new.")


@pytest.mark.parametrize(("viewport", "shown"), [("NARROW", "short"), ("WIDE", "long")])
def test_the_page_fits_the_screen_with_all_of_its_table(browser, page, tmp_path, viewport, shown):
    from tests.report import browsed

    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    context = browser.new_context(viewport=getattr(browsed, viewport), offline=True)
    opened = context.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    parts = "[...document.querySelectorAll('.sheet, .compared td, .compared tr')]"
    assert opened.evaluate(f"{parts}.filter((one) => one.scrollWidth > one.clientWidth + 1).length") == 0
    seen = "[...document.querySelectorAll('.ribbons text')].filter((one) => getComputedStyle(one).display !== 'none')"
    assert {shown} == set(opened.evaluate(f"{seen}.map((one) => one.classList[one.classList.length - 1])"))
    assert opened.get_by_role("cell", name="0.", exact=False).count() > 0
    context.close()


def test_no_text_becomes_markup_and_nothing_is_loaded(page):
    assert "<script" not in page
    assert "<i>" not in page
    assert "b &amp; c" in page
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=", page)


def test_leaves_of_a_tree_are_compared_by_their_numbers():
    corpus, _ = stickbreak.corpus.toy_bars(n_documents=60, seed=0)
    trees = [stickbreak.BackoffTreeTopics(branching=(3, 5), n_laps=3, random_state=seed).fit(corpus) for seed in (0, 1)]
    found = align(*trees)
    page = render_comparison((trees[0], trees[1]), ("a", "b"), found.table, found.shared)
    assert page.count("<tr ") == len(found.table) + 1


def test_a_place_that_cannot_be_written_is_named(models, found, tmp_path):
    with pytest.raises(WriteError):
        write_comparison(models, NAMES, found.table, found.shared, tmp_path / "no" / "folder" / "page.html")
