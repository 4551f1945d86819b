"""Weights of topics that depend on columns beside the documents: Dirichlet-multinomial regression in the chain.

docs/math (L27) to (L29). Mimno & McCallum, Topic models conditioned on arbitrary features (UAI 2008). Their weights are
maximised; these are drawn, by the tables of Antoniak (1974) and the Beta variables of Escobar & West (1995).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import one_blas_thread
from stickbreak.fitting.hyperparameters import PRIOR
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import key_of, stream_at
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.kernels import sweeps as sweep_kernels
from stickbreak.sparse_gibbs.kernels.sweeps import LOG_LARGEST, LOG_SMALLEST, Columns
from stickbreak.sparse_gibbs.priors import Priors, is_due

MOST_GROUPS, NEAR = 64, 0.1  # groups of documents, and how far apart the logarithms of their weights may be
AT_ONCE = 1 << 16  # numbers of rows that are computed together: they fit the cache
SCANS = 3  # of tables and weights, given the topics of the tokens: one hardly changes the weights
NEWTON, ENOUGH = 50, 1e-4  # steps to a mode at most, and what they gain at the last
BATCHES = 5  # of draws, whose means say how many draws they are worth
TAILS = 5.0  # degrees of freedom of what is proposed: no effect is so rare there that a chain could not leave it


@dataclass(frozen=True, slots=True)
class Design:
    """What the weights of D documents depend on, in U rows that differ."""

    x: Float  # (U, 1 + p)  a one, and p terms with a mean of about 0
    row: NDArray[np.uint32]  # (D,)

    @classmethod
    def of(cls, terms: Float) -> Self:
        """Return the design of terms, (D, p)."""
        rows, row = np.unique(terms, axis=0, return_inverse=True)
        return cls(np.hstack([np.ones((len(rows), 1)), rows]), row.ravel().astype(np.uint32))

    def of_documents(self, rows: Int) -> Design:
        """Return the design of some documents."""
        return replace(self, row=self.row[rows])

    def blocks(self, numbers: int) -> Iterator[slice]:
        """Yield blocks of rows that need little memory, each with that many numbers."""
        step = max(1, AT_ONCE // numbers)
        return (slice(r, r + step) for r in range(0, len(self.x), step))


def log_weights(priors: Priors) -> Float:
    """Return lambda, (K, 1 + p): log a_k, and the effects."""
    assert priors.effects is not None
    return np.column_stack([np.log(priors.a), priors.effects])


def weights_of(x: Float, weights: Float) -> Float:
    """Return a_dk = exp(x_d^T lambda_k) of rows, (n, K).                                             docs/math (L27)"""
    found: Float = x @ weights.T
    np.clip(found, LOG_SMALLEST, LOG_LARGEST, out=found)
    return np.exp(found, out=found)


def groups_of(design: Design, weights: Float, tokens: Float) -> Int:
    """Return a group of each row, (U,): few groups, in which the weights are near each other.

    The group in which the logarithms differ most, times its tokens, is halved at the middle of one term, until these
    differences are small or there are many groups. `tokens` are those of each row.
    """
    reach = design.x * np.abs(weights).max(axis=0)
    group, number = np.zeros(len(reach), np.int64), count()
    heap: list[tuple[float, int, int, Int]] = []

    def push(rows: Int) -> None:
        spans = np.ptp(reach[rows], axis=0)
        term = int(spans.argmax())
        cost = float(tokens[rows].sum() * spans[term]) if spans[term] > NEAR else 0.0
        heapq.heappush(heap, (-cost, next(number), term, rows))

    push(np.arange(len(reach)))
    while len(heap) < MOST_GROUPS and heap[0][0] < 0.0:
        _, _, term, rows = heapq.heappop(heap)
        values = reach[rows, term]
        above = values > (values.min() + values.max()) / 2.0
        group[rows[above]] = len(heap) + 1
        push(rows[above])
        push(rows[~above])
    return group


class ColumnChain(Chain):
    """A chain whose documents have weights that depend on columns.                                   docs/math (L27)

    Parameters
    ----------
    corpus, n_topics, seed
        As in `Chain`.
    design : Design
    **options
        As in `Chain`.
    """

    def __init__(self, corpus: Corpus, n_topics: int, seed: int, design: Design, **options: Any) -> None:
        super().__init__(corpus, n_topics, seed, **options)
        self.design = design
        self._of_priors: tuple[Priors, Any, Columns] | None = None

    def columns_of(self, priors: Priors) -> tuple[Any, Columns]:
        """Return the largest weights of groups of documents, (G, K), and what sweeps must know of columns."""
        if self._of_priors is None or self._of_priors[0] is not priors:
            weights, (x, row) = log_weights(priors), (self.design.x, self.design.row)
            tokens: Float = np.bincount(row, self.tokens.lengths, len(x)).astype(np.float64)
            group = groups_of(self.design, weights, tokens)
            largest = np.full((int(group.max()) + 1, self.n_topics), LOG_SMALLEST)
            sweep_kernels.largest_of_groups(x, weights, group, largest)
            largest = (1.000001 * np.exp(largest)).astype(np.float32)  # not below any weight when it is rounded
            self._of_priors = priors, largest, Columns(row, group, x, weights)
        return self._of_priors[1:]

    def _concentrations(self, priors: Priors) -> Float:
        """Return the concentration of each document, (D,)."""
        weights, x = log_weights(priors), self.design.x
        with one_blas_thread():  # sums of several threads come in any order
            sums = [weights_of(x[rows], weights).sum(axis=1) for rows in self.design.blocks(self.n_topics)]
        return np.concatenate(sums)[self.design.row]

    def weights_of_documents(self, priors: Priors, rows: Int) -> Float:
        """Return a of some documents, (n, K)."""
        return weights_of(self.design.x[self.design.row[rows]], log_weights(priors))

    def mean_weights(self, priors: Priors) -> Float:
        """Return the mean of a_dk over the documents, (K,)."""
        times, weights = np.bincount(self.design.row, minlength=len(self.design.x)), log_weights(priors)
        blocks = self.design.blocks(self.n_topics)
        with one_blas_thread():
            return np.asarray(sum(times[b] @ weights_of(self.design.x[b], weights) for b in blocks) / times.sum())

    def with_weights(self, priors: Priors, number: int) -> Priors:
        """Return the priors after a lap, their weights drawn where this is due.                      docs/math (L28)"""
        return self.with_drawn_weights(priors, number) if is_due(number) else priors

    def with_drawn_weights(self, priors: Priors, number: int) -> Priors:
        """Return the priors with weights that are drawn, given the topics of the tokens.             docs/math (L28)"""
        entries, lengths, x, row = list(self.documents()), self.tokens.lengths, self.design.x, self.design.row
        for scan in range(SCANS):
            weights, alpha, first = log_weights(priors), self._concentrations(priors), 0
            tables, key = np.zeros_like(weights), key_of(self._seed, SCANS * number + scan, "tables of documents")
            for start, topic, n in entries:
                rows = row[first : first + start.size - 1]
                sweep_kernels.draw_tables(start, topic, n, rows, x, weights, key, first, tables)
                first += rows.size
            rng = stream_at(self._seed, "weights of documents", SCANS * number + scan)
            log_q = np.log(rng.standard_gamma(alpha + 1.0)) + np.log(1.0 - rng.random(alpha.size)) / alpha
            rate = np.logaddexp(log_q, np.log(rng.standard_gamma(np.maximum(lengths, 1)))) - log_q
            rates: Float = np.bincount(row, rate * (lengths > 0), len(x)).astype(np.float64)
            law = Effects(self.design, rates, tables)
            with one_blas_thread():  # sums of several threads come in any order
                effects, a = law.draw(weights[:, 1:], rng)
            priors = replace(priors.with_weights(a), effects=effects)
        return priors


class Effects:
    """The law of effects beta given the tables, a_k integrated out: of each topic one of its own.      docs/math (L28)

    Parameters
    ----------
    design : Design
    rate : ndarray of shape (U,)
        -log q_d, summed over the documents of each row.
    tables : ndarray of shape (K, 1 + p)
        sum_d t_dk x_d.
    """

    def __init__(self, design: Design, rate: Float, tables: Float) -> None:
        self._design, self._rate, self._tables = design, rate, tables[:, 1:]
        self._shape = PRIOR.shape / len(tables) + tables[:, 0]

    def draw(self, start: Float, rng: np.random.Generator) -> tuple[Float, Float]:
        """Return effects, (K, p), after a step of Metropolis and Hastings from a start; and a, (K,), given these.

        The proposal is a t distribution around the mode, which a few steps of Newton find: the law is log-concave.
        """
        (K, p), mode = start.shape, start
        of_start = self._totals(start)
        for _ in range(NEWTON):
            slope, curvature = self._slope(mode)
            step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
            mode = mode + np.clip(step, -1.0, 1.0)
            if (slope * step).sum(axis=1).max() < ENOUGH:
                break
        root = np.linalg.cholesky(curvature).transpose(0, 2, 1)
        scale = np.sqrt(TAILS / rng.chisquare(TAILS, (K, 1)))
        proposed = mode + scale * np.linalg.solve(root, rng.standard_normal((K, p, 1)))[:, :, 0]
        of_proposed = self._totals(proposed)

        def excess(beta: Float, total: Float) -> Float:
            """Return the logarithm of the density over that of the proposal, up to a constant, (K,)."""
            log_p = (self._tables * beta).sum(axis=1) - self._shape * np.log(total) - 0.5 * (beta**2).sum(axis=1)
            square = ((root @ (beta - mode)[:, :, None]) ** 2).sum(axis=(1, 2))
            return np.asarray(log_p + 0.5 * (TAILS + p) * np.log1p(square / TAILS))

        kept = np.log(rng.random(K)) < excess(proposed, of_proposed) - excess(start, of_start)
        a = rng.standard_gamma(self._shape) / np.where(kept, of_proposed, of_start)
        return np.where(kept[:, None], proposed, start), a

    def _parts(self, beta: Float) -> Iterator[tuple[Float, Float]]:
        """Yield the terms of some rows, (n, p), and what these add to the totals, (n, K)."""
        for rows in self._design.blocks(max(beta.shape[0], beta.shape[1] ** 2)):
            x = self._design.x[rows, 1:]
            part = np.clip(x @ beta.T, LOG_SMALLEST, LOG_LARGEST)
            np.exp(part, out=part)
            part *= self._rate[rows, None]
            yield x, part

    def _totals(self, beta: Float) -> Float:
        """Return R_k = 1 + sum_d -log q_d exp(x_d^T beta_k), (K,)."""
        return np.asarray(PRIOR.rate + sum(part.sum(axis=0) for _, part in self._parts(beta)))

    def _slope(self, beta: Float) -> tuple[Float, Float]:
        """Return the slope of the log density, (K, p), and minus its second derivatives, (K, p, p)."""
        (K, p), shape = beta.shape, self._shape[:, None]
        total, first, second = np.full((K, 1), PRIOR.rate), np.zeros((K, p)), np.zeros((K, p * p))
        for x, part in self._parts(beta):
            total += part.sum(axis=0)[:, None]
            first += part.T @ x
            second += part.T @ (x[:, :, None] * x[:, None, :]).reshape(len(x), p * p)
        first /= total
        spread = (second / total).reshape(K, p, p) - first[:, :, None] * first[:, None, :]
        return self._tables - shape * first - beta, shape[:, :, None] * spread + np.eye(p)


def summary(draws: Float) -> Float:
    """Return means, errors and degrees of freedom, (3, K, p), of correlated draws, (n, K, p).     docs/math (L29)

    Means of batches say how many draws those of a topic are worth.
    """
    size, scatter = len(draws) // BATCHES, draws.var(axis=0, ddof=1)
    batches = draws[: BATCHES * size].reshape(BATCHES, size, *scatter.shape).mean(axis=1)
    length = size * (batches.var(axis=0, ddof=1) / scatter).mean(axis=1, keepdims=True)  # of a stretch that counts once
    n_effective = np.maximum(len(draws) / np.maximum(length, 1.0), 3.0)
    error = np.sqrt(scatter * (n_effective + 1.0) / (n_effective - 1.0))
    return np.stack([draws.mean(axis=0), error, np.broadcast_to(n_effective - 1.0, error.shape)])
