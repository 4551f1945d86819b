"""The local step and the statistics of a batch against their twins."""

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.local_step import LocalSettings, ascend_documents, better_of, summarise
from stickbreak.variational.objective import rises
from stickbreak.variational.state import GlobalParameters

from . import reference
from .problems import (
    ALPHA,
    assert_summary_equal,
    batch_of,
    documents_of_visit,
    prior_of,
    ragged_corpus,
    random_parameters,
    responsibilities,
    thetas,
)

TIGHT = LocalSettings(tolerance=1e-9, max_sweeps=400, accelerate=False)
PLAIN = LocalSettings(accelerate=False)  # sweep by sweep as the twin


def visit_of(corpus, parameters, start=None, settings=None, alpha=ALPHA):
    return ascend_documents(batch_of(corpus), parameters, alpha, start, settings or LocalSettings(), Engine())


def compressed(n_dk):
    """The rows of a (D, K) array as they are stored: only what is not zero."""
    rows, topic = np.nonzero(n_dk)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_dk.shape[0])))).astype(np.int64)
    return DocumentTopics(indptr, topic.astype(np.int32), n_dk[rows, topic])


def twins(corpus, parameters, start=None, settings=None):
    """(r, N (D, K), sweeps) by the twin; `start` is the DocumentTopics of an earlier visit."""
    s, n_topics = settings or LocalSettings(), parameters.n_topics
    found = []
    for d, doc in enumerate(reference.documents_of(corpus)):
        own = left = None
        if start is not None and start.indptr[d + 1] > start.indptr[d]:
            own, left = start.dense(n_topics)[d], np.ones(n_topics, dtype=bool)
            left[start.topic[start.indptr[d] : start.indptr[d + 1]]] = False
        limits = {"tolerance": s.tolerance, "max_sweeps": s.max_sweeps}
        found.append(reference.local_step(doc, parameters.tau, prior_of(parameters), own, left, **limits))
    return [x[0] for x in found], np.array([x[1] for x in found]), np.array([x[2] for x in found])


@pytest.mark.parametrize("fractional", [False, True], ids=["integer", "fractional"])
@pytest.mark.parametrize(("n_topics", "seed"), [(1, 0), (3, 1), (8, 2), (21, 3)])
def test_local_step_equals_the_twin_cold_and_warm(n_topics, seed, fractional):
    corpus = ragged_corpus(seed, fractional=fractional)
    cold = random_parameters(corpus.n_words, n_topics, seed)
    result = visit_of(corpus, cold, settings=PLAIN)
    r, n_dk, sweeps = twins(corpus, cold, settings=PLAIN)
    np.testing.assert_array_equal(result.sweeps, sweeps)
    np.testing.assert_allclose(result.documents.dense(n_topics), n_dk, rtol=1e-9, atol=1e-12)
    for found, want in zip(responsibilities(result), r, strict=True):
        np.testing.assert_allclose(found, want, rtol=0, atol=1e-10)
    warm = random_parameters(corpus.n_words, n_topics, seed + 100)
    again = visit_of(corpus, warm, result.documents, PLAIN)
    r, n_dk, sweeps = twins(corpus, warm, result.documents, PLAIN)
    np.testing.assert_array_equal(again.sweeps, sweeps)
    np.testing.assert_allclose(again.documents.dense(n_topics), n_dk, rtol=1e-9, atol=1e-12)


def document_objectives(result, parameters):
    """The part of the objective of each document at fixed globals, up to terms of the globals alone."""
    out, nothing = [], {"alpha": ALPHA, "gamma": 10.0, "eta": 0.1}
    for doc, r, theta in zip(documents_of_visit(result), responsibilities(result), thetas(result), strict=True):
        terms = reference.objective_terms(
            [doc], [r], theta[None], parameters.tau, parameters.rho, parameters.omega, **nothing
        )
        out.append(terms["total"])
    return np.array(out)


def test_better_of_takes_the_better_visit_of_every_document():
    corpus, n_topics = ragged_corpus(4, n_documents=25), 5
    parameters = random_parameters(corpus.n_words, n_topics, 4, concentration=0.1)
    elsewhere = random_parameters(corpus.n_words, n_topics, 9, concentration=0.1)
    warm = visit_of(corpus, parameters, visit_of(corpus, elsewhere).documents)
    fresh = visit_of(corpus, parameters)
    best = better_of(warm, fresh)
    second = rises(fresh.value, warm.value)
    assert 0 < second.sum() < corpus.n_documents
    np.testing.assert_allclose(
        document_objectives(best, parameters),
        np.maximum(document_objectives(warm, parameters), document_objectives(fresh, parameters)),
        rtol=1e-10,
    )
    want = np.where(second[:, None], fresh.documents.dense(n_topics), warm.documents.dense(n_topics))
    np.testing.assert_array_equal(best.documents.dense(n_topics), want)
    twin = reference.statistics(documents_of_visit(best), responsibilities(best), thetas(best), corpus.n_words)
    assert_summary_equal(summarise(best, Engine()), twin, rtol=1e-11)


def test_local_step_holds_when_every_word_weight_underflows():
    """With eta = 1e-3, exp(E log phi) of a word that no topic has seen is exp(-1000): the largest is set to 1."""
    counts = np.zeros((3, 6))
    counts[0, :3], counts[1, 2:] = [3, 1, 2], [1, 4, 2, 1]
    counts[2, 5] = 2
    corpus = Corpus.from_counts(counts)
    tau = np.full((6, 3), 1e-3)
    tau[:3, 0] += [5.0, 4.0, 2.0]
    tau[2:4, 1] += [1.0, 6.0]
    tau[0, 2] += 3.0  # words 4 and 5 belong to nobody
    parameters = GlobalParameters(tau, tau.sum(axis=0), np.array([0.4, 0.3, 0.2]), np.array([9.0, 8.0, 7.0]))
    result = visit_of(corpus, parameters, settings=TIGHT)
    r, n_dk, _ = twins(corpus, parameters, settings=TIGHT)
    np.testing.assert_allclose(result.documents.dense(3), n_dk, rtol=1e-9, atol=1e-12)
    for found, want in zip(responsibilities(result), r, strict=True):
        np.testing.assert_allclose(found, want, rtol=0, atol=1e-10)
    assert result.documents.dense(3)[2].sum() == pytest.approx(2.0)


@pytest.mark.parametrize("fractional", [False, True], ids=["integer", "fractional"])
@pytest.mark.parametrize(("n_topics", "concentration"), [(1, 0.5), (4, 0.5), (12, 0.05)])
def test_summarise_equals_the_twin(n_topics, concentration, fractional):
    """S, N, H per topic, T, G, Q and Q0, with empty documents and with topics that have left documents."""
    corpus = ragged_corpus(6, fractional=fractional)
    result = visit_of(corpus, random_parameters(corpus.n_words, n_topics, 9, concentration=concentration))
    r = responsibilities(result)
    twin = reference.statistics(documents_of_visit(result), r, thetas(result), corpus.n_words)
    summary = summarise(result, Engine())
    assert_summary_equal(summary, twin, rtol=1e-11)
    np.testing.assert_allclose(summary.S.sum(axis=0), summary.N, rtol=1e-11, atol=1e-11)
