"""The estimators that the contract is about. A new family joins by one more entry of `ESTIMATORS`."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.methods import OWN, estimator_of, methods

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Entry:
    """An estimator and how to make a small one of it."""

    name: str
    small: dict[str, Any]  # parameters of a fit of milliseconds
    fixed_topics: dict[str, Any]  # parameters that keep the number of topics and of laps as they are given
    takes_weights: bool = True  # fractional weights, not only counts
    unseen_topics: bool = True  # whether there may be topics beyond those of the fit
    least_topics: int = 1  # that a fit with n_topics=1 has
    flat_documents: bool = True  # whether the weights of a document have one Dirichlet prior
    failing_checks: dict[str, str] = field(default_factory=dict)  # scikit-learn's check -> why it cannot pass

    def make(self, **changes: Any) -> Any:
        return estimator_of(self.name)(**{**self.small, **changes})


ESTIMATORS = [
    Entry(
        "TopicModel",
        small={"n_topics": 5, "n_laps": 3, "random_state": 0},
        fixed_topics={},
        takes_weights=False,
        unseen_topics=False,
    ),
    Entry(
        "GibbsHDP",
        small={
            "n_topics": 5,
            "n_laps": 3,
            "gamma": 1e-3,
            "learn": (),
            "init": "random",
            "subtopic_trials": 0,
            "estimate": "last",
            "random_state": 0,
        },
        fixed_topics={"gamma": 1e-12, "init": "single"},
        takes_weights=False,
    ),
    Entry(
        "HybridHDP",
        small={"n_topics": 5, "n_laps": 3, "batch_size": 20, "random_state": 0},
        fixed_topics={"learning_offset": 1e3},
        takes_weights=False,
    ),
    Entry(
        "LDA",
        small={"n_topics": 5, "n_laps": 3, "random_state": 0},
        fixed_topics={},
        unseen_topics=False,
    ),
    Entry(
        "Pachinko",
        small={"n_super": 2, "n_topics": 5, "n_laps": 30, "random_state": 0},
        fixed_topics={},
        takes_weights=False,
        unseen_topics=False,
        flat_documents=False,
    ),
    Entry(
        "HierarchicalPachinko",
        small={"n_super": 1, "n_topics": 3, "n_laps": 30, "random_state": 0},
        fixed_topics={},
        takes_weights=False,
        unseen_topics=False,
        least_topics=3,
        flat_documents=False,
    ),
    Entry(
        "OnlineHDP",
        small={"n_topics": 5, "n_tables": 4, "n_laps": 3, "batch_size": 20, "random_state": 0},
        fixed_topics={"learning_offset": 1e3},
    ),
    Entry(
        "SplitMergeOnlineHDP",
        small={"n_topics": 5, "max_topics": 5, "merge_trials": 0, "n_laps": 3, "batch_size": 20, "random_state": 0},
        fixed_topics={"learning_offset": 1e3, "split_trials": 0, "merge_trials": 0},
    ),
    Entry(
        "VariationalHDP",
        small={"n_topics": 5, "n_laps": 3, "init_sweeps": 3, "random_state": 0},
        fixed_topics={"moves": (), "tolerance": 0.0},
    ),
]

# These have too many topics for dense tables of documents or words, or no number of topics to begin with; tests of
# their own, beside those of their family, take the place of this contract, but for scikit-learn's checks.
SPARSE = [
    Entry(
        "BackoffTreeTopics",
        small={"branching": (2, 3), "n_laps": 3, "random_state": 0},
        fixed_topics={},
        takes_weights=False,
    ),
    Entry("NestedCRP", small={"n_laps": 3, "random_state": 0}, fixed_topics={}, takes_weights=False),
    Entry(
        "NestedHDP",
        small={"branching": (4, 2), "n_laps": 3, "batch_size": 20, "random_state": 0},
        fixed_topics={},
    ),
]

KINDS: dict[str, Callable[[Corpus], Any]] = {
    "Corpus": lambda corpus: corpus,
    "csr_matrix": lambda corpus: sparse.csr_matrix(corpus.counts),
    "csr_array": lambda corpus: sparse.csr_array(corpus.counts),
    "coo_array": lambda corpus: sparse.coo_array(corpus.counts),
    "int ndarray": lambda corpus: corpus.counts.toarray(),
    "float ndarray": lambda corpus: corpus.counts.toarray().astype(np.float64),
    "float32 ndarray": lambda corpus: np.asfortranarray(corpus.counts.toarray(), dtype=np.float32),
    "DataFrame": lambda corpus: pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the baselines to `make test-long`."""
    names = {method.estimator for method in methods().values()} - {method.estimator for method in OWN.values()}
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        if item.path.parent == FOLDER and any(getattr(p, "name", p) in names for p in params.values() if _named(p)):
            item.add_marker(pytest.mark.long)


def _named(value: Any) -> bool:
    return isinstance(value, str | Entry)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every test of this folder the estimators, and the kinds of X where it asks for them."""
    if "check" in metafunc.fixturenames:
        own = {method.estimator for method in OWN.values()}  # five of them; what baselines share, these show
        entries = [entry for entry in (*ESTIMATORS, *SPARSE) if entry.name in own]
        failing = {entry.name: entry.failing_checks for entry in entries}
        mark = parametrize_with_checks(
            [entry.make() for entry in entries],
            expected_failed_checks=lambda estimator: failing[type(estimator).__name__],
        ).mark
        names, checks = mark.args
        metafunc.parametrize(names, list(checks), **mark.kwargs)  # scikit-learn before 1.7 gives a generator
    if "as_kind" in metafunc.fixturenames:  # one function makes counts of X for all estimators
        metafunc.parametrize("entry", ESTIMATORS[:1], ids=lambda entry: entry.name)
        metafunc.parametrize("as_kind", list(KINDS.values()), ids=list(KINDS))
    elif "entry" in metafunc.fixturenames:
        metafunc.parametrize("entry", ESTIMATORS, ids=lambda entry: entry.name)


@pytest.fixture
def takes_weights(estimator) -> bool:
    """Whether the estimator that a check is given takes fractions."""
    return next(entry.takes_weights for entry in (*ESTIMATORS, *SPARSE) if entry.name == type(estimator).__name__)


@pytest.fixture
def corpus(seed) -> Corpus:
    """Forty short documents with named words, one of which never occurs and one document empty."""
    drawn, _ = planted_lda(40, 30, n_topics=4, mean_tokens=30, seed=seed)
    counts = drawn.counts.toarray()
    counts[:, 7] = 0
    counts[11] = 0
    return Corpus.from_counts(counts, vocabulary=[f"word{w}" for w in range(30)])


@pytest.fixture(scope="session")
def fitted() -> dict[str, Any]:
    """The small estimators that were fitted, by name; not to be changed."""
    return {}


@pytest.fixture
def model(entry, corpus, fitted) -> Any:
    """The small estimator, fitted to the corpus; a copy for each test."""
    if entry.name not in fitted:
        fitted[entry.name] = entry.make().fit(corpus)
    return copy.deepcopy(fitted[entry.name])


@pytest.fixture
def model_of_kind(entry, corpus, as_kind, fitted) -> Any:
    """The small estimator, fitted to the corpus in a kind of X; a copy for each test."""
    key = f"{entry.name} {next(name for name, kind in KINDS.items() if kind is as_kind)}"
    if key not in fitted:
        fitted[key] = entry.make().fit(as_kind(corpus))
    return copy.deepcopy(fitted[key])


@pytest.fixture
def models(corpus) -> dict[str, Any]:
    """Every small estimator by its name, fitted to the corpus."""
    return {entry.name: entry.make().fit(corpus) for entry in ESTIMATORS}


@pytest.fixture
def assert_same_fit() -> Callable[[Any, Any], None]:
    """Return a function that compares all that two fits have learned, bit for bit (time aside)."""

    def compare(left: Any, right: Any) -> None:
        names = {name for name, _ in learned(left)}
        assert names == {name for name, _ in learned(right)}
        assert {"topic_word_", "components_", "topic_weights_", "trace_"} <= names
        found = dict(learned(right))
        for name, value in learned(left):
            if name == "trace_":
                assert value.keys() == found[name].keys()
                for column in value.keys() - {"seconds"}:
                    np.testing.assert_array_equal(value[column], found[name][column], err_msg=f"trace_ {column}")
            else:
                np.testing.assert_array_equal(np.asarray(value), np.asarray(found[name]), err_msg=name)

    return compare


def learned(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public attributes that end in an underscore, measured times aside."""
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_") and "seconds" not in name and hasattr(model, name):
            yield name, getattr(model, name)
