"""The benchmark of Pachinko allocation and trees of topics compares what it says, on a tiny collection."""

import argparse
from importlib.util import find_spec

import numpy as np
import pytest
from benchmarks.baselines import hierarchies
from benchmarks.harness.corpora import load

from stickbreak.evaluation import document_completion

TINY = "planted:60:50:3:40"


def options(**changes):
    given = {
        "corpora": [TINY],
        "super": 2,
        "topics": 3,
        "eta": 0.1,
        "tree_eta": 0.5,
        "branching": [2, 2],
        "passes": 5,
        "seeds": 1,
    }
    return argparse.Namespace(**{**given, **changes})


@pytest.mark.parametrize("kind", ["Pachinko", "HierarchicalPachinko", "NestedCRP", "NestedHDP"])
def test_score_of_our_models_is_their_own(kind):
    split = load(TINY)
    fitted, seconds = hierarchies.systems()[kind](split.train, options(), 0)
    assert seconds > 0
    assert fitted.topics.shape == (fitted.n_topics, split.train.n_words)
    found = hierarchies.completion(split, fitted)
    given = {"n_laps": 5, "random_state": 0}
    if kind == "NestedCRP":
        given |= {"eta": 0.5}
    elif kind == "NestedHDP":
        given |= {"n_laps": 1, "branching": [2, 2], "eta": 0.1}
    else:
        given |= {"n_super": 2, "n_topics": 3, "eta": 0.1, "tolerance": None}
    model = getattr(hierarchies, kind)(**given).fit(split.train)
    expected = document_completion(model, split.observed, split.held_out, seen=split.seen).active
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(find_spec("tomotopy") is None, reason="tomotopy is not installed")
@pytest.mark.parametrize("name", ["PAModel", "HPAModel", "HLDAModel"])
def test_models_of_tomotopy_are_read_as_ours_are(name):
    split = load(TINY)
    fitted, _ = hierarchies.systems()[f"tomotopy {name}"](split.train, options(), 0)
    np.testing.assert_allclose(fitted.topics.sum(axis=1), 1.0)
    assert -np.log(50) * 1.5 < hierarchies.completion(split, fitted) < 0
