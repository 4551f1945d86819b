"""`GibbsHDP`: what a user gives, what a fit leaves, chains that go on."""

import numpy as np
import pytest
from tests.prediction import reference

import stickbreak
from stickbreak import GibbsHDP
from stickbreak.corpus import planted_lda
from stickbreak.sampling.laps import COLUMNS, SamplePlan, chain_seeds

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
def test_components_are_the_tokens_and_eta(corpus, changes):
    model = fit(corpus, **changes)
    counts = model.components_ - model.eta_
    if changes.get("estimate") != "average":
        np.testing.assert_allclose(counts.sum(axis=0), np.asarray(corpus.counts.sum(axis=0)).ravel(), atol=1e-9)
        np.testing.assert_array_equal(model.tables_, np.rint(model.tables_))
        assert model.n_topics_ in model.trace_["n_topics"]
    assert counts.sum() <= corpus.n_tokens + 1e-6
    assert (np.diff(counts.sum(axis=1)) <= 1e-9).all(), "the largest topic comes first"
    assert (model.tables_ >= 1 / 3).all()
    rest = model.gamma_ / (model.tables_.sum() + model.gamma_)
    assert model.topic_weights_.sum() + rest == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(model.topic_weights_, model.tables_ / model.tables_.sum() * (1 - rest), rtol=1e-12)


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


def test_chain_that_is_kept_has_the_highest_joint_after_burn_in(corpus):
    model = fit(corpus, n_chains=4, estimate="best")
    peaks = [model.trace_[f"objective_{c}"][3:].max() for c in range(4)]
    assert model.chain_ == np.argmax(peaks)
    assert model.objective_ == pytest.approx(max(peaks), rel=1e-12)
    for name in COLUMNS:
        np.testing.assert_array_equal(model.trace_[name], model.trace_[f"{name}_{model.chain_}"], err_msg=name)
    assert chain_seeds(5, 2) == chain_seeds(5, 4)[:2]


def test_average_is_of_the_thinned_sweeps_after_burn_in(corpus):
    model = fit(corpus, estimate="average", learn=["alpha", "gamma", "eta"])
    samples = [3, 5, 7]  # rows of the sweeps 4, 6, 8
    for name, value in (("objective", model.objective_), ("alpha", model.alpha_), ("eta", model.eta_)):
        assert value == pytest.approx(model.trace_[name][samples].mean(), rel=1e-12), name
    assert SamplePlan("average", 3, 2).sampled(np.arange(1, 9)).nonzero()[0].tolist() == samples


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


@pytest.mark.parametrize("estimate", ["last", "best", "average"])
def test_later_burn_in_forgets_the_samples_before_it(corpus, tmp_path, estimate):
    """As if it had been the burn-in from the beginning, also after saving and for another continuation."""
    changes = {"estimate": estimate, "n_chains": 2, "random_state": 4}
    whole = fit(corpus, n_laps=11, burn_in=6, **changes)
    model = fit(corpus, n_laps=5, burn_in=1, **changes).continue_fit(corpus, n_laps=4, burn_in=6)
    assert model.burn_in_ == 6
    model.save(tmp_path / "model")
    for again in (model, stickbreak.load(tmp_path / "model")):
        assert_same(whole, again.continue_fit(corpus, n_laps=2, burn_in=6))
