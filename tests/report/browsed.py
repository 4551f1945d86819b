"""A browser for the tests of reports, and reports for it to open."""

import shutil
from dataclasses import dataclass, field, replace
from unittest.mock import patch

import numpy as np
from tests.report.conftest import SmallModel

import stickbreak
import stickbreak_baselines
from stickbreak.comparison import found_again
from stickbreak.corpus import Corpus, planted_gaussians, planted_lda
from stickbreak.questions.topic_map import map_positions
from stickbreak.report import build_component_report, build_map, build_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NASTY = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\u202eevil", "=cmd|' /C calc'!A0"]
COPIED = "navigator.clipboard.writeText = async (text) => { window.copied = text; };"
NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
K = 24
SAME_BEGINNINGS = (
    "python, django, web",
    "python, pandas, table",
    "python, django, template",
    "encryption of mail",
    "python, parser, grammar",
    "python, django, query",
)
TITLE = "</title><img src=x onerror=alert(3)> & more"


@dataclass
class Opened:
    """A page of a report, and what went wrong on it so far."""

    page: object
    problems: list = field(default_factory=list)

    def watch(self, own):
        """Note errors, dialogs, and requests for anything but the file itself."""
        self.page.on("console", lambda told: self.problems.append(told.text) if told.type != "log" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message) or dialog.dismiss())
        self.page.on("request", lambda request: None if request.url == own else self.problems.append(request.url))

    def go(self, place):
        """Follow an address within the report."""
        self.follow(lambda: self.page.evaluate("place => { location.hash = place; }", place))

    def follow(self, act):
        """Do what changes the address, and wait until the page has answered."""
        self.page.evaluate(
            """() => {
                window.turned = new Promise(
                    (done) => addEventListener("hashchange", () => setTimeout(done), { once: true }));
            }"""
        )
        act()
        self.page.evaluate("window.turned")

    def walk(self):
        """Scroll to the end, so that all charts are drawn, and wait until they are."""
        self.page.evaluate(
            """async () => {
                for (let y = 0; y < document.body.scrollHeight; y += 500) {
                    scrollTo(0, y);
                    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
                }
            }"""
        )
        self.page.wait_for_function(
            """() => [...document.querySelectorAll(".plot")].every((plot) =>
                plot.closest("[hidden], details:not([open])") || plot.classList.contains("message")
                || (plot.querySelector(".main-svg") && !plot.ariaBusy))"""
        )

    def overflow(self):
        """Return by how many pixels the page is wider than the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    def texts(self, selector):
        """Return the texts of all that is found."""
        return self.page.locator(selector).all_inner_texts()

    def number(self, selector):
        """Return how many are found."""
        return self.page.locator(selector).count()


def browser_path():
    """Return the path of a browser that is installed, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def words_report():
    """Return a report of planted topics with hostile words and names, dates and two columns of classes."""
    rng = np.random.default_rng(0)
    words = [*NASTY, *(f"word{w}" for w in range(116))]
    phi = rng.dirichlet([0.05] * len(words), K)
    theta = rng.dirichlet([0.08] * K, 240)
    counts = np.array([rng.multinomial(40, weights @ phi) for weights in theta])
    columns = {
        "day": [str(np.datetime64("2021-01-10") + 5 * d) for d in range(240)],
        "list": [("news", "mail", NASTY[1])[d % 3] for d in range(240)],
        "draft": [d % 2 == 0 for d in range(240)],
    }
    names = [f'{NASTY[d % 4]} {d}, "quoted"' for d in range(240)]
    corpus = Corpus.from_counts(counts, words, names, metadata=columns)
    texts = [f"{' '.join(words[w] for w in row.nonzero()[0])} {NASTY[0]}" for row in counts]
    model = SmallModel(phi, {}, tuple(words), topic_weights_=np.full(K, 0.99 / K))
    return build_report(
        model, corpus, texts=texts, weights=theta, title=TITLE, by="quarter", held_out=-6.5, unigram=-7.0
    )


def growing_report():
    """Return a report in which topic 2 grows and topics 0 and 4 shrink, with labels that begin with the same word."""
    rng = np.random.default_rng(0)
    words = [f"word{w}" for w in range(60)]
    phi = rng.dirichlet([0.05] * len(words), 6)
    time = np.linspace(0, 1, 300)
    mean = np.tile([3.0, 2.0, 1.0, 1.0, 1.0, 1.0], (300, 1))
    mean[:, 2], mean[:, 4], mean[:, 0] = 0.2 + 4 * time, 0.2 + 2 * (1 - time), 5 - 3 * time
    theta = np.array([rng.dirichlet(row) for row in mean])
    counts = np.array([rng.multinomial(60, weights @ phi) for weights in theta])
    days = [str(np.datetime64("2015-01-10") + 7 * d) for d in range(300)]
    corpus = Corpus.from_counts(counts, words, metadata={"day": days})
    model = SmallModel(phi, {}, tuple(words), topic_weights_=theta.mean(axis=0))
    data = build_report(model, corpus, weights=theta, by="quarter")
    named = [replace(t, label=label) for t, label in zip(data.topics, SAME_BEGINNINGS, strict=True)]
    return replace(data, topics=tuple(named))


def tree_report():
    """Return the report of a small tree."""
    documents = planted_lda(60, 40, n_topics=5, mean_tokens=25, seed=0)[0]
    model = stickbreak.BackoffTreeTopics(branching=(3, 2, 5), n_laps=4, random_state=0).fit(documents)
    return build_report(model, documents)


def grown_tree_report():
    """Return the report of a tree whose inner nodes are topics with words of their own."""
    documents = planted_lda(60, 40, n_topics=5, mean_tokens=25, seed=0)[0]
    return build_report(stickbreak_baselines.NestedCRP(n_laps=10, random_state=0).fit(documents), documents)


def classes_report():
    """Return a report of 40 topics in 30 groups at a glance, with 20 classes of long names and with dates."""
    rng = np.random.default_rng(0)
    words = [f"word{w}" for w in range(80)]
    phi, theta = rng.dirichlet([0.05] * 80, 40), rng.dirichlet([0.05] * 40, 200)
    columns = {
        "day": [str(np.datetime64("2021-01-10") + 5 * d) for d in range(200)],
        "list": [f"a class with a long name {d % 20}" for d in range(200)],
    }
    corpus = Corpus.from_counts(np.array([rng.multinomial(40, row @ phi) for row in theta]), words, metadata=columns)
    data = build_report(SmallModel(phi, {}, tuple(words), topic_weights_=np.full(40, 0.02)), corpus, weights=theta)
    return replace(data, path=replace(data.path, overview=30))


def path_report():
    """Return the report of a small model with a path of joins whose last has a label, and with fits of other seeds."""
    documents = planted_lda(120, 40, n_topics=5, mean_tokens=40.0, seed=0)[0]
    model = stickbreak.TopicModel(n_topics=12, n_laps=4, random_state=0).fit(documents)
    model.find_path(documents)
    model.start_seconds_ = 2.5
    model.label({2 * model.n_topics_ - 2: "all of it"})
    return build_report(model, documents, stability=found_again(model, 2, documents))


def map_report():
    """Return a map of a sample of documents with hostile names and texts; every seventh has the word needle."""
    documents = planted_lda(300, 60, n_topics=6, alpha=0.05, mean_tokens=60.0, seed=0)[0]
    texts = [f"{NASTY[d % 4]} {'Needle' if d % 7 == 0 else 'hay'} of document {d}" for d in range(300)]
    documents = replace(documents, names=tuple(f"{NASTY[d % 4]} {d}" for d in range(300)))
    model = stickbreak.TopicModel(n_topics=60, n_laps=4, random_state=0).fit(documents)
    model.label({0: NASTY[1]})
    return build_map(model, documents, texts=texts, title=TITLE, max_documents=250)


def vectors_report():
    """Return the report of a small model of vectors."""
    groups = planted_gaussians(n_groups=12, n_vectors=30, n_components=3, seed=0)[0]
    model = stickbreak.GaussianHDP(n_components=4, likelihood="full", n_laps=5, random_state=0).fit(groups)
    return build_component_report(model, groups)


def large_report():
    """Return a report of 1,000 topics that says it is of 1,000,000 documents, which the page cannot tell."""
    rng = np.random.default_rng(0)
    words = [f"word{w}" for w in range(300)]
    corpus = Corpus.from_counts(rng.poisson(0.1, (300, 300)), vocabulary=words)
    model = SmallModel(rng.dirichlet([0.05] * 300, 1000), {}, tuple(words), topic_weights_=np.full(1000, 0.99 / 1000))
    with patch("stickbreak.report.build.neighbour_map", map_positions):
        data = build_report(model, corpus, weights=rng.dirichlet([0.02] * 1000, 300), n_examples=1)
    return replace(data, corpus=replace(data.corpus, n_documents=1_000_000, n_described=100_000))
