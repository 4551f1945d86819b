"""What all tests share: the marker `data`, the seed, a fresh interpreter, a model small enough to be checked by hand.

STICKBREAK_DATA names the folder of the real corpora (without it their tests are skipped); STICKBREAK_TEST_SEED moves
the seed of the tests that take the fixture `seed`.

BLAS has one thread, here and in children, unless OPENBLAS_NUM_THREADS says otherwise: the matrices of tests are small,
its threads would wait for each other in loops, and `pytest -n` has a process for each core. A test that is about the
threads of BLAS asks for them itself.
"""

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy reads it when it is imported

import numpy as np
import pytest
from hypothesis import settings

DATA = "STICKBREAK_DATA"
settings.register_profile("side by side", deadline=None)  # a clock says little where many tests run at a time
settings.load_profile("side by side")


LONG = (  # left to `make test-long`; patterns of paths below tests/
    *("*/test_on_a_cluster.py", "fitting/test_cluster.py", "fitting/test_fits_on_*.py"),  # processes that start and die
    *(
        "report/test_browser*.py",
        "test_site.py",
        "docs/*",
        "examples/*",
        "benchmarks/*",
    ),  # pages, and what stands on them
    *(
        "questions/test_changed_words_noise.py",
        "questions/test_regression_coverage.py",
        "topics/test_columns.py",
        "topics/test_columns_coverage.py",
        "topics/test_prevalence.py",
        "fuzz/*",
        "contract/test_scikit_learn_checks.py",
        "contract/test_what_is_given.py",
    ),  # trials by chance
    *("sampling/test_max_topics.py", "sampling/test_exact_posteriors.py", "sampling/test_geweke.py"),  # long laws
    "backoff_tree/test_learned_planted.py",
    *("sampling/test_word_priors.py", "sampling/test_subtopics.py"),
    *("variational/test_planted.py", "variational/test_vector_births.py", "variational/moves/test_log.py"),
    *("test_typing.py", "test_contributing.py"),  # mypy and pip
    *(
        "cli/test_methods.py",
        "cli/test_prevalence.py",
        "numerics/test_compiling.py",
        "numerics/test_borrowed_arrays.py",
    ),  # compiling
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    root = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(root) and any(item.path.relative_to(root).match(pattern) for pattern in LONG):
            item.add_marker(pytest.mark.long)
    if os.environ.get(DATA):
        return
    skip = pytest.mark.skip(reason=f"needs the real corpora: set {DATA} to their folder")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)


@contextmanager
def _two_processes() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as made:
        made.wait_for_workers(2, timeout=600)
        yield made


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Start two processes that the tests of a file share. A test that kills or adds one takes `own_client`."""
    with _two_processes() as made:
        yield made


@pytest.fixture
def own_client() -> Iterator[Any]:
    """Start two processes for one test, which may kill them."""
    with _two_processes() as made:
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Collect no garbage while tests are found, of which there is hardly any: it would be a third of that time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Leave tests and modules, which stay, out of garbage collections: in a forked process each would copy them all.

    What Numba and shared fits leave is looked through less often than Python does by itself.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5000, 10, 20)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for tests alone, not for examples in their docstrings, which have none."""
    return [found for found in (yield) if type(found) is pytest.Module]


@pytest.fixture
def data_folder() -> Path:
    """The folder of the real corpora."""
    folder = Path(os.environ[DATA])
    assert folder.is_dir(), f"{DATA} is {folder}, which is no folder"
    return folder


@pytest.fixture
def seed() -> int:
    """The seed of the whole suite."""
    return int(os.environ.get("STICKBREAK_TEST_SEED", "0"))


@pytest.fixture
def fresh_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs code in a new interpreter, warnings as errors; `arguments` are its sys.argv[1:]."""

    def run(code: str, *arguments: object, returncode: int = 0) -> subprocess.CompletedProcess[str]:
        ours = ["-W", "error", "-W", "ignore::DeprecationWarning:typer"]  # old typers name what newer clicks deprecate
        command = [sys.executable, *ours, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        assert done.returncode == returncode, f"exit code {done.returncode}:\n{done.stderr}"
        return done

    return run


@dataclass
class FixedModel:
    """Topics given; the weights of a document are looked up by a function of the documents."""

    topic_word_: np.ndarray
    weights: Any  # Corpus -> (D, K + 1)
    rest_word_: np.ndarray
    vocabulary_: tuple[str, ...]
    topic_weights_: np.ndarray = field(default_factory=lambda: np.ones(1))
    trace_: dict = field(default_factory=dict)

    @property
    def n_topics_(self):
        return len(self.topic_word_)

    def expected_weights(self, X):
        return self.weights(X)

    def transform(self, X):
        active = self.weights(X)[:, :-1]
        return active / active.sum(axis=1, keepdims=True)


@pytest.fixture
def make_model():
    """Return a function from topics and weights to a model."""

    def make(topic_word, weights, rest_word=None, vocabulary=None):
        phi = np.asarray(topic_word, dtype=float)
        n_words = phi.shape[1]
        rest = np.full(n_words, 1 / n_words) if rest_word is None else np.asarray(rest_word)
        words = tuple(f"w{w}" for w in range(n_words)) if vocabulary is None else tuple(vocabulary)
        return FixedModel(phi, weights, rest, words)

    return make
