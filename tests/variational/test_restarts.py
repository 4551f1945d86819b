"""Sparse restarts of the local step: they never lower a document's value, and find what the ascent cannot."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.special import psi

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.variational.kernels.ascent import RESTART_HOPE
from stickbreak.variational.local_step import LocalSettings, summarise
from stickbreak.variational.state import GlobalParameters

from . import reference
from .problems import (
    prior_of,
    ragged_corpus,
    random_parameters,
    responsibilities,
)
from .test_local_step import compressed, document_objectives, twins, visit_of


def restarted(settings, most=5):
    return settings._replace(restarts=most)


def overlapping(seed, n_topics=8, *, fractional=False, eta=0.1):
    """Documents under topics that share words, so that ascents end with topics that are not needed."""
    corpus = ragged_corpus(seed, n_documents=20, fractional=fractional)
    parameters = random_parameters(corpus.n_words, n_topics, seed, eta=eta, concentration=0.2)
    return corpus, parameters


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10**6),
    n_topics=st.integers(1, 12),
    eta=st.sampled_from([1e-3, 0.02, 0.5]),
    alpha=st.sampled_from([0.05, 0.5, 3.0]),
    fractional=st.booleans(),
    warm=st.booleans(),
    max_sweeps=st.sampled_from([1, 3, 100]),
    most=st.sampled_from([1, 5, 50]),
)
def test_restarts_never_lower_the_value_of_a_document(
    seed, n_topics, eta, alpha, fractional, warm, max_sweeps, most
):  # fmt: skip
    corpus, parameters = overlapping(seed, n_topics, fractional=fractional, eta=eta)
    limits = LocalSettings(1e-4, max_sweeps, accelerate=False)
    start = None
    if warm:  # as in a later lap: the topics know the words that they were given, but are not what they were
        before = visit_of(corpus, parameters, alpha=alpha)
        start, S = before.documents, summarise(before, Engine()).S
        tau = parameters.tau * 0.1 + 0.9 * eta
        tau[before.batch.words] += S
        parameters = GlobalParameters(tau, tau.sum(axis=0), parameters.rho[::-1].copy(), parameters.omega)
    without = visit_of(corpus, parameters, start, limits, alpha)
    having = visit_of(corpus, parameters, start, restarted(limits, most), alpha)
    assert (having.value >= without.value - 1e-11 * np.abs(without.value)).all()
    tried, accepted = having.restarts
    assert 0 <= accepted <= tried
    np.testing.assert_array_equal(without.restarts, 0)
    changed = having.value != without.value
    assert changed.any() <= (accepted > 0)
    np.testing.assert_allclose(having.documents.dense(n_topics).sum(axis=1), corpus.document_lengths, rtol=1e-9)
    for r in responsibilities(having):
        np.testing.assert_allclose(r.sum(axis=1), 1.0, rtol=1e-9)


@pytest.mark.parametrize("fractional", [False, True], ids=["integer", "fractional"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_restarts_equal_the_twin(seed, fractional):
    """The same topics are left out, and the ascent goes on from there."""
    corpus, parameters = overlapping(seed, fractional=fractional)
    limits = LocalSettings(1e-4, 100, accelerate=False)
    result = visit_of(corpus, parameters, settings=restarted(limits))
    r, _, sweeps = twins(corpus, parameters, settings=limits)
    prior = prior_of(parameters)
    want, tried, accepted = [], 0, 0
    for d, doc in enumerate(reference.documents_of(corpus)):
        if doc[0].size == 0:
            want.append(np.zeros(8))
            continue
        after, left, n = reference.sparse_restarts(doc, r[d], parameters.tau, prior, 5, hope=RESTART_HOPE)
        tried, accepted = tried + n, accepted + int(left.sum())
        n_k = doc[1] @ after
        if left.any() and sweeps[d] < 100:
            rest = {"tolerance": 1e-4, "max_sweeps": 100 - sweeps[d]}
            _, n_k, _ = reference.local_step(doc, parameters.tau, prior, n_k, left, **rest)
        want.append(n_k)
    assert accepted > 0
    np.testing.assert_array_equal(result.restarts, [tried, accepted])
    np.testing.assert_allclose(result.documents.dense(8), want, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_v17_is_a_lower_bound_of_what_one_sweep_without_a_topic_gains(seed):
    """At the end of an ascent, for every topic of every document; often it is close."""
    corpus, parameters = overlapping(seed, fractional=True)
    rs, _, _ = twins(corpus, parameters, settings=LocalSettings(1e-12, 3000))
    prior = prior_of(parameters)
    slack = []
    for doc, r in zip(reference.documents_of(corpus), rs, strict=True):
        if doc[0].size == 0:
            continue
        log_pi = psi(prior[:-1] + doc[1] @ r)
        value = reference.document_value(doc, r, parameters.tau, prior)
        for j in np.flatnonzero(doc[1] @ r > 1e-3):
            if (1 - r[:, j]).min() <= 1e-9:
                continue
            new = r / (1 - r[:, [j]])
            new[:, j] = 0.0
            bound = reference.restart_bound(doc, r, prior, log_pi, j)
            slack.append(reference.document_value(doc, new, parameters.tau, prior) - value - bound)
    assert len(slack) > 10
    assert min(slack) > -1e-7
    assert min(slack) < 0.5


def twin_topics():
    """Two topics with the same words, a third with others; one document that mostly uses the first."""
    tau = np.full((6, 3), 0.1)
    tau[:3, :2] += 20.0
    tau[3:, 2] += 20.0
    parameters = GlobalParameters(tau, tau.sum(axis=0), np.array([0.4, 0.5, 0.5]), np.full(3, 30.0))
    corpus = Corpus.from_counts(np.array([[9.0, 8.0, 7.0, 0.0, 0.0, 0.0]]))
    return corpus, parameters, compressed(np.array([[21.0, 3.0, 0.0]]))


def test_restart_leaves_out_a_copy_of_a_topic():
    """The ascent moves tokens from one copy to the other too slowly; a restart does it at once."""
    corpus, parameters, start = twin_topics()
    limits = LocalSettings(1e-4, 3, accelerate=False)
    without, having = (visit_of(corpus, parameters, start, s) for s in (limits, restarted(limits)))
    assert without.documents.dense(3)[0, 1] > 1.0
    np.testing.assert_array_equal(having.restarts, [1, 1])
    np.testing.assert_allclose(having.documents.dense(3), [[24.0, 0.0, 0.0]])
    assert having.value[0] > without.value[0] + 1.0
    gain = document_objectives(having, parameters) - document_objectives(without, parameters)
    np.testing.assert_allclose(having.value - without.value, gain)
