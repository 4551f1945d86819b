"""Greedy joins of topics, each time the pair that costs unseen tokens least (math.md (J2), (J3))."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.path.part import JoinedPart, ScoredPart
from stickbreak.path.topic_path import TopicPath
from stickbreak.path.unseen import Evidence

CANDIDATES = 16  # pairs whose gain is computed together ...
ROUNDS = 16  # ... and how often at most in a step
REFRESH = 0.9  # when this share of the topics is left, bounds are computed again ...
ALWAYS = 20  # ... and all gains in every step from this number on
FEWEST_GAINS = 8  # that are worth a thread


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
        Other such tokens, which say how well topics predict after each join.                        math.md (J4)
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
        """Drop the rows that are gone, and make p and the bounds again.                               math.md (J3)"""
        kept = np.flatnonzero(self._alive)
        self.number, self._known = self.number[kept], self._known[np.ix_(kept, kept)]
        self._alive = np.ones(kept.size, dtype=bool)
        self._bounds = np.full((kept.size, kept.size), -np.inf)
        for part in self.parts:
            part.refresh(kept)
        for k in range(kept.size - 1):
            self._bounds[k, k + 1 :] = sum(part.bound(k)[k + 1 :] for part in self.parts)
