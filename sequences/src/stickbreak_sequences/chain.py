"""The sticky HDP-HMM as the core of the variational family sees it: batches of sequences, the model, its local step.

Notation (docs/math/sequences.md): K states, beta their weights, n steps of a batch; the last of K + 1 entries is all
states that are not active, the first of K + 1 rows of transitions are the starts of sequences.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, psi

from stickbreak.fitting.engine import Engine, shards
from stickbreak.likelihoods import Likelihood, VectorLikelihood
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import DocumentCounts, Documents, runs
from stickbreak.variational.global_step import interpolate, optimise_sticks
from stickbreak.variational.hdp import best_gamma
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.model import Inference, Model
from stickbreak.variational.objective import SURROGATE, expected_log_normaliser, expected_log_sticks, stick_term
from stickbreak.variational.state import GlobalParameters, PairStatistics, Summary, expected_beta
from stickbreak_sequences.kernels import SMALLEST, backward, forward, pooled_entropies

SHARD_STEPS = 4096  # steps, of whole sequences, that a thread is given
HELD = 1e-3  # steps: a sequence with more in a state holds it
LIMITS = {"alpha": (1e-2, 1e3), "kappa": (1e-2, 1e5)}  # of what is learned

Steps = Any  # an array (n, dim) of vectors, or a csr_array (n, W) of counts of symbols


@dataclass(frozen=True)
class SequenceBatch:
    """Sequences, one after the other."""

    likelihood: Likelihood
    steps: Steps
    indptr: Int  # (D + 1,)

    @property
    def n_documents(self) -> int:
        """Number of sequences."""
        return self.indptr.size - 1

    @cached_property
    def lengths(self) -> Float:
        """Steps of each sequence, (D,)."""
        return np.diff(self.indptr).astype(np.float64)

    @cached_property
    def sizes(self) -> Float:
        """Observations of each step, (n,): symbols, or one vector."""
        if isinstance(self.likelihood, VectorLikelihood):
            return np.ones(len(self.steps))
        return np.asarray(self.steps.sum(axis=1), np.float64).ravel()

    def expected_log(self, tau: Float, tau_sum: Float) -> Float:
        """Return E log p(x_t | phi_k), (n, K), of globals as the core has them."""
        if isinstance(self.likelihood, VectorLikelihood):
            return self.likelihood.expected_log(self.likelihood.posterior(tau, tau_sum), self.steps)
        return np.asarray(self.steps @ (psi(tau) - psi(tau_sum)))

    def statistics(self, share: Float) -> tuple[Float, Float]:
        """Return S (rows, K) and N (K,) of steps whose states have probabilities `share` (n, K)."""
        if isinstance(self.likelihood, VectorLikelihood):
            return self.likelihood.statistics(self.steps, share), share.sum(axis=0)
        return np.asarray(self.steps.T @ share), self.sizes @ share

    def selected(self, rows: Int) -> SequenceBatch:
        """Return some of the sequences."""
        indptr, place = runs(self.indptr, rows)
        return replace(self, steps=self.steps[place], indptr=indptr)


def stacked(parts: Sequence[Steps]) -> Steps:
    """Return the steps of several parts, one after the other."""
    return sparse.csr_array(sparse.vstack(parts)) if sparse.issparse(parts[0]) else np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class LoadedBatch:
    """A batch that is in memory, as the schedules call for it."""

    steps: Steps
    indptr: Int
    likelihood: Likelihood

    def __call__(self) -> SequenceBatch:
        """Return it."""
        return SequenceBatch(self.likelihood, self.steps, self.indptr)


@dataclass(frozen=True, slots=True)
class ChainPrior:
    """Stands where admixtures have the prior of documents: sequences share the prior of transitions."""

    def track_pairs(self, result: ChainResult, rows: tuple[int, int], left: Int, right: Int) -> PairStatistics:
        """Return by how much the entropy changes where both states of a pair become one.             docs/math (Z7)"""
        out = PairStatistics.zeros(left.size)
        indptr = result.batch.indptr[rows[0] : rows[1] + 1]
        pooled_entropies(indptr, result.move, result.ahead, result.behind, result.share, left, right, out.H)
        return out

    def relabelled(self, new_index: Int) -> ChainPrior:
        """Return the same."""
        return self


@dataclass(frozen=True, slots=True)
class ChainResult:
    """What one visit of a batch found."""

    batch: SequenceBatch
    share: Float  # (n, K) q(z_t = k)
    transitions: Float  # (K + 1, K)
    entropy: Float  # (K,)
    move: Float  # (K, K) with `ahead` and `behind`: q(z_t-1, z_t) of the kernels
    ahead: Float  # (n, K)
    behind: Float  # (n, K)
    prior: ChainPrior = ChainPrior()

    @property
    def sweeps(self) -> Int:
        """One for each sequence: forward and backward is exact."""
        return np.ones(self.batch.n_documents, np.int64)

    @property
    def restarts(self) -> Int:
        """None tried, none accepted."""
        return np.zeros(2, np.int64)


def pass_through(batch: SequenceBatch, log_weights: Float, log_start: Float, log_move: Float, engine: Engine) -> Any:
    """Run forward and backward over a batch; return a `ChainResult` and log Z of all sequences.      docs/math (Z6)

    `log_weights` (n, K): log p of each step, changed in place. `log_start` (K,), `log_move` (K, K).
    """
    n, n_states = log_weights.shape
    largest = log_weights.max(axis=1, keepdims=True) if n else np.zeros((0, 1))
    log_weights -= largest
    weights = np.exp(log_weights)
    start, move = np.maximum(np.exp(log_start), SMALLEST), np.maximum(np.exp(log_move), SMALLEST)
    ahead, behind, share, norm = np.empty((n, n_states)), np.empty((n, n_states)), np.empty((n, n_states)), np.empty(n)

    def run(rows: tuple[int, int]) -> Float:
        indptr, transitions = batch.indptr[rows[0] : rows[1] + 1], np.zeros((n_states + 1, n_states))
        forward(indptr, weights, start, move, ahead, norm)
        backward(indptr, weights, move, ahead, share, behind, transitions[0], transitions[1:])
        return transitions

    parts = engine.map(run, shards(np.diff(batch.indptr), SHARD_STEPS))
    transitions = sum(parts, np.zeros((n_states + 1, n_states)))
    # H_k = sum_t q(z_t = k) (log norm_t - log weight_tk) - sum_j q(j, k) log move_jk                docs/math (Z6)
    log_norm = np.log(norm)
    entropy = log_norm @ share - (share * log_weights).sum(axis=0)
    entropy -= transitions[0] * np.log(start) + (transitions[1:] * np.log(move)).sum(axis=0)
    return ChainResult(batch, share, transitions, entropy, move, ahead, behind), float(log_norm.sum() + largest.sum())


@dataclass(frozen=True, slots=True)
class StickyHMM(Model[DocumentCounts]):
    """pi_0 ~ Dir(alpha beta), pi_j ~ Dir(alpha beta + kappa e_j); z_1 ~ pi_0, z_t ~ pi_z(t-1).       docs/math (Z1)"""

    starts_matter: ClassVar[bool] = False
    documents: ClassVar[type[Documents]] = DocumentCounts

    likelihood: Likelihood
    alpha: float
    kappa: float
    gamma: float

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """All that can be learned, by name, as plain values; a kappa of 0 stays."""
        sticky = {"kappa": self.kappa} if self.kappa > 0 else {}
        return {"alpha": self.alpha, **sticky, "gamma": self.gamma, **self.likelihood.hyperparameters}

    def with_hyperparameters(self, values: Mapping[str, Any]) -> StickyHMM:
        """Return the model with what `hyperparameters` returned of another."""
        own = {name: values[name] for name in ("alpha", "kappa", "gamma") if name in values}
        return replace(self, likelihood=self.likelihood.with_hyperparameters(values), **own)

    def pseudo_summary(self, n_rows: int, n_topics: int) -> Summary:
        """Return the summary of no sequences."""
        return replace(Summary.zeros(n_rows, n_topics), transitions=np.zeros((n_topics + 1, n_topics)))

    def theta(self, transitions: Float, beta: Float) -> Float:
        """Return theta (K + 1, K + 1) of q(pi_j) = Dir(theta_j).                                     docs/math (Z4)"""
        theta = np.tile(self.alpha * beta, (beta.size, 1))
        theta[:, :-1] += transitions
        states = np.arange(beta.size - 1)
        theta[states + 1, states] += self.kappa
        return theta

    def local_step(
        self,
        batch: Any,
        parameters: GlobalParameters,
        start: DocumentCounts | None,
        settings: LocalSettings,
        engine: Engine,
        among: Any = None,
    ) -> Any:
        """Return q(z) of a batch; it follows from the globals.                                       docs/math (Z6)"""
        assert parameters.transitions is not None
        batch = replace(batch, likelihood=self.likelihood)
        theta = self.theta(parameters.transitions, parameters.expected_beta)
        log_pi = (psi(theta) - psi(theta.sum(axis=1, keepdims=True)))[:, :-1]
        log_weights = batch.expected_log(parameters.tau, parameters.tau_sum)
        return pass_through(batch, log_weights, log_pi[0], log_pi[1:], engine)[0]

    def summary(self, result: Any, engine: Engine) -> Summary:
        """Return the additive statistics of a visited batch."""
        S, N = result.batch.statistics(result.share)
        out = replace(
            self.pseudo_summary(0, N.size), words=np.arange(len(S), dtype=np.int32), S=S, N=N, H=result.entropy
        )
        return replace(out, n_documents=result.batch.n_documents, transitions=result.transitions)

    def document_state(self, result: Any) -> DocumentCounts:
        """Return how many sequences hold each state."""
        indptr, share = result.batch.indptr, result.share
        sums = np.add.reduceat(np.vstack([share, np.zeros((1, share.shape[1]))]), indptr[:-1], axis=0)
        held = (sums > HELD) & (np.diff(indptr) > 0)[:, None]
        return DocumentCounts(result.batch.n_documents, held.sum(axis=0))

    @property
    def _gain(self) -> float:
        """What the bound of a sticky row keeps of its brace, per unit of 1 - beta_j, in nats.        docs/math (Z3)"""
        return max(0.0, float(self.alpha * psi(1.0 + self.kappa) - gammaln(1.0 + self.alpha)))

    def _slope(self) -> float:
        """Return the coefficient of E beta_j in the bound of row j.                                  docs/math (Z3)"""
        return float(np.log1p(self.alpha / self.kappa)) - self._gain if self.kappa > 0 else 0.0

    def best_sticks(self, totals: Summary, rho: Float, omega: Float) -> tuple[Float, Float]:
        """Return better (rho, omega) given the statistics: theta, then the sticks.                   docs/math (Z5)"""
        assert totals.transitions is not None
        theta = self.theta(totals.transitions, expected_beta(rho))
        T = (psi(theta) - psi(theta.sum(axis=1, keepdims=True))).sum(axis=0)
        T[:-1] += self._slope() / self.alpha
        sticky = self.kappa > 0
        return optimise_sticks(T, rho.size + (not sticky), self.alpha, self.gamma + sticky, rho, omega)

    def step_sticks(self, totals: Summary, rho: Float, omega: Float, step: float, rule: str) -> tuple[Float, Float]:
        """Return (rho, omega) after a stochastic step; no schedule of sequences takes one."""
        return interpolate(rho, omega, *self.best_sticks(totals, rho, omega), step)

    def objective(self, totals: Summary, rho: Float, omega: Float, data: Float) -> float:
        """Return L in nats, with theta at its best; `data` is L_data of each state.         docs/math (Z2), (Z4)"""
        assert totals.transitions is not None
        theta = self.theta(totals.transitions, expected_beta(rho))
        rows = float(gammaln(theta).sum() - gammaln(theta.sum(axis=1)).sum())
        bound = self.log_normalisers(rho, omega)
        return float(data.sum() + totals.H.sum()) + rows + bound + stick_term(rho, omega, self.gamma)

    def log_normalisers(self, rho: Float, omega: Float) -> float:
        """Return the lower bound of E[c_D] of the starts and of all K rows.                          docs/math (Z3)"""
        n_states, plain = rho.size, expected_log_normaliser(rho, omega, self.alpha, SURROGATE)
        if self.kappa == 0:
            return (n_states + 1) * plain
        log_u, log_rest = expected_log_sticks(rho, omega)
        own = float((np.arange(n_states, 0, -1) * log_rest).sum() - log_rest.sum() + log_u.sum())  # sum_j E log beta_j
        row = np.log(self.kappa) - np.log(self.alpha + self.kappa) + self._gain
        beta = float(expected_beta(rho)[:-1].sum())
        return (n_states + 1) * plain - own + n_states * float(row) + self._slope() * beta

    def idle(self, N: Float) -> NDArray[np.bool_]:
        """Return that no state is: each costs its row of transitions."""
        return np.zeros(N.size, dtype=bool)

    def learn(self, state: Inference[DocumentCounts], names: Collection[str], engine: Engine) -> None:
        """Set the named hyperparameters to the maximum of the objective, theta and sticks following, in place."""
        if not names:
            return
        model, sticks = self, state.parameters
        for name in ("alpha", "kappa"):
            if name in names:
                model = model._learned(name, state)
        if "gamma" in names:
            model = replace(model, gamma=best_gamma(sticks.rho, sticks.omega, model.gamma, SURROGATE))
        sticks.rho, sticks.omega = model.best_sticks(state.totals, sticks.rho, sticks.omega)
        if set(names) & set(model.likelihood.hyperparameters):
            model = replace(model, likelihood=model.likelihood.learned(state.totals.S, state.totals.N))
        state.refresh(model)

    def _learned(self, name: str, state: Inference[DocumentCounts]) -> StickyHMM:
        """Return the model with alpha or kappa at the maximum of the objective."""
        rho, omega, now = state.parameters.rho, state.parameters.omega, getattr(self, name)

        def changed(log_value: float) -> dict[str, Any]:
            return {name: float(np.exp(log_value))}

        def loss(log_value: float) -> float:
            model = replace(self, **changed(log_value))
            return -model.objective(state.totals, rho, omega, state.data)

        low, high = (np.log(limit(now, other)) for limit, other in zip((min, max), LIMITS[name], strict=True))
        found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
        return replace(self, **changed(found.x)) if found.fun < loss(np.log(now)) else self
