"""`GibbsHDP`: what a user gives, what a fit leaves, chains that go on."""

import os
import signal

import numpy as np
import pytest
from scipy import sparse
from tests.prediction import reference

import stickbreak
from stickbreak import GibbsHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError
from stickbreak.initialization import StartSettings
from stickbreak.sampling.chain import Chain
from stickbreak.sampling.laps import COLUMNS, GibbsLaps, SamplePlan, best_chain, chain_seeds
from stickbreak.sampling.samples import Sample
from stickbreak.sampling.starts import chain_starts
from stickbreak.sampling.state import Concentrations

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


def test_best_chain_of_a_run_that_ended_in_burn_in_looks_at_all_sweeps():
    columns = {"objective_0": [-9.0, -3.0], "objective_1": [-2.0, -4.0]}
    assert best_chain(columns, 2, 0) == 1
    assert best_chain(columns, 2, 1) == 0
    assert best_chain(columns, 2, 5) == 1


def test_last_is_the_last_sweep_and_best_the_highest(corpus):
    last, best = fit(corpus, estimate="last"), fit(corpus, estimate="best")
    np.testing.assert_array_equal(last.trace_["objective"], best.trace_["objective"])
    assert last.objective_ == pytest.approx(last.trace_["objective"][-1], rel=1e-12)
    assert best.objective_ == pytest.approx(best.trace_["objective"][3:].max(), rel=1e-12)


def test_average_is_of_the_thinned_sweeps_after_burn_in(corpus):
    model = fit(corpus, estimate="average", learn=["alpha", "gamma", "eta"])
    samples = [3, 5, 7]  # rows of the sweeps 4, 6, 8
    for name, value in (("objective", model.objective_), ("alpha", model.alpha_), ("eta", model.eta_)):
        assert value == pytest.approx(model.trace_[name][samples].mean(), rel=1e-12), name
    assert SamplePlan("average", 3, 2).sampled(np.arange(1, 9)).nonzero()[0].tolist() == samples


def test_burn_in_is_half_of_the_sweeps_and_kept(corpus):
    model = fit(corpus, burn_in=None)
    assert model.burn_in_ == 4
    assert model.continue_fit(corpus, n_laps=6).burn_in_ == 4


def test_resumed_fit_keeps_the_burn_in_it_began_with(corpus, tmp_path):
    assert fit(corpus, burn_in=None, n_laps=6, checkpoint=tmp_path / "cut").burn_in_ == 3
    assert fit(corpus, burn_in=None, n_laps=10, checkpoint=tmp_path / "cut", resume=True).burn_in_ == 3


def test_best_is_never_a_sweep_of_the_burn_in(corpus, monkeypatch):
    monkeypatch.setattr(Chain, "log_joint", lambda chain: -float(chain.n_sweeps))  # the first sweep is the best
    assert fit(corpus, burn_in=3, estimate="best").objective_ == -4.0 / corpus.n_tokens


def test_topics_keep_their_tables_when_sorted(corpus, monkeypatch):
    counts = sparse.csr_matrix(([2.0, 9.0, 4.0], ([0, 1, 2], [1, 2, 5])), shape=(3, 30))
    sample = Sample(counts, np.array([1.0, 7.0, 3.0]), Concentrations(1.0, 1.0, 0.5), -10.0)
    monkeypatch.setattr(GibbsLaps, "estimate", lambda self, c: sample)
    model = fit(corpus)
    assert model.tables_.tolist() == [7.0, 3.0, 1.0]
    assert model.components_[[0, 1, 2], [2, 5, 1]].tolist() == [9.5, 4.5, 2.5]


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


def test_starts_that_find_topics_differ_between_chains_and_report(corpus):
    events = []
    model = fit(corpus, init="lda", init_sweeps=2, n_chains=2, callback=events.append)
    assert [(e["done"], e["total"]) for e in events if "stage" in e] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    laps = [event for event in events if "stage" not in event]
    assert [event["lap"] for event in laps] == list(range(1, 9))
    assert {event["n_laps"] for event in laps} == {8}
    settings = StartSettings(4, 1.0, 1.0, 0.1, 0, 2)
    found = chain_starts("lda", corpus, settings, chain_seeds(0, 2), lambda event: None)
    assert not np.array_equal(found[0].counts, found[1].counts)
    assert model.trace_["objective_0"][0] != model.trace_["objective_1"][0]


def test_messages_name_sweeps(corpus):
    assert fit(corpus).stop_reason_ == "did all 8 passes, without a test of convergence."

    def stop(event):
        if event["lap"] == 2:
            os.kill(os.getpid(), signal.SIGINT)

    model = fit(corpus, callback=stop, estimate="average")
    assert model.stop_reason_ == (
        "interrupted: stopped after pass 2 of 8; the model is usable. No sample yet: burn-in takes 3 sweeps. The "
        "topics are those of the last sweep."
    )
    assert model.objective_ == pytest.approx(model.trace_["objective"][-1], rel=1e-12)
    assert "No sample" not in fit(corpus, burn_in=1, callback=stop).stop_reason_
    assert not model.converged_
    assert model.transform(corpus).shape == (40, model.n_topics_)


def test_forgotten_chains_make_a_small_model_that_cannot_go_on(corpus, tmp_path):
    model = fit(corpus)
    model.save(tmp_path / "whole")
    model.forget_state()
    model.save(tmp_path / "small")
    sizes = [(tmp_path / name / "arrays.safetensors").stat().st_size for name in ("whole", "small")]
    assert sizes[1] < sizes[0] - 4 * corpus.n_tokens
    loaded = stickbreak.load(tmp_path / "small")
    np.testing.assert_array_equal(loaded.transform(corpus), model.transform(corpus))
    with pytest.raises(InputError, match="no state to continue from"):
        loaded.continue_fit(corpus, n_laps=1)


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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(({"n_laps": x}, rf"n_laps is {x!r}; give a whole number of at least 1\.$") for x in (0, 2.5, True, "2")),
        *(({"n_laps": 2, "burn_in": x}, rf"burn_in is {x!r}; give a whole number") for x in (-1, 8.5, True, "8")),
        ({"n_laps": 2, "burn_in": 7}, r"burn_in is 7, but 8 sweeps are done, .*; give 8 or more\.$"),
        ({"n_laps": 2, "burn_in": 10}, r"burn_in is 10, but there will be 10 sweeps in all"),
    ],
)
def test_further_sweeps_and_burn_in_that_cannot_be_are_refused(corpus, fitted, changes, words):
    with pytest.raises(InputError, match=words) as found:
        fitted.continue_fit(corpus, **changes)
    assert str(found.value).count(". ") == 0


def test_chains_go_on_with_counts_that_have_lost_their_words(corpus):
    named = Corpus.from_counts(corpus.counts, vocabulary=[f"word{w}" for w in range(30)])
    whole = fit(named)
    assert_same(whole, fit(named, n_laps=6).continue_fit(corpus.counts, n_laps=2))


def test_start_is_asked_for_one_topic_for_each_token_at_most(corpus, monkeypatch):
    asked = []

    def begin(laps, report, stop):
        asked.append(laps._starts(report, stop)[1])
        raise ZeroDivisionError

    monkeypatch.setattr(GibbsLaps, "begin", begin)
    for n_topics in (4, 10**9):
        with pytest.raises(ZeroDivisionError):
            fit(corpus, n_topics=n_topics)
    assert asked == [4, corpus.n_tokens]


def test_fitted_model_knows_its_chains_whatever_the_parameters_become(corpus, tmp_path):
    model = fit(corpus, n_chains=3, learn=("eta",), random_state=2)
    assert (model.n_chains_, model.learned_) == (3, ["eta"])
    assert model.chain_ > 0
    model.set_params(n_chains=1, learn=()).save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert (loaded.n_chains_, loaded.learned_, loaded.chain_) == (3, ["eta"], model.chain_)
