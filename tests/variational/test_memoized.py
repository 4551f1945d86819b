"""Memoized bookkeeping: totals, stored batches and the objective against recomputation from q."""

from copy import deepcopy

import numpy as np
import pytest

from stickbreak.corpus import Corpus, toy_bars
from stickbreak.variational import memoized
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.state import GlobalParameters, Summary

from . import reference
from .problems import (
    begin,
    ragged_corpus,
    random_parameters,
    run_laps,
    schedule,
    summary_of,
)


def sum_of(batches, n_words, n_topics):
    totals = Summary.zeros(n_words, n_topics)
    for batch in batches:
        totals.add(batch)
    return totals


def test_totals_are_summed_anew_every_few_laps(monkeypatch):
    """Drift put into the totals is gone after the lap of the re-summation, and not before."""
    monkeypatch.setattr(memoized, "RESUM_LAPS", 4)
    corpus = ragged_corpus(1)
    made, _ = schedule(corpus, 2)
    state, _ = first_lap(made, begin(corpus, 3))
    further = laps(made, state, [], 1)
    state.totals.S[1] += 1e-3
    drift = []
    for _ in range(3):  # laps 2, 3, 4
        next(further)
        drift.append(np.abs(state.totals.S - sum_of(state.batches, corpus.n_words, 3).S).max())
    assert drift[0] > 5e-4
    assert drift[1] > 5e-4
    assert drift[2] == 0.0


def test_all_batches_at_once_are_one_batch():
    """The same parameters, the same documents: only the order of sums differs."""
    corpus = ragged_corpus(4, n_documents=15)
    (one, _), (three, _) = (
        run_laps(schedule(corpus, n, at_once=n)[0], begin(corpus, 5), [], 4) for n in (1, 3)
    )  # fmt: skip
    np.testing.assert_allclose(three.totals.S, one.totals.S, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(three.objective, one.objective, rtol=1e-9)


def test_first_lap_holds_the_start_until_every_document_is_seen():
    """The batches of the first lap all see the start: three batches give what one gives."""
    corpus = ragged_corpus(4, n_documents=15)
    start = begin(corpus, 5)
    one, _ = first_lap(schedule(corpus, 1)[0], deepcopy(start))
    three, _ = first_lap(schedule(corpus, 3)[0], deepcopy(start))
    np.testing.assert_allclose(three.totals.S, one.totals.S, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(three.objective, one.objective, rtol=1e-9)


def test_one_batch_is_the_classical_full_pass(monkeypatch):
    """Local steps of the twin on all documents, then tau and the sticks, lap by lap."""
    monkeypatch.setattr(memoized, "FRESH_SHARE", 2.0)  # no second local step
    corpus = ragged_corpus(3, n_documents=10)
    made, rows = schedule(corpus, 1, settings=LocalSettings(accelerate=False))
    start = begin(corpus, 4)
    state, _ = run_laps(made, deepcopy(start), [], 3)
    docs = reference.documents_of(corpus[rows[0]])
    tau, rho, omega, tokens = start.tau, start.rho, start.omega, [None] * len(docs)
    for _ in range(4):
        prior = 0.5 * reference.expected_beta(rho)
        found = [reference.local_step(doc, tau, prior, n) for doc, n in zip(docs, tokens, strict=True)]
        r, tokens = [x[0] for x in found], [x[1] if x[1].any() else None for x in found]
        theta = np.array([prior + np.append(x[1], 0.0) for x in found])
        twin = reference.statistics(docs, r, theta, corpus.n_words)
        tau = twin["S"] + 0.1
        rho, omega = made.model.best_sticks(summary_of(twin), rho, omega)
    np.testing.assert_allclose(state.parameters.tau, tau, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(state.parameters.rho, rho, rtol=1e-4)
    direct = reference.objective_terms(docs, r, theta, tau, rho, omega, alpha=0.5, gamma=10.0, eta=0.1)["total"]
    np.testing.assert_allclose(state.objective, direct, rtol=1e-7)


def partitions(n_words):
    """All ways to group words into topics, as a tuple of group numbers."""
    found = [(0,)]
    for _ in range(n_words - 1):
        found = [(*x, g) for x in found for g in range(max(x) + 2)]
    return found


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_objective_stays_below_the_exact_evidence_and_reaches_the_oracles_best(oracle, n_topics):
    """Exact log evidences of six tiny corpora by enumeration.

    The optimum is local, so the fit starts from every grouping of the words into at most K topics; the oracle's best is
    that of three random starts, and has to be reached or passed.
    """
    cases = [case for case in oracle["coordinate_ascent"] if case["K"] == n_topics]
    assert len(cases) == 6
    for case in cases:
        spec = oracle["corpora"][case["corpus"]]
        counts = np.array([np.bincount(doc, minlength=spec["V"]) for doc in spec["docs"]])
        options = {"alpha": spec["alpha"], "gamma": spec["gamma"], "eta": spec["eta"]}
        made, _ = schedule(Corpus.from_counts(counts), **options, settings=LocalSettings(1e-10, 400))
        values = []
        for groups in partitions(spec["V"]):
            if max(groups) < n_topics:
                tau = np.full((spec["V"], n_topics), spec["eta"] + 1e-3)
                tau[np.arange(spec["V"]), groups] += counts.sum(axis=0)
                sticks = sticks_of(tau.sum(axis=0) / (tau.sum() + 1), 1 + spec["gamma"] + len(counts))
                values.append(converged(made, GlobalParameters(tau, tau.sum(axis=0), *sticks)))
        assert max(values) < case["log_evidence"], case["corpus"]
        assert max(values) > case["best_elbo"] - 1e-3, case["corpus"]
        if n_topics == 1:
            np.testing.assert_allclose(values, case["best_elbo"], rtol=0, atol=1e-4)


def converged(made, start):
    """The objective after laps without moves until it stands still."""
    state, info = first_lap(made, start)
    before = -np.inf
    for _, info in laps(made, state, [], 1):
        if info.objective - before < 1e-8:
            return info.objective
        before = info.objective
    raise AssertionError("laps never end")


def test_fresh_starts_are_tried_while_documents_gain_by_them(monkeypatch):
    """A lap with fresh starts is never worse for it, and they end when too few documents gain."""
    corpus, _ = toy_bars(60, size=6, n_bars=4, tokens=50, seed=5)
    made, _ = schedule(corpus, 2)
    state, _ = first_lap(made, begin(corpus, 6, 5))
    shares = [state.fresh_share]
    for _, _info in zip(range(25), laps(made, state, [], 1), strict=False):
        shares.append(state.fresh_share)
    assert shares[0] == 1.0
    assert 0 <= shares[-1] <= memoized.FRESH_SHARE
    assert shares[-1] == shares[-2]  # no longer tried

    objectives = {}
    made_one, _ = schedule(corpus, 1)
    for limit in (0.0, 2.0):  # always, never
        monkeypatch.setattr(memoized, "FRESH_SHARE", limit)
        start = random_parameters(corpus.n_words, 6, 5, concentration=50.0)  # topics that hardly differ: wrong at first
        objectives[limit] = run_laps(made_one, start, [], 1)[0].objective
    assert objectives[0.0] > objectives[2.0]
