"""Small problems for the tests of the variational HDP, and q as the fast code found it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stickbreak.corpus import Corpus, make_batches
from stickbreak.fitting.engine import Engine
from stickbreak.initialization import StartSettings
from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.variational.global_step import stick_objective, sticks_of
from stickbreak.variational.hdp import HDP
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.model import Schedule
from stickbreak.variational.moves import Move, MoveSettings
from stickbreak.variational.state import GlobalParameters, Summary, expected_beta
from stickbreak.variational.words import Batch, word_proposals

from . import reference

ALPHA, GAMMA, ETA = 0.5, 10.0, 0.1


def ragged_corpus(seed=0, *, n_documents=12, n_words=15, fractional=False):
    """Documents of very different lengths; the first, a middle one and the last are empty, words 0 and 5 unused."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.3, 4.0, size=(n_documents, 1)) * rng.dirichlet(np.full(n_words, 0.3), size=n_documents) * 8
    counts = rng.poisson(rates).astype(float)
    counts[[0, n_documents // 2, -1]] = 0
    counts[:, [0, 5]] = 0
    counts[1, 1] += 1  # never a corpus without tokens
    if fractional:
        counts *= rng.uniform(0.05, 1.5, size=counts.shape)
    return Corpus.from_counts(counts)


def random_parameters(n_words, n_topics, seed=0, *, eta=ETA, concentration=0.5):
    """Global parameters of no particular merit."""
    rng = np.random.default_rng(seed)
    tau = np.ascontiguousarray(eta + 40 * rng.dirichlet(np.full(n_words, concentration), size=n_topics).T)
    return GlobalParameters(tau, tau.sum(axis=0), rng.uniform(0.1, 0.6, n_topics), rng.uniform(3.0, 60.0, n_topics))


def begin(corpus, n_topics, seed=0, *, eta=ETA, gamma=GAMMA):
    """A start: topics near random documents, even weights."""
    rng = np.random.default_rng(seed)
    tau = eta + rng.gamma(0.3, 1.0, size=(corpus.n_words, n_topics))
    rho, omega = sticks_of(np.full(n_topics, 1 / (n_topics + 1)), 1.0 + gamma + corpus.n_documents)
    return GlobalParameters(tau, tau.sum(axis=0), rho, omega)


def schedule(
    corpus,
    n_batches=1,
    *,
    alpha=ALPHA,
    gamma=GAMMA,
    eta=ETA,
    settings=None,
    engine=None,
    bound="surrogate",
    learned=(),
    at_once=1,
):
    """A memoized schedule over the corpus, and the rows of each batch."""
    rows = make_batches(corpus, n_batches, seed=3)
    likelihood = DirichletMultinomial(eta, corpus.n_words)
    batches = [Batch.from_corpus(corpus[selection], likelihood) for selection in rows]
    made = Schedule(
        HDP(likelihood, alpha, gamma, bound),
        [lambda b=b: b for b in batches],
        settings or LocalSettings(),
        engine or Engine(),
        learned,
        at_once=at_once,
    )
    return made, rows


def batch_of(corpus, *, eta=ETA):
    """All documents of a corpus as one batch."""
    return Batch.from_corpus(corpus, DirichletMultinomial(eta, corpus.n_words))


def made_move(kind, *, fresh=None, **settings):
    """A move as a fit of words makes it; `fresh`: how many topics its first birth looks for from the start."""
    start = None if fresh is None else StartSettings(fresh, ALPHA, GAMMA, ETA, 0, 20)
    return kind.from_settings(MoveSettings(proposals=word_proposals(start), **settings))


class Seeing:
    """Shows a move the visits themselves; they do not travel."""

    def measure(self, result, engine):
        return result

    def wanted(self, result):
        return np.zeros(0, np.int64)


class Together:
    """Several probes, or None in the place of one, as one."""

    def __init__(self, probes):
        self.probes = probes

    def measure(self, result, engine):
        return [None if one is None else one.measure(result, engine) for one in self.probes]

    def wanted(self, result):
        wanted = [one.wanted(result) for one in self.probes if one is not None]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *wanted]))


class Recorder(Move):
    """Keeps the latest visit of every batch and never proposes anything."""

    name: ClassVar[str] = "recorder"

    def __init__(self):
        self.visits = {}

    def probe(self):
        return Seeing()

    def note(self, index, observed):
        self.visits[index] = observed

    def candidates(self, state):
        return ()

    def evaluate(self, state, standing, model, candidate):
        raise AssertionError("nothing was proposed")

    def apply(self, state, accepted, standing):
        raise AssertionError("nothing was proposed")


def run_laps(made, start, moves, n_laps):
    """Run the first lap and `n_laps` further ones: (state, every LapInfo)."""
    state, info = first_lap(made, start)
    infos = [info]
    further = laps(made, state, moves, 1)
    for _ in range(n_laps):
        infos.append(next(further)[1])
    return state, infos


def documents_of_visit(result):
    """The visited documents as (words of the corpus, counts)."""
    batch = result.batch
    parts = [slice(batch.indptr[d], batch.indptr[d + 1]) for d in range(batch.n_documents)]
    return [(batch.words[batch.word[p]], batch.count[p]) for p in parts]


def responsibilities(result):
    """r of every visited document, (U_d, K) each, from the normalisers that the visit kept."""
    batch, docs, n_topics = result.batch, result.documents, result.prior.values.size - 1
    out = []
    for d in range(batch.n_documents):
        part = slice(batch.indptr[d], batch.indptr[d + 1])
        own = slice(docs.indptr[d], docs.indptr[d + 1])
        weight = np.zeros(n_topics)
        weight[docs.topic[own]] = result.weight[own]
        out.append(weight * result.weights[batch.word[part]] * (result.ratio[part] / batch.count[part])[:, None])
    return out


def thetas(result):
    """Theta of every visited document, (D_b, K + 1)."""
    theta = np.tile(result.prior.values, (result.batch.n_documents, 1))
    theta[:, :-1] += result.documents.dense(result.prior.values.size - 1)
    return theta


def gathered(recorder):
    """(docs, r, theta) of the corpus in batch order."""
    visits = [recorder.visits[b] for b in sorted(recorder.visits)]
    docs = [doc for result in visits for doc in documents_of_visit(result)]
    r = [x for result in visits for x in responsibilities(result)]
    return docs, r, np.concatenate([thetas(result) for result in visits])


def direct_objective(docs, r, theta, state, model):
    """The twin's objective at the state's global parameters."""
    p, settings = state.parameters, {**model.hyperparameters, "bound": model.bound}
    return reference.objective_terms(docs, r, theta, p.tau, p.rho, p.omega, **settings)["total"]


def summary_of(twin):
    """The twin's statistics as a Summary over all words."""
    return Summary(twin["D"], None, twin["S"], twin["N"], twin["H"], twin["T"], twin["G"], twin["Q"], twin["Q0"])


def assert_summary_equal(summary, twin, rtol=1e-9):
    """Every statistic agrees, relative to the largest entry of its array (small entries are differences)."""
    assert summary.n_documents == twin["D"]
    rows = slice(None) if summary.words is None else summary.words
    for name in ("S", "N", "H", "T", "G", "Q", "Q0"):
        expected = np.asarray(twin[name])[rows] if name == "S" else np.asarray(twin[name])
        scale = max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(getattr(summary, name), expected, rtol=0, atol=rtol * scale, err_msg=name)


def prior_of(parameters, alpha=ALPHA):
    """Alpha E[beta], (K + 1,)."""
    return alpha * expected_beta(parameters.rho)


def falls(infos):
    """Falls of the objective between laps, beyond rounding.

    The objective is a sum of terms of its own size and larger; 1e-9 |L| is what a move must gain.
    """
    values = np.array([info.objective for info in infos])
    assert np.isfinite(values).all()
    return np.flatnonzero(-np.diff(values) - 1e-9 * np.abs(values[1:]) > 0)


def stick_problem(seed, n_topics=6, alpha=None):
    """(rho, omega, T, D, alpha, gamma) of plausible scale; alpha often above 1."""
    rng = np.random.default_rng(seed)
    n_documents = int(rng.integers(1, 400))
    rho, omega = rng.uniform(0.02, 0.98, n_topics), np.exp(rng.uniform(0.0, 7.0, n_topics))
    T = -n_documents * rng.uniform(0.5, 9.0, n_topics + 1)
    return rho, omega, T, n_documents, alpha or rng.uniform(0.1, 6.0), rng.uniform(0.5, 20.0)


def assert_slopes_equal_central_differences(rho, omega, fixed, bound="surrogate"):
    """The gradient of the stick objective is that of its twin's values."""
    _, by_rho, by_omega = stick_objective(rho, omega, *fixed, bound)
    for k in range(rho.size):
        for vector, gradient in ((rho, by_rho), (omega, by_omega)):
            step = 1e-5 * vector[k] * (1 - rho[k])
            up, down = vector.copy(), vector.copy()
            up[k] += step
            down[k] -= step
            ends = [(up, omega), (down, omega)] if vector is rho else [(rho, up), (rho, down)]
            high, low = (reference.stick_objective(*end, *fixed, bound) for end in ends)
            # the difference of two values of about |L_G| holds their rounding, 1e-15 |L_G| / step
            rounding = 1e-14 * abs(high) / step
            np.testing.assert_allclose((high - low) / (2 * step), gradient[k], rtol=1e-5, atol=rounding)
