"""A fitted model of three topics over six words and five documents, checked by hand."""

import re
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.report import write_report

WORDS = ("cat", "dog", "stock", "bond", "goal", "team")


@dataclass
class SmallModel:
    """The fitted surface of an estimator; each document's weights are looked up by its counts."""

    topic_word_: np.ndarray
    table: dict  # counts of a document, as bytes -> weights
    vocabulary_: tuple[str, ...] = WORDS
    moves_: tuple = ()
    topic_weights_: np.ndarray = field(default_factory=lambda: np.array([0.5, 0.3, 0.15]))
    trace_: dict = field(
        default_factory=lambda: {
            "objective": np.array([-9.0, -8.5, -8.25]),
            "n_topics": np.array([5, 4, 3]),
            "seconds": np.array([0.5, 0.25, 0.25]),
            "merge_gain": np.array([np.nan, 1.5, np.nan]),
        }
    )
    objective_name: str = "objective"
    unit: str = "token"
    objective_: float = -8.25
    learned_: list = field(default_factory=list)
    n_laps_: int = 3
    converged_: bool = True
    stop_reason_: str = "the objective rose by less than 0.001"
    start_seconds_: float = float("nan")  # of a model that does not say
    left_out_: tuple[str, ...] = ()
    asked: list = field(default_factory=list)

    @property
    def n_topics_(self):
        return len(self.topic_word_)

    @property
    def rest_word_(self):
        return np.full(self.topic_word_.shape[1], 1 / self.topic_word_.shape[1])

    def get_params(self, deep=True):
        return {
            "alpha": 0.5,
            "init": self.topic_word_,
            "moves": ("merge", "reorder"),
            "n_jobs": None,
            "callback": object(),
        }

    def transform(self, X):
        self.asked.append(X.n_documents)
        return np.array([self.table[row.tobytes()] for row in X.counts.toarray()])

    def expected_weights(self, X):
        return np.column_stack([self.transform(X) * 0.9, np.full(X.n_documents, 0.1)])


COUNTS = np.array(
    [
        [4, 4, 0, 0, 0, 0],
        [0, 0, 6, 4, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [40, 38, 2, 0, 0, 0],
        [1, 0, 0, 1, 10, 8],
    ],
    dtype=np.int32,
)
WEIGHTS = np.array([[1.0, 0, 0], [0, 1.0, 0], [0.5, 0.3, 0.2], [0.97, 0.03, 0], [0.05, 0.05, 0.9]])
PHI = np.array(
    [
        [0.5, 0.4, 0.05, 0.05, 0.0, 0.0],
        [0.0, 0.1, 0.5, 0.4, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.1, 0.5, 0.4],
    ]
)


@pytest.fixture
def model():
    return SmallModel(PHI, {row.tobytes(): w for row, w in zip(COUNTS, WEIGHTS, strict=True)})


@pytest.fixture
def corpus():
    names = ["pets", "money", "blank", "more pets", "sport"]
    return Corpus.from_counts(COUNTS, vocabulary=list(WORDS), names=names)


@pytest.fixture(scope="session")
def plotly_of():
    """Return a function from a page to the text that it holds plotly.js in."""
    return lambda page: re.search(r'<script type="text/plain" id="plotly">([^<]*)</script>', page)[1]


@pytest.fixture
def with_words(model, corpus):
    """Return a function that renames the words of model and corpus."""

    def rename(words, names=None):
        renamed = Corpus.from_counts(COUNTS, vocabulary=list(words), names=names or corpus.names)
        return replace(model, vocabulary_=tuple(words)), renamed

    return rename


@pytest.fixture(scope="module")
def browser():
    from tests.report import browsed  # which imports this file

    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs the package playwright (make test installs it)"
    )
    if (path := browsed.browser_path()) is None:
        pytest.skip(f"needs a browser: {' or '.join(browsed.BROWSERS)}")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Return a function from a kind of report to its file and what it says."""
    from tests.report import browsed

    folder, made = tmp_path_factory.mktemp("reports"), {}

    def of(kind):
        if kind not in made:
            made[kind] = getattr(browsed, f"{kind}_report")()
            write_report(made[kind], folder / f"{kind}.html")
        return folder / f"{kind}.html", made[kind]

    return of


@pytest.fixture
def opened(browser, reports):
    """Return a function that opens a report; at the end nothing may have gone wrong on any page."""
    from tests.report import browsed

    contexts, pages = [], []

    def open_report(kind="words", viewport=None, scheme="light", place=""):
        context = browser.new_context(
            viewport=viewport or browsed.WIDE, color_scheme=scheme, offline=True, reduced_motion="reduce"
        )
        context.set_default_timeout(600_000)
        context.add_init_script(browsed.COPIED)
        contexts.append(context)
        found = browsed.Opened(context.new_page())
        address = reports(kind)[0].as_uri()
        found.watch(address)
        found.page.goto(address + place)
        found.own = address
        pages.append(found)
        return found

    yield open_report
    for context in contexts:
        context.close()
    assert [found.problems for found in pages] == [[] for _ in pages]
