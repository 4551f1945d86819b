"""The stochastic schedule: single steps against direct formulas, whole fits on planted topics."""

from copy import deepcopy

import numpy as np
import pytest

from stickbreak.corpus import planted_lda
from stickbreak.numerics.streams import stream
from stickbreak.variational import VariationalHDP
from stickbreak.variational.global_step import natural_gradient
from stickbreak.variational.local_step import LocalSettings, ascend_documents, summarise
from stickbreak.variational.memoized import first_lap
from stickbreak.variational.state import GlobalParameters, Summary
from stickbreak.variational.stochastic import StepRule, StreamState, laps, learn_from, scaled, take_step

from . import reference
from .problems import (
    ALPHA,
    ETA,
    GAMMA,
    batch_of,
    begin,
    documents_of_visit,
    ragged_corpus,
    random_parameters,
    responsibilities,
    schedule,
    thetas,
)

REPLACE = StepRule(decay=0.0)  # every step has size 1


def found_in(corpus, parameters, engine):
    """The memoized schedule's local step and summary of a whole corpus."""
    found = ascend_documents(batch_of(corpus), parameters, ALPHA, None, LocalSettings(), engine)
    return found, summarise(found, engine)


def run(made, state, rule, n_laps, corpus, **options):
    """The states after `n_laps` laps and every LapInfo."""
    settings = {"n_documents": corpus.n_documents, "seed": 1, "lap": 0, "reorder": False, **options}
    further = laps(made, state, rule, **settings)
    return [next(further)[1] for _ in range(n_laps)]


@pytest.mark.parametrize("sticks", ["interpolate", "natural"])
def test_step_equals_the_dense_formulas(sticks):
    """tau <- (1 - xi) tau + xi (eta + s S) over the whole table, and the rule of the sticks, step after step."""
    corpus = ragged_corpus(1, n_documents=20)
    made, rows = schedule(corpus, 4)
    model, rule = made.model, StepRule(0.6, 2.0, sticks)
    dense = random_parameters(corpus.n_words, 5)
    state = StreamState.from_parameters(dense, model)
    for t, b in enumerate([0, 1, 2, 3, 0, 2]):
        _, summary = found_in(corpus[rows[b]], dense, made.engine)
        xi, s = (t + 1 + 2.0) ** -0.6, 20 / len(rows[b])
        whole = Summary.zeros(corpus.n_words, 5)
        whole.add(summary)
        a, b_ = dense.rho * dense.omega, (1 - dense.rho) * dense.omega
        if sticks == "natural":
            by_a, by_b = natural_gradient(dense.rho, dense.omega, s * whole.T, 20, ALPHA, GAMMA)
            while ((a + xi * by_a < 0.1 * a) | (b_ + xi * by_b < 0.1 * b_)).any():
                xi /= 2
            a, b_, xi = a + xi * by_a, b_ + xi * by_b, (t + 1 + 2.0) ** -0.6
        else:
            whole.T, whole.n_documents = s * whole.T, 20
            rho, omega = model.best_sticks(whole, dense.rho, dense.omega)
            a, b_ = (1 - xi) * a + xi * rho * omega, (1 - xi) * b_ + xi * (1 - rho) * omega
        tau = (1 - xi) * dense.tau + xi * (ETA + s * whole.S)
        dense = GlobalParameters(tau, tau.sum(axis=0), a / (a + b_), a + b_)

        batch = batch_of(corpus[rows[b]])
        learn_from(batch, state, model, rule, made.settings, made.engine, n_documents=20)
        lazy = state.parameters(model)
        np.testing.assert_allclose(lazy.tau, dense.tau, rtol=1e-6)
        np.testing.assert_allclose(lazy.rho, dense.rho, rtol=1e-6)
        np.testing.assert_allclose(lazy.omega, dense.omega, rtol=1e-6)
        np.testing.assert_allclose(state.rows(batch.words, model).tau, lazy.tau[batch.words], rtol=1e-12)
        np.testing.assert_allclose(state.rows(batch.words, model).tau_sum, lazy.tau.sum(axis=0), rtol=1e-12)
    assert state.n_steps == 6


@pytest.mark.parametrize("step", [0.999, 0.3])
def test_lazy_blending_equals_the_dense_table_through_a_thousand_steps(step):
    """The scale falls below what a double can hold, many times; words that are never seen again fade out."""
    rng = np.random.default_rng(0)
    made, _ = schedule(ragged_corpus(0))
    state = StreamState.from_parameters(random_parameters(15, 3), made.model)
    dense = state.scale * state.counts
    for _ in range(1000):
        words = np.sort(rng.choice(14, size=4, replace=False))  # never the last
        S = rng.gamma(0.5, 2.0, size=(4, 3))
        dense *= 1 - step
        dense[words] += step * S
        state.blend(words, S, S.sum(axis=0), step)
    np.testing.assert_allclose(state.scale * state.counts, dense, rtol=1e-10, atol=1e-200)
    np.testing.assert_allclose(state.tokens, dense.sum(axis=0), rtol=1e-10)
    assert np.isfinite(state.counts).all()


def test_step_of_size_one_is_the_first_lap_of_the_memoized_schedule():
    corpus = ragged_corpus(2, n_documents=14)
    made, _ = schedule(corpus, 1)
    start = begin(corpus, 5)
    memoized, _ = first_lap(made, deepcopy(start))
    state = StreamState.from_parameters(start, made.model)
    (info,) = run(made, state, REPLACE, 1, corpus)
    found = state.parameters(made.model)
    np.testing.assert_allclose(found.tau, memoized.parameters.tau, rtol=1e-7)
    np.testing.assert_allclose(found.rho, memoized.parameters.rho, rtol=1e-6)
    np.testing.assert_allclose(found.omega, memoized.parameters.omega, rtol=1e-6)
    assert info.objective == pytest.approx(memoized.objective, rel=1e-9)
    assert info.n_topics == 5


def test_objective_of_a_lap_is_that_of_its_factors_and_the_globals_at_its_end():
    corpus = ragged_corpus(6, n_documents=15)
    made, _ = schedule(corpus, 3)
    start = begin(corpus, 4)
    state, rule = StreamState.from_parameters(start, made.model), StepRule()
    (info,) = run(made, state, rule, 1, corpus, seed=1)

    shadow = StreamState.from_parameters(start, made.model)
    docs, r, theta = [], [], []
    for b in stream(1, "order of the batches in lap 1").permutation(3):
        batch = made.batches[b]()
        found = ascend_documents(batch, shadow.parameters(made.model), ALPHA, None, made.settings, made.engine)
        docs += documents_of_visit(found)
        r += responsibilities(found)
        theta.append(thetas(found))
        take_step(shadow, scaled(summarise(found, made.engine), 15), made.model, rule)
    p = state.parameters(made.model)
    direct = reference.objective_terms(
        docs, r, np.concatenate(theta), p.tau, p.rho, p.omega, alpha=ALPHA, gamma=GAMMA, eta=ETA
    )["total"]
    assert info.objective == pytest.approx(direct, rel=1e-6)


def test_objective_of_a_minibatch_is_an_unbiased_estimate():
    """Averaged over a partition, under the same topics, it is the objective of the whole corpus."""
    corpus = ragged_corpus(7, n_documents=16)
    made, rows = schedule(corpus, 4)
    state = StreamState.from_parameters(random_parameters(corpus.n_words, 4), made.model)

    def estimate(documents):
        batch, before = batch_of(documents), deepcopy(state)
        return learn_from(batch, before, made.model, StepRule(), made.settings, made.engine, n_documents=16).objective

    parts = [estimate(corpus[selection]) * len(selection) / 16 for selection in rows]
    assert sum(parts) == pytest.approx(estimate(corpus), rel=1e-9)


@pytest.mark.parametrize("stick_rule", ["interpolate", "natural"])
def test_fit_is_the_same_for_any_number_of_threads(stick_rule):
    corpus, _ = planted_lda(500, 300, n_topics=6, alpha=1.0, mean_tokens=200, seed=1)
    assert corpus.counts.nnz > 2 * 16_384, "too small to be cut into several shards"
    settings = {"n_topics": 8, "schedule": "stochastic", "stick_rule": stick_rule, "n_laps": 2, "random_state": 0}
    one, two = (VariationalHDP(**settings, n_jobs=n, init="near-uniform").fit(corpus) for n in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.rho_, two.rho_)
    np.testing.assert_array_equal(one.trace_["objective"], two.trace_["objective"])
