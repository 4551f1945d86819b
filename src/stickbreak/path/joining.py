"""Greedy joins of topics, each time the pair that costs unseen tokens least (docs/math (J2) to (J4))."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, factor_of, of_words, total_of
from stickbreak.path.evidence import Evidence
from stickbreak.path.kernels import joins as join_kernels
from stickbreak.path.topic_path import TopicPath

CANDIDATES = 16  # pairs whose gain is computed together ...
ROUNDS = 16  # ... and how often at most in a step
REFRESH = 0.9  # when this share of the topics is left, bounds are computed again ...
ALWAYS = 20  # ... and all gains in every step from this number on
FEWEST_GAINS = 8  # that are worth a thread
LEAST_WEIGHT = 1e-3  # of two topics in a document, for the gain of their join to be computed there
ROUNDED = 1e-9  # of a probability that is left of it: below, the difference of two may be rounding


def join_to_one(
    choosing: Sequence[Evidence],
    scoring: Sequence[Evidence],
    eta: Eta,
    n_words: int,
    executor: Executor,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> TopicPath:
    """Join topics pair by pair, down to one.

    Parameters
    ----------
    choosing : sequence of Evidence
        Tokens that topics have not seen, part by part, which say what joins; the same K topics in each.
    scoring : sequence of Evidence
        Other such tokens, which say how well topics predict after each join.                        docs/math (J4)
    eta : float or ndarray of shape (W,)
        Pseudo-count of a word.
    n_words : int
        W.
    executor : Executor
    callback : callable, optional
        Called with a dict after each join.

    Returns
    -------
    TopicPath
    """
    state = JoiningState(choosing, eta, n_words)
    scored = [ScoredPart(part, eta, n_words) for part in scoring]
    joins, by_document = [], [np.concatenate([part.log_p() for part in scored])]
    while state.n_alive > 1:
        joins.append(state.join(*state.best_pair(executor)))
        for part in scored:
            if part.join(*joins[-1]):
                part.predict()
        by_document.append(np.concatenate([part.log_p() for part in scored]))
        if callback is not None:
            callback({"stage": "join", "done": len(joins), "total": state.n_topics - 1})
    pairs = np.array(joins, dtype=np.int64).reshape(-1, 2)
    lengths = np.concatenate([part.tokens.by_document(part.tokens.count) for part in scoring])
    return TopicPath.of(pairs, np.array(by_document), lengths)


class JoiningState:
    """The topics on their way: K rows, of which some are gone into others until the next refresh.

    Attributes
    ----------
    n_topics : int
        K at the start.
    number : ndarray of shape (K,)
        Of each row, the least of the topics that it holds.
    parts : list of JoinedPart
        The same rows, in each part of the evidence.
    """

    def __init__(self, evidence: Sequence[Evidence], eta: Eta, n_words: int) -> None:
        self.parts = [JoinedPart(part, eta, n_words) for part in evidence]
        self.n_topics = K = evidence[0].mass.size
        self.number = np.arange(K)
        self._alive = np.ones(K, dtype=bool)
        self._known = np.full((K, K), np.inf)  # gains when they were computed last
        self._refresh()

    @property
    def n_alive(self) -> int:
        """Topics that are left."""
        return int(self._alive.sum())

    def best_pair(self, executor: Executor) -> tuple[int, int]:
        """Return the rows whose join costs least.                                                  docs/math (J2), (J3)

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
        numbers = int(self.number[a]), int(self.number[b])
        self.number[a], self._alive[b] = min(numbers), False
        spoilt = [part.join(a, b) for part in self.parts]
        bounds = sum(part.bound(a) for part in self.parts)
        of_a = np.where(self._alive, bounds, -np.inf)
        self._bounds[b], self._bounds[:, b] = -np.inf, -np.inf
        self._known[a], self._known[:, a] = np.inf, np.inf
        self._bounds[a, a + 1 :], self._bounds[:a, a] = of_a[a + 1 :], of_a[:a]
        if any(spoilt):
            self._refresh()
        return min(numbers), max(numbers)

    def _gains(self, flat: Int, executor: Executor) -> Float:
        """Return the gains of pairs, given as places in the table of bounds."""
        pairs = np.stack(np.divmod(flat, self._alive.size), axis=1)

        def run(some: Int) -> Float:
            return np.asarray(sum(part.gains(some) for part in self.parts))

        return np.concatenate(executor.map(run, np.array_split(pairs, max(1, len(pairs) // FEWEST_GAINS))))

    def _refresh(self) -> None:
        """Drop the rows that are gone, and make p and the bounds again.                               docs/math (J3)"""
        kept = np.flatnonzero(self._alive)
        self.number, self._known = self.number[kept], self._known[np.ix_(kept, kept)]
        self._alive = np.ones(kept.size, dtype=bool)
        self._bounds = np.full((kept.size, kept.size), -np.inf)
        for part in self.parts:
            part.refresh(kept)
        for k in range(kept.size - 1):
            self._bounds[k, k + 1 :] = sum(part.bound(k)[k + 1 :] for part in self.parts)


class ScoredPart:
    """K rows of topics, as they were learned without the documents of this part. Rows that are gone have no weight.

    Attributes
    ----------
    tokens : HeldOutTokens
    tau : ndarray of shape (K, W')
        S_kw + eta of the words of the tokens.
    mass : ndarray of shape (K,)
        N_k + W eta.
    theta : ndarray of shape (K, D)
    p : ndarray of shape (I,)
        Probability of each count's word in its document.
    """

    def __init__(self, evidence: Evidence, eta: Eta, n_words: int) -> None:
        self.tokens, self.total_eta = evidence.tokens, float(total_of(eta, n_words))
        self.eta = of_words(eta, evidence.tokens.words)
        self.tau, self.mass = evidence.tau.copy(), evidence.mass.copy()
        self.theta = evidence.theta.T.copy()
        self._document = self.tokens.document
        self.p = np.empty(self.tokens.word.size)
        self.predict()

    def log_p(self) -> Float:
        """Return the log probability of the tokens of each document, (D,)."""
        of_counts = self.tokens.count * np.log(self.p)
        return np.bincount(self._document, of_counts, minlength=self.tokens.n_documents).astype(np.float64)

    def predict(self) -> None:
        """Make p again."""
        join_kernels.predict(self.tokens.indptr, self.tokens.word, self.theta, self.tau, self.mass, self.p)

    def join(self, a: int, b: int) -> bool:
        """Give all that row b has to row a; return whether rounding may have spoilt a probability."""
        of_topics = self.theta, self.tau, self.mass, self.eta, self.total_eta
        least = join_kernels.follow(self.tokens.indptr, self.tokens.word, *of_topics, a, b, self.p)
        self.tau[a] += self.tau[b] - self.eta
        self.mass[a] += self.mass[b] - self.total_eta
        self.theta[a] += self.theta[b]
        self.theta[b] = 0.0
        return not least >= ROUNDED


class JoinedPart(ScoredPart):
    """The rows of a part that says which of them join.

    Attributes
    ----------
    inverse : ndarray of shape (I,)
        1 / p.
    """

    inverse: Float

    def join(self, a: int, b: int) -> bool:
        """Give all that row b has to row a; return whether rounding may have spoilt a probability."""
        masses = float(self.mass[a]), float(self.mass[b])
        spoilt = super().join(a, b)
        self.inverse = 1.0 / self.p
        self._follow(a, b, *masses)
        return spoilt

    def gains(self, pairs: Int) -> Float:
        """Return what the joins of pairs of rows, (n, 2), gain, (n,).                                docs/math (J2)"""
        tokens, out = self.tokens, np.empty(len(pairs))
        settings = (self.inverse, self.theta, self.tau, self.mass, self.eta, self.total_eta, LEAST_WEIGHT)
        join_kernels.gains((tokens.indptr, tokens.word, tokens.count), *settings, pairs, out)
        return out

    def refresh(self, kept: Int) -> None:
        """Keep these rows, and make p, X and Y again.                                                docs/math (J3)"""
        tokens = self.tokens
        self.tau, self.mass, self.theta = self.tau[kept], self.mass[kept], self.theta[kept]
        self.predict()
        self.inverse = 1.0 / self.p
        ratio, of_documents = tokens.count * self.inverse, np.empty(self.theta.shape)
        join_kernels.shares_of_documents(tokens.indptr, tokens.word, ratio, self.tau, self.mass, of_documents)
        self._X = self.theta @ of_documents.T
        of_eta = ratio * self.eta[tokens.word] if isinstance(self.eta, np.ndarray) else ratio
        self._Y = self.theta @ tokens.by_document(of_eta)

    def bound(self, k: int) -> Float:
        """Return what the joins of row k gain at most, (K,): sum_i c_i (p_i' - p_i) / p_i.           docs/math (J3)"""
        X, Y, mass, own = self._X, self._Y, self.mass, np.diag(self._X)
        mixed = mass[k] * (own[k] + X[:, k]) + mass * (X[k] + own) - factor_of(self.eta) * (Y[k] + Y)
        return np.asarray(mixed / (mass[k] + mass - self.total_eta) - own[k] - own)

    def _follow(self, a: int, b: int, mass_a: float, mass_b: float) -> None:
        """Let X and Y follow the join of row b into row a, with p as it was at the last refresh."""
        X, Y = self._X, self._Y
        X[a] += X[b]
        Y[a] += Y[b]
        X[:, a] = (mass_a * X[:, a] + mass_b * X[:, b] - factor_of(self.eta) * Y) / self.mass[a]
