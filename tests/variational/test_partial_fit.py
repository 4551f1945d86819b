"""`partial_fit`: a stream of minibatches, a step each."""

import copy

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import planted_lda
from stickbreak.variational import VariationalHDP

SETTINGS = {"n_topics": 5, "init_sweeps": 5, "random_state": 0}


@pytest.fixture(scope="module")
def minibatches():
    corpus, _ = planted_lda(120, 40, n_topics=4, mean_tokens=40, seed=3)
    return [corpus[np.arange(i, i + 20)] for i in range(0, 120, 20)]


def stream(model, parts):
    for part in parts:
        model.partial_fit(part)
    return model


def assert_same(left, right):
    for name in ("components_", "rho_", "omega_", "objective_", "n_steps_", "n_documents_seen_", "stop_reason_"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    for name in left.trace_.keys() - {"seconds"}:
        np.testing.assert_array_equal(left.trace_[name], right.trace_[name], err_msg=name)


def test_stream_improves_what_the_first_minibatch_found(minibatches):
    held = planted_lda(120, 40, n_topics=4, mean_tokens=40, seed=3)[0]
    model = VariationalHDP(**SETTINGS).partial_fit(minibatches[0])
    first = model.score(held)
    assert stream(model, minibatches[1:]).score(held) > first + 0.02


def test_saved_model_continues_as_if_it_had_not_been_saved(minibatches, tmp_path):
    straight = stream(VariationalHDP(**SETTINGS), minibatches)
    model = VariationalHDP(**SETTINGS)
    for t, part in enumerate(minibatches):
        model.partial_fit(part)
        model.save(tmp_path / f"model{t}")
        model = stickbreak.load(tmp_path / f"model{t}")
    assert_same(model, straight)


@pytest.mark.parametrize("stick_rule", ["interpolate", "natural"])
def test_total_documents_scales_the_minibatch(minibatches, stick_rule):
    """Twice the documents, twice the counts that the minibatch stands for."""
    start = np.random.default_rng(0).dirichlet(np.ones(40), size=3)
    counts = {}
    for total in (100, 200):
        model = VariationalHDP(init=start, total_documents=total, learning_decay=0.0, stick_rule=stick_rule)
        counts[total] = (model.partial_fit(minibatches[0]).components_ - 0.1, model.omega_.mean())
    tokens = minibatches[0].n_tokens
    np.testing.assert_allclose(counts[100][0].sum(), 5 * tokens, rtol=1e-9)
    np.testing.assert_allclose(counts[200][0], 2 * counts[100][0], rtol=1e-9, atol=1e-9)
    assert counts[200][1] > 1.3 * counts[100][1]


def test_empty_documents_are_seen_and_alone_take_no_step(minibatches):
    model = VariationalHDP(**SETTINGS).partial_fit(minibatches[0])
    before = copy.deepcopy(model)
    model.partial_fit(np.zeros((3, 40)))
    assert model.n_documents_seen_ == 23
    model.n_documents_seen_ = 20
    assert_same(model, before)
    some = minibatches[1].counts.toarray()
    some[::2] = 0
    model.partial_fit(some)
    assert model.n_steps_ == 2
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize("schedule", ["memoized", "stochastic"])
def test_stream_goes_on_from_a_fit(minibatches, schedule):
    model = VariationalHDP(**SETTINGS, schedule=schedule, n_batches=4, n_laps=3, tolerance=0).fit(minibatches[0])
    fitted = copy.deepcopy(model)
    assert model.n_steps_ == 12
    model.partial_fit(minibatches[1])
    assert (model.n_steps_, model.n_documents_seen_, model.n_laps_) == (13, 40, 4)
    assert model.trace_.keys() == fitted.trace_.keys()
    assert {column.shape for column in model.trace_.values()} == {(4,)}
    assert model.n_topics_ == fitted.n_topics_
    xi = 14.0**-0.5
    kept = (1 - xi) * (fitted.components_ - fitted.eta_).sum()
    assert model.eta_ == fitted.eta_
    np.testing.assert_allclose(
        (model.components_ - model.eta_).sum(), kept + xi * 2 * minibatches[1].n_tokens, rtol=1e-9
    )


def test_stream_keeps_the_eta_of_the_fit(minibatches):
    eta = np.full(40, 0.5)
    model = VariationalHDP(**SETTINGS, eta=eta, n_laps=2).fit(minibatches[0])
    np.testing.assert_array_equal(model.set_params(eta=0.1).partial_fit(minibatches[1]).eta_, eta)
    assert (model.components_ >= 0.5).all()
