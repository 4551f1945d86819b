"""Vectors on the variational core: local step, statistics and moves against direct sums."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp, psi

from stickbreak.fitting.engine import Engine
from stickbreak.likelihoods import DiagonalGaussian, Gaussian, ZeroMeanGaussian
from stickbreak.variational import memoized
from stickbreak.variational import vectors as vectors_module
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.hdp import HDP
from stickbreak.variational.local_step import LocalSettings, summarise, track_pairs
from stickbreak.variational.model import GatheredDocuments, Schedule
from stickbreak.variational.moves import Delete, Merge, Reorder, base, merge, run_move
from stickbreak.variational.objective import expected_log_normaliser, stick_term
from stickbreak.variational.state import GlobalParameters, expected_beta
from stickbreak.variational.vectors import DPMixture, VectorBatch, expected_log_weights

from .following import Holding
from .problems import Recorder

FAMILIES = [ZeroMeanGaussian, Gaussian, DiagonalGaussian]
MODELS = ["hdp", "dp"]
ALPHA, GAMMA = 0.5, 3.0
TIGHT = LocalSettings(tolerance=1e-12, max_sweeps=2000)


def vectors(seed=0, sizes=(7, 0, 12, 1, 9, 16)):
    """Groups of vectors round four places, one group empty and one of a single vector."""
    rng = np.random.default_rng(seed)
    places = 3.0 * rng.normal(size=(4, 2))
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return places[rng.integers(4, size=offsets[-1])] + rng.normal(size=(offsets[-1], 2)), offsets


def globals_of(likelihood, values, n_components, seed=0):
    """Globals that follow from random responsibilities."""
    R = np.random.default_rng(seed).dirichlet(np.full(n_components, 0.3), size=len(values))
    weights = np.full(n_components, 1 / (n_components + 1))
    return GlobalParameters(likelihood.statistics(values, R), R.sum(axis=0), *sticks_of(weights, 20.0))


def batch_of(kind, likelihood, values, offsets):
    return VectorBatch(likelihood, values, offsets if kind == "hdp" else np.arange(len(values) + 1))


def model_of(kind, likelihood):
    return HDP(likelihood, ALPHA, GAMMA) if kind == "hdp" else DPMixture(likelihood, GAMMA)


def dense_r(result):
    """The responsibilities of a visit, (n, K)."""
    docs, n_components = result.documents, result.weights.shape[1]
    group = np.repeat(np.arange(result.batch.n_documents), np.diff(result.batch.indptr))
    weight = np.zeros((result.batch.n_documents, n_components))
    weight[docs.rows, docs.topic] = result.weight
    return weight[group] * result.weights * result.ratio[:, None]


def direct_objective(model, batches, r, globals_, theta=None):
    """The objective from all responsibilities, summed vector by vector (docs/math (V1), (E1), (N3))."""
    R, values = np.concatenate(r), np.concatenate([batch.values for batch in batches])
    tau, rho, omega = globals_
    entropy = -np.where(R > 0, R * np.log(np.where(R > 0, R, 1.0)), 0.0).sum()
    posterior = model.likelihood.posterior(*tau)
    expected = model.likelihood.expected_log(posterior, values)
    nothing = np.zeros_like(tau[0]), np.zeros_like(tau[1])
    data = (R * expected).sum() + model.likelihood.objective(*nothing, posterior).sum()  # - KL(q(phi) || p(phi))
    if isinstance(model, DPMixture):
        return data + entropy + (R * expected_log_weights(rho, omega)).sum() + stick_term(rho, omega, model.gamma)
    prior, allocation = model.alpha * expected_beta(rho), 0.0
    for batch, part, th in zip(batches, r, theta, strict=True):
        for g in range(batch.n_documents):
            t = th[g]
            e = psi(t) - psi(t.sum())
            n = np.append(part[batch.indptr[g] : batch.indptr[g + 1]].sum(axis=0), 0.0)
            allocation += expected_log_normaliser(rho, omega, model.alpha) + gammaln(t).sum() - gammaln(t.sum())
            allocation += ((n + prior - t) * e).sum()
    return data + entropy + allocation + stick_term(rho, omega, model.gamma)


@pytest.mark.parametrize("family", FAMILIES)
def test_local_step_of_a_mixture_is_the_softmax(family):
    values, offsets = vectors()
    likelihood = family.from_data(values)
    p = globals_of(likelihood, values, 5)
    result = model_of("dp", likelihood).local_step(
        batch_of("dp", likelihood, values, offsets), p, None, LocalSettings(), Engine()
    )
    expected = likelihood.expected_log(likelihood.posterior(p.tau, p.tau_sum), values)
    joint = expected + expected_log_weights(p.rho, p.omega)
    r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(dense_r(result), r, atol=2e-11)
    assert (dense_r(result)[r < 1e-13] == 0).all()
    np.testing.assert_allclose(dense_r(result).sum(axis=1), 1.0, rtol=1e-13)


@pytest.mark.parametrize("family", FAMILIES)
def test_local_step_of_groups_is_a_fixed_point(family):
    """r ∝ exp(E log pi_gk + E log p(x | k)), theta_gk = alpha E[beta_k] + N_gk."""
    values, offsets = vectors()
    likelihood = family.from_data(values)
    p, batch = globals_of(likelihood, values, 4), batch_of("hdp", likelihood, values, offsets)
    result = model_of("hdp", likelihood).local_step(batch, p, None, TIGHT, Engine())
    r, expected = dense_r(result), likelihood.expected_log(likelihood.posterior(p.tau, p.tau_sum), values)
    prior = ALPHA * expected_beta(p.rho)
    for g in range(batch.n_documents):
        part = slice(offsets[g], offsets[g + 1])
        theta = prior[:-1] + r[part].sum(axis=0)
        joint = expected[part] + psi(theta)
        np.testing.assert_allclose(r[part], np.exp(joint - logsumexp(joint, axis=1, keepdims=True)), atol=1e-8)
    np.testing.assert_allclose(result.documents.dense(4).sum(axis=1), np.diff(offsets))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_summary_and_pairs_equal_the_direct_sums(family, kind, monkeypatch):
    monkeypatch.setattr(vectors_module, "SHARD_COUNTS", 8)  # several shards
    monkeypatch.setattr(vectors_module, "SHARD_VECTORS", 4)
    values, offsets = vectors(1)
    likelihood = family.from_data(values)
    result = model_of(kind, likelihood).local_step(
        batch_of(kind, likelihood, values, offsets), globals_of(likelihood, values, 5), None, TIGHT, Engine()
    )
    found, R = summarise(result, Engine()), dense_r(result)
    terms = np.where(R > 0, R * np.log(np.where(R > 0, R, 1.0)), 0.0)
    np.testing.assert_allclose(found.S, likelihood.statistics(values, R), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.N, R.sum(axis=0), atol=1e-10)
    np.testing.assert_allclose(found.H, -terms.sum(axis=0), atol=1e-9)
    left, right = np.array([0, 1, 2]), np.array([3, 2, 4])
    pairs = track_pairs(result, left, right, Engine())
    both = R[:, left] + R[:, right]
    union = -np.where(both > 0, both * np.log(np.where(both > 0, both, 1.0)), 0.0).sum(axis=0)
    np.testing.assert_allclose(pairs.H, union + (terms[:, left] + terms[:, right]).sum(axis=0), atol=1e-9)


def test_a_vector_that_no_component_of_its_group_explains_brings_its_own():
    """Log densities thousands of nats apart: nothing may be divided by a weight of zero."""
    values = np.array([[0.0, 0.1], [0.1, 0.0], [500.0, 500.0], [0.0, -0.1], [499.0, 501.0]])
    likelihood = Gaussian(4.0, np.eye(2), np.zeros(2), 0.1)
    R = np.array([[1.0, 0], [1, 0], [0, 1], [1, 0], [0, 1]])
    p = GlobalParameters(likelihood.statistics(values, R), R.sum(axis=0), *sticks_of(np.array([0.5, 0.4]), 9.0))
    batch = VectorBatch(likelihood, values, np.array([0, 3, 5]))
    start = DocumentTopics(np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([3.0, 2.0]))
    result = HDP(likelihood, ALPHA, GAMMA).local_step(batch, p, start, LocalSettings(), Engine())
    np.testing.assert_allclose(result.documents.dense(2), [[2, 1], [1, 1]], atol=1e-6)
    np.testing.assert_allclose(dense_r(result), R, atol=1e-6)


def begun(kind, family, n_components=6, n_batches=2, seed=2, sizes=(20, 0, 14, 1, 30, 25), settings=None):
    """A schedule over vectors, and globals to start from."""
    values, offsets = vectors(seed, sizes)
    likelihood = family.from_data(values)
    cut = np.array_split(np.arange(len(sizes)), n_batches)
    batches = [
        batch_of(
            kind, likelihood, values[offsets[g[0]] : offsets[g[-1] + 1]], offsets[g[0] : g[-1] + 2] - offsets[g[0]]
        )
        for g in cut
    ]
    model, settings = model_of(kind, likelihood), settings or LocalSettings(restarts=3)
    made = Schedule(model, [lambda b=b: b for b in batches], settings, Engine())
    return made, batches, globals_of(likelihood, values, n_components, seed)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_objective_equals_the_direct_sum_after_a_lap(family, kind):
    """After the lap of a single batch, q(z) is that of the visit and the globals follow from it."""
    made, batches, start = begun(kind, family, n_batches=1)
    state, _ = memoized.first_lap(made, start)
    recorder = Recorder()
    next(memoized.laps(made, state, [recorder], 1))
    result, p = recorder.visits[0], state.parameters
    theta = None
    if kind == "hdp":
        theta = [np.tile(result.prior.values, (result.batch.n_documents, 1))]
        theta[0][:, :-1] += result.documents.dense(result.weights.shape[1])
    direct = direct_objective(made.model, batches, [dense_r(result)], ((p.tau, p.tau_sum), p.rho, p.omega), theta)
    assert state.objective == pytest.approx(direct, rel=1e-11)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_objective_never_falls_with_all_moves(family, kind, seed):
    made, _, start = begun(kind, family, n_components=9, n_batches=3, seed=seed)
    moves = [Merge(every_pair=True), Delete(merges_first=True), Reorder()]
    state, info = memoized.first_lap(made, start)
    further, last, accepted = memoized.laps(made, state, moves, 1), info.objective, 0
    for _ in range(12):
        _, info = next(further)
        assert info.objective >= last - 1e-9 * abs(last)
        last, accepted = info.objective, accepted + sum(done for _, done in info.moves.values())
    assert accepted > 3


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("make", [Merge, Delete, Reorder])
@pytest.mark.parametrize("family", FAMILIES)
def test_state_after_a_move_has_the_objective_that_was_promised(family, make, kind, monkeypatch):
    """The stores are edited as the candidate said: totals, globals and objective follow from the batches."""
    made, _, start = begun(kind, family, n_components=7, n_batches=2)
    monkeypatch.setattr(merge, "REST_LAPS", 0)
    state, _ = memoized.first_lap(made, start)
    move = make() if make is not Delete else Delete(None)
    next(memoized.laps(made, state, [], 1))
    further = memoized.laps(made, state, [Holding(move)], 2)
    next(further)
    next(further)  # deletes come in the second lap with the same components
    with pytest.MonkeyPatch.context() as patch:
        promised = []
        evaluate = move.evaluate
        patch.setattr(move, "evaluate", lambda *a: promised.append(evaluate(*a)) or promised[-1])
        patch.setattr(base, "rises", lambda new, old: len(promised) == 1)
        tried, n_accepted = run_move(move, state, made)
    assert n_accepted == 1 <= tried
    assert state.objective == pytest.approx(promised[0].objective, rel=1e-10)
    n_vectors = sum(batch().n_vectors for batch in made.batches)
    assert state.totals.N.sum() == pytest.approx(n_vectors)
    state.resum()
    state.refresh(state.model)
    assert state.objective == pytest.approx(promised[0].objective, rel=1e-10)
    before = state.objective
    next(memoized.laps(made, state, [], 3))
    assert state.objective >= before - 1e-9 * abs(before)


@pytest.mark.parametrize("kind", MODELS)
def test_statistics_of_vectors_in_float32_agree_with_the_counts(kind):
    """A coordinate that is 1 sums to N; responsibilities rounded to float32 would miss it by 1e-8 of its size."""
    values, offsets = vectors(3)
    values = np.column_stack([values, np.ones(len(values))]).astype(np.float32)
    likelihood = Gaussian(5.0, np.eye(3), np.zeros(3), 0.1)
    batch, engine = batch_of(kind, likelihood, values, offsets), Engine()
    parameters = globals_of(likelihood, values.astype(np.float64), 4)
    result = model_of(kind, likelihood).local_step(batch, parameters, None, TIGHT, engine)
    assert result.weights.dtype == np.float64
    found = summarise(result, engine)
    np.testing.assert_allclose(found.S[-1], found.N, rtol=1e-12)
    rows = np.arange(batch.n_documents)
    piece = GatheredDocuments.from_result(0, result, rows, rows, batch)
    S, _ = batch.gathered_statistics(piece.documents, piece.share_ptr, piece.share, 4)
    np.testing.assert_allclose(S[-1], found.N, rtol=1e-12)
    np.testing.assert_allclose(S, found.S, rtol=1e-10, atol=1e-10)
