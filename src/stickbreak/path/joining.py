"""Greedy joins of topics, each time the pair that costs the tokens held out least (math.md (J1) to (J3))."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float, Int
from stickbreak.path.held_out import HeldOutTokens
from stickbreak.path.kernels import joins as join_kernels
from stickbreak.path.topic_path import TopicPath

LEAST_WEIGHT = 1e-3  # of two topics in a document, for the gain of their join to be computed there
CANDIDATES = 16  # pairs whose gain is computed together ...
ROUNDS = 16  # ... and how often at most in a step
REFRESH = 0.9  # when this share of the topics is left, bounds are computed again ...
ALWAYS = 20  # ... and all gains in every step from this number on
ROUNDED = 1e-9  # of a probability that is left of it: below, the difference of two may be rounding
TOKENS_AT_ONCE = 4096
FEWEST_GAINS = 8  # that are worth a thread


def find_path(S: Float, eta: float, theta: Float, tokens: HeldOutTokens, executor: Executor) -> TopicPath:
    """Join topics pair by pair, down to one.

    Parameters
    ----------
    S : ndarray of shape (K, W)
        Expected counts of the fit.
    eta : float
        Pseudo-count of a word.
    theta : ndarray of shape (D, K)
        Weights of the topics in the documents of the tokens, from the other tokens of these documents; rows sum to one.
    tokens : HeldOutTokens
    executor : Executor

    Returns
    -------
    TopicPath
    """
    state = JoiningState(S, eta, theta, tokens)
    joins, by_document = [], [state.log_p()]
    while state.n_alive > 1:
        a, b = state.best_pair(executor)
        joins.append(state.join(a, b))
        by_document.append(state.log_p())
    pairs = np.array(joins, dtype=np.int64).reshape(-1, 2)
    return TopicPath.of(pairs, np.array(by_document), tokens.by_document(tokens.count))


class JoiningState:
    """The topics on their way: K rows, of which some are gone into others until the next refresh.

    Attributes
    ----------
    number : ndarray of shape (K,)
        Of each row, the least of the topics that it holds.
    tau : ndarray of shape (K, W')
        S_kw + eta of the words of the tokens.
    mass : ndarray of shape (K,)
        N_k + W eta.
    theta : ndarray of shape (K, D)
    p : ndarray of shape (I,)
        Probability of each count's word in its document.
    """

    def __init__(self, S: Float, eta: float, theta: Float, tokens: HeldOutTokens) -> None:
        self.tokens, self.eta, self.total_eta = tokens, eta, S.shape[1] * eta
        self.number = np.arange(len(S))
        self.theta = np.ascontiguousarray(theta.T)
        self.tau = S[:, tokens.words] + eta
        self.mass = S.sum(axis=1) + self.total_eta
        shares = np.zeros_like(self.tau)
        join_kernels.take_out(*self._counts(), self.theta, self.tau, self.mass, shares)
        shares = np.minimum(shares, self.tau - eta)  # never more than there is
        self.tau -= shares
        self.mass -= shares.sum(axis=1)
        self._document = tokens.document
        self._alive = np.ones(len(S), dtype=bool)
        self._known = np.full((len(S), len(S)), np.inf)  # gains when they were computed last
        self._refresh()

    @property
    def n_alive(self) -> int:
        """Topics that are left."""
        return int(self._alive.sum())

    def log_p(self) -> Float:
        """Return the log probability of the tokens of each document, (D,)."""
        return self.tokens.by_document(self.tokens.count * np.log(self.p))

    def best_pair(self, executor: Executor) -> tuple[int, int]:
        """Return the rows whose join costs least.                                                    math.md (J2), (J3)

        Gains are computed in the order of what is known of them, until nothing better can be expected of another pair:
        a bound, or the gain when it was computed before.
        """
        n = self.n_alive
        if n < REFRESH * self._alive.size or n <= ALWAYS:
            self._refresh()
        bounds = (self._bounds.copy() if n <= ALWAYS else np.minimum(self._bounds, self._known)).ravel()
        size = min(CANDIDATES * ROUNDS, bounds.size)
        likely = np.argpartition(-bounds, size - 1)[:size]
        likely = likely[np.argsort(-bounds[likely], kind="stable")]
        best, chosen = -np.inf, -1
        for first in range(0, size, CANDIDATES):
            found = likely[first : first + CANDIDATES]
            found = found[bounds[found] > best]
            if found.size == 0:
                break
            bounds[found] = self._gains(found, executor)
            self._known.ravel()[found] = bounds[found]
            at = found[np.argmax(bounds[found])]
            if bounds[at] > best:
                best, chosen = float(bounds[at]), int(at)
        a, b = divmod(chosen, self._alive.size)
        return a, b

    def join(self, a: int, b: int) -> tuple[int, int]:
        """Give all that row b has to row a; return the numbers of the two topics."""
        before, old = self.p.copy(), self._part(a) + self._part(b)
        masses = float(self.mass[a]), float(self.mass[b])
        self.tau[a] += self.tau[b] - self.eta
        self.mass[a] += self.mass[b] - self.total_eta
        self.theta[a] += self.theta[b]
        self.p += self._part(a) - old
        numbers = int(self.number[a]), int(self.number[b])
        self.number[a], self._alive[b] = min(numbers), False
        self._follow(a, b, *masses)
        if (self.p < ROUNDED * before).any():
            self._refresh()
        return min(numbers), max(numbers)

    def _part(self, k: int) -> Float:
        """Return theta_dk phi_kw of each count, (I,)."""
        return self.theta[k][self._document] * self.tau[k][self.tokens.word] / self.mass[k]

    def _gains(self, flat: Int, executor: Executor) -> Float:
        """Return the gains of pairs, given as places in the table of bounds."""
        pairs = np.stack(np.divmod(flat, self._alive.size), axis=1)
        settings = (self.p, self.theta, self.tau, self.mass, self.eta, self.total_eta, LEAST_WEIGHT)

        def run(part: Int) -> Float:
            out = np.empty(len(part))
            join_kernels.gains(*self._counts(), *settings, part, out)
            return out

        n_parts = max(1, len(pairs) // FEWEST_GAINS)
        return np.concatenate(executor.map(run, np.array_split(pairs, n_parts)))

    def _counts(self) -> tuple[Any, ...]:
        return self.tokens.indptr, self.tokens.word, self.tokens.count

    def _refresh(self) -> None:
        """Drop the rows that are gone, and make p and the bounds again.                               math.md (J3)"""
        kept = np.flatnonzero(self._alive)
        self.number, self.tau = self.number[kept], self.tau[kept]
        self.mass, self.theta = self.mass[kept], self.theta[kept]
        self._known = self._known[np.ix_(kept, kept)]
        K, tokens = self.mass.size, self.tokens
        self._alive = np.ones(K, dtype=bool)
        self.p = np.empty(tokens.word.size)
        self._X, self._Y = np.zeros((K, K)), np.zeros(K)
        for first in range(0, tokens.word.size, TOKENS_AT_ONCE):
            part = slice(first, first + TOKENS_AT_ONCE)
            theta = self.theta[:, self._document[part]]
            phi = self.tau[:, tokens.word[part]] / self.mass[:, None]
            self.p[part] = (theta * phi).sum(axis=0)
            theta *= tokens.count[part] / self.p[part]
            self._X += theta @ phi.T
            self._Y += theta.sum(axis=1)
        self._bounds = np.full((K, K), -np.inf)
        for k in range(K - 1):
            self._bounds[k, k + 1 :] = self._bound(k)[k + 1 :]

    def _bound(self, k: int) -> Float:
        """Return what the joins of row k gain at most, (K,): sum_i c_i (p_i' - p_i) / p_i.           math.md (J3)"""
        X, Y, mass, own = self._X, self._Y, self.mass, np.diag(self._X)
        mixed = mass[k] * (own[k] + X[:, k]) + mass * (X[k] + own) - self.eta * (Y[k] + Y)
        return np.asarray(mixed / (mass[k] + mass - self.total_eta) - own[k] - own)

    def _follow(self, a: int, b: int, mass_a: float, mass_b: float) -> None:
        """Let X, Y and the bounds follow the join of row b into row a, with p as it was at the last refresh."""
        X, Y = self._X, self._Y
        X[a] += X[b]
        Y[a] += Y[b]
        X[:, a] = (mass_a * X[:, a] + mass_b * X[:, b] - self.eta * Y) / self.mass[a]
        of_a = np.where(self._alive, self._bound(a), -np.inf)
        self._bounds[b], self._bounds[:, b] = -np.inf, -np.inf
        self._known[a], self._known[:, a] = np.inf, np.inf
        self._bounds[a, a + 1 :], self._bounds[:a, a] = of_a[a + 1 :], of_a[:a]
