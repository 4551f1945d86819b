"""The page of two models: a bar and a line for every topic, bands as wide as what topics share, texts as texts."""

import json
import re

import pytest

import stickbreak
from stickbreak import Corpus
from stickbreak.comparison import align
from stickbreak.plots.figures import shared_topics
from stickbreak.report import render_comparison

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
def ribbons(page):
    figures = re.search(r'id="figures">(.*?)</script>', page, re.DOTALL)[1]
    (drawn,) = json.loads(figures)["ribbons"]["data"]
    return drawn


def test_bands_are_as_wide_as_what_topics_share(ribbons, found):
    numbers = [int(text.split()[0]) for text in ribbons["node"]["customdata"]]
    K = found.shared.shape[0]
    assert sorted(numbers[:K]) == list(range(K))
    link = ribbons["link"]
    drawn = {
        (numbers[a], numbers[b]): value
        for a, b, value in zip(link["source"], link["target"], link["value"], strict=True)
    }
    assert set(drawn) == set(zip(*(found.shared >= 0.001).nonzero(), strict=True))
    for pair, value in drawn.items():
        assert value == pytest.approx(found.shared[pair], rel=1e-5)


def test_topics_without_a_band_have_no_bar_that_would_displace_the_others():
    sides = ([(0, "a", 0.6), (1, "b", 0.0), (2, "c", 0.4)], [(7, "d", 0.4), (8, "e", 0.6)])
    (drawn,) = shared_topics(("m", "n"), sides, {(0, 8): 0.6, (2, 7): 0.4, (1, 7): 1e-5}, {(0, 8)})["data"]
    node, link = drawn["node"], drawn["link"]
    assert node["label"] == ("a", "c", "d", "e")
    assert len(node["x"]) == len(node["y"]) == len({*link["source"], *link["target"]}) == 4
    ends = zip(link["source"], link["target"], strict=True)
    assert [(node["label"][a], node["label"][b]) for a, b in ends] == [("a", "e"), ("c", "d")]


@pytest.mark.parametrize("viewport", ["NARROW", "WIDE"])
def test_the_page_fits_the_screen_with_all_of_its_table(browser, page, tmp_path, viewport):
    from tests.report import browsed

    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    context = browser.new_context(viewport=getattr(browsed, viewport), offline=True)
    opened = browsed.Opened(context.new_page())
    opened.watch((tmp_path / "page.html").as_uri())
    opened.page.goto((tmp_path / "page.html").as_uri())
    opened.walk()
    assert opened.overflow() <= 0
    parts = "[...document.querySelectorAll('.sheet, .compared td, .compared tr')]"
    assert opened.page.evaluate(f"{parts}.filter((one) => one.scrollWidth > one.clientWidth + 1).length") == 0
    assert opened.page.get_by_role("cell", name="0.", exact=False).count() > 0
    assert opened.problems == []
    context.close()


def test_no_text_becomes_markup_and_nothing_is_loaded(page):
    assert "<script>alert" not in page
    assert "<i>w" not in page
    assert "b &amp; c" in page
    assert "default-src 'none'" in page
    assert set(re.findall(r' (?:src|href)="([^"]*)"', page)) <= {"#home", "#ribbons", "#topics"}


def test_leaves_of_a_tree_are_compared_by_their_numbers():
    corpus, _ = stickbreak.corpus.toy_bars(n_documents=60, seed=0)
    trees = [stickbreak.BackoffTreeTopics(branching=(3, 5), n_laps=3, random_state=seed).fit(corpus) for seed in (0, 1)]
    found = align(*trees)
    page = render_comparison((trees[0], trees[1]), ("a", "b"), found.table, found.shared)
    assert page.count("<tr role") == len(found.table) + 1
