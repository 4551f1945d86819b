"""Seeds of a tree: leaves keep their numbers and names. test_exact_conditional.py has what is drawn beside them."""

import numpy as np
import pytest
from tests.steered_problems import documents, topics

import stickbreak
from stickbreak import BackoffTreeTopics

SEEDS = {"law": ["d0", "d1"], "war": ["c0", "c1"], "none": ["f0", "f1"]}  # the words of the last hardly occur
PATHS = ["a/1", "a/2", "b", "c/1/x", "c/1/y", "c/2"]
IN_PATHS = {"c/1/x": SEEDS["law"], "b": SEEDS["war"]}
KINDS = {
    "regular": {"branching": (4, 4), "seeds": SEEDS},
    "serial": {"branching": (4, 4), "seeds": SEEDS, "updates": "serial", "n_laps": 20},
    "stages": {"branching": (4, 4), "seeds": SEEDS, "stages": (1,)},
    "paths": {"branching": PATHS, "seeds": IN_PATHS},
}


@pytest.fixture(scope="module")
def corpus():
    return documents(300, [0, 1, 2, 3, 4], 0)


def fitted(corpus, **given):
    return BackoffTreeTopics(**{"n_laps": 30, "random_state": 0, **given}).fit(corpus)


def nearest(model, leaf):
    """Return the planted topic that a leaf is nearest to."""
    return int(np.argmax(np.sqrt(topics(5)) @ np.sqrt(model.word_distributions([leaf])[0])))


@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_topic_is_found_at_the_leaf_of_its_seed(corpus, kind, tmp_path):
    model = fitted(corpus, **KINDS[kind])
    leaves = [3, 2] if kind == "paths" else [0, 5, 10]
    assert model.seed_leaves_ == leaves
    assert model.labels_ == dict(zip(leaves, KINDS[kind]["seeds"], strict=True))
    assert [nearest(model, z) for z in leaves[:2]] == [3, 2]
    tokens = dict(zip(model.leaves_.tolist(), model.leaf_tokens_.tolist(), strict=True))
    assert min(tokens[z] for z in leaves[:2]) > 500
    assert sum(tokens.values()) == corpus.n_tokens == model.tree_.n_tokens == model.word_count_.sum()
    assert model.leaf_word_.sum() == corpus.n_tokens + 100 * len(leaves)
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert (loaded.transform(corpus) != model.transform(corpus)).nnz == 0
    assert loaded.continue_fit(corpus, n_laps=2).labels_ == model.labels_


def test_fits_that_go_on_are_those_of_one_go(corpus, tmp_path):
    settings = {"branching": (2, 2, 3), "stages": (1, 2), "stage_sweeps": 2, "seeds": SEEDS}
    whole = fitted(corpus, **settings, n_laps=8)
    for n_laps in (5, 8):
        model = BackoffTreeTopics(**settings, n_laps=n_laps, random_state=0)
        model.fit(corpus, checkpoint=tmp_path / "c", resume=True)
    np.testing.assert_array_equal(model.word_leaf_, whole.word_leaf_)
    np.testing.assert_array_equal(model.trace_["objective"], whole.trace_["objective"])
    assert model.labels_ == whole.labels_ == {0: "law", 4: "war", 8: "none"}
