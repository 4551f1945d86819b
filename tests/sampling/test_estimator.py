"""`GibbsHDP`: what a user gives, what a fit leaves, chains that go on."""

import numpy as np
import pytest
from tests.prediction import reference

import stickbreak
from stickbreak import GibbsHDP
from stickbreak.corpus import planted_lda
from stickbreak.sampling.laps import COLUMNS

from .fits import assert_same, fit

VARIANTS = {
    "indicator": {},
    "dense": {"sampler": "dense"},
    "franchise": {"representation": "franchise"},
    "partially collapsed": {"representation": "partially-collapsed", "split_merge_trials": 5},
    "split-merge": {"split_merge_trials": 5},
    "sub-topics": {"subtopic_trials": 8, "subtopic_passes": 3},
    "both, franchise": {"subtopic_trials": 8, "split_merge_trials": 5, "representation": "franchise"},
    "scans": {"split_merge_trials": 5, "split_merge_scans": 2, "representation": "franchise"},
    "eta": {"learn": ["eta"]},
    "chains": {"n_chains": 3},
    "best": {"estimate": "best", "n_chains": 2},
    "average": {"estimate": "average", "n_chains": 2},
    "last": {"estimate": "last"},
}
variants = pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)


@variants
def test_saved_model_goes_on_as_an_uncut_fit(corpus, tmp_path, changes):
    whole = fit(corpus, **changes)
    model = fit(corpus, n_laps=5, **changes).continue_fit(corpus, n_laps=1)
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert_same(whole, loaded.continue_fit(corpus.counts, n_laps=2))
    assert_same(whole, model.continue_fit(corpus, n_laps=2))
    assert loaded.n_laps == 5, "continue_fit altered a parameter"


def test_chain_is_the_same_among_others(corpus):
    one, three = fit(corpus), fit(corpus, n_chains=3)
    for name in COLUMNS:
        np.testing.assert_array_equal(one.trace_[name], three.trace_[f"{name}_0"], err_msg=name)
    assert len({tuple(three.trace_[f"objective_{c}"]) for c in range(3)}) == 3


def test_expected_weights_give_the_rest_what_no_topic_explains(corpus):
    counts = corpus.counts.toarray()
    counts[:, 3] = 0
    model = fit(counts, eta=0.01)
    strange = np.zeros((1, 30), dtype=int)
    strange[0, 3] = 40
    weights = model.expected_weights(strange)[0]
    rest = model.gamma_ / (model.tables_.sum() + model.gamma_)
    prior = model.alpha_ * np.append(model.topic_weights_, rest)
    topics = np.vstack([model.topic_word_, np.full(30, 1 / 30)])
    np.testing.assert_allclose(weights, reference.document_weights(strange[0], topics, prior), atol=1e-4)
    assert weights[-1] > 0.9


def test_planted_topics_are_found(seed):
    corpus, truth = planted_lda(150, 60, n_topics=5, alpha=0.2, eta=0.05, mean_tokens=60, seed=seed)
    model = GibbsHDP(n_laps=150, random_state=seed).fit(corpus)
    found = model.topic_word_[model.topic_weights_ > 0.02]
    distance = np.abs(truth.topic_word[:, None] - found[None]).sum(axis=2) / 2
    assert distance.min(axis=1).max() < 0.25
