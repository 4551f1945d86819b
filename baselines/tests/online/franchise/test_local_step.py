"""The local step of `OnlineHDP`: its bound, an independent twin, and gensim's HdpModel on the same minibatch."""

import json
from pathlib import Path

import numpy as np
import pytest
from baselines.tests.online.franchise import twin

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.franchise.local_step import EVEN, TOPICS, Globals, LocalSettings, local_step
from stickbreak_baselines.online.franchise.sticks import expected_beta, expected_log_beta

GENSIM = json.loads((Path(__file__).parents[2] / "data" / "gensim_hdp.json").read_text())
ETA, ALPHA, GAMMA = GENSIM["eta"], GENSIM["alpha"], GENSIM["gamma"]
ENDLESS = -np.inf  # tolerance of a step that does all its sweeps


def case(kind):
    """Return documents and globals, as they were given to gensim."""
    counts, S, tables = np.array(GENSIM["counts"]), np.array(GENSIM["S"]), np.array(GENSIM["tables"])
    counts = np.minimum(counts, 1) if kind == "ones" else counts
    minibatch = Minibatch.from_corpus(Corpus.from_counts(counts))
    elog = twin.log_topics(S, ETA)[minibatch.words]
    return minibatch, Globals(elog, expected_log_beta(tables, GAMMA), expected_beta(tables, GAMMA))


def run(minibatch, seen, *, sweeps, start=EVEN, tolerance=ENDLESS, n_tables=3, threads=1):
    with Engine(threads) as engine:
        return local_step(minibatch, seen, ALPHA, LocalSettings(n_tables, start, tolerance, sweeps), engine)


def bound(found, seen):
    """Return what the documents add to the bound."""
    return found.own + (found.S * seen.elog).sum() + found.tables @ seen.log_beta


def twins(minibatch, seen, sweeps, n_tables=3):
    """Return the documents of the twin after some sweeps, the first three without sticks, as in the published code."""
    found = []
    for low, high in zip(minibatch.indptr[:-1], minibatch.indptr[1:], strict=True):
        words = np.repeat(minibatch.word[low:high], minibatch.count[low:high].astype(int))
        if words.size:
            zeta = np.full((words.size, n_tables), 1 / n_tables)
            found.append(twin.Document(words, seen.elog, seen.log_beta, ALPHA, zeta))
            for i in range(sweeps):
                found[-1].sweep(sticks=i >= 3)
    return found


@pytest.mark.parametrize("sweeps", [4, 9])
def test_local_step_is_that_of_the_slow_twin(sweeps):
    minibatch, seen = case("counts")
    found, slow = run(minibatch, seen, sweeps=sweeps), twins(minibatch, seen, sweeps)
    parts = [one.statistics(minibatch.words.size) for one in slow]
    np.testing.assert_allclose(found.S, sum(S for S, _ in parts), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.tables, sum(M for _, M in parts), rtol=1e-9)
    assert bound(found, seen) == pytest.approx(sum(one.bound() for one in slow), rel=1e-11)


@pytest.mark.parametrize("kind", ["counts", "ones"])
def test_local_step_is_that_of_gensim(kind):
    minibatch, seen = case(kind)
    found, theirs = run(minibatch, seen, sweeps=GENSIM["sweeps"]), GENSIM["found"][kind]
    np.testing.assert_allclose(found.S, np.array(theirs["S"])[minibatch.words], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.tables, theirs["tables"], rtol=1e-7)
    ours = bound(found, seen)
    if kind == "ones":
        assert ours == pytest.approx(theirs["score"], rel=1e-9)
    else:  # gensim counts the entropy of a word and its table once, however often the word occurs
        assert abs(ours - theirs["score"]) > 0.1


@pytest.mark.parametrize("start", [EVEN, TOPICS])
def test_sweeps_never_lower_the_bound(start):
    minibatch, seen = case("counts")
    values = [bound(run(minibatch, seen, sweeps=n, start=start), seen) for n in range(4 if start == EVEN else 1, 30)]
    assert (np.diff(values) >= -1e-10).all()
    assert values[-1] > values[0] + 1e-3
