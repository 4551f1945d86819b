"""What makes the blocks of a page quick: a small sample, few passes, one cluster."""

from contextlib import ExitStack

import pytest

from stickbreak.corpus.examples.standard_library import standard_library_docstrings
from stickbreak.fitting import cluster
from stickbreak.model import estimator
from stickbreak.sampling.laps import GibbsLaps

from .blocks import has_all_passes

MOST_PASSES = 20


@pytest.fixture(scope="session")
def sample():
    """Documentation strings of the standard library, one in twelve: enough for every page, and soon fitted."""
    names, texts = standard_library_docstrings()
    return names[::12], texts[::12]


@pytest.fixture
def small_sample(tmp_path, monkeypatch, sample):
    """Work in an empty folder, with a small sample."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("stickbreak.corpus.examples.standard_library.standard_library_docstrings", lambda: sample)


@pytest.fixture
def few_passes(monkeypatch, name):
    """Let fits of a page end after some passes: it shows that its lines go together, not how good the topics are.

    Samplers keep their number, of which the first half are no samples.
    """
    if has_all_passes(name):
        return
    run_fit = estimator.run_fit

    def run_briefly(laps, *, n_laps, trace=None, **options):
        done = 0 if trace is None else len(trace)
        most = n_laps if isinstance(laps, GibbsLaps) else done + MOST_PASSES
        return run_fit(laps, n_laps=min(n_laps, most), trace=trace, **options)

    monkeypatch.setattr(estimator, "run_fit", run_briefly)


@pytest.fixture
def one_cluster(monkeypatch):
    """Let all blocks of a page that ask for some processes use the same ones."""
    start, started = cluster._client, {}

    def client(where, distributed, stack):
        if not isinstance(where, int):
            return start(where, distributed, stack)
        if where not in started:
            started[where] = start(where, distributed, processes)
        return started[where]

    with ExitStack() as processes:
        monkeypatch.setattr(cluster, "_client", client)
        yield
