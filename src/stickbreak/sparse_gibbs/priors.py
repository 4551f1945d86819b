"""The Dirichlet priors of a chain: what they are, how a sweep reads them, and how they are learned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma

from stickbreak.fitting import hyperparameters
from stickbreak.fitting.checkpoint import is_table, require
from stickbreak.fitting.hyperparameters import LARGE, PRIOR
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, by_word, total_of
from stickbreak.numerics.ranges import ETA_LIMITS, LARGEST, SMALLEST, are_sums, is_concentration

SUM_TOLERANCE = 1e-9  # of the sum of the priors of the topics
FIRST_LAP = 10  # that learns: random topics ask for a large alpha, which keeps them alike
EVERY = 5  # laps from a sample, a step of the priors or a round of merges to the next
STEPS = 20  # of the fixed point, where the topics of the tokens stay
STRENGTH = 100.0  # of the topics where bursts begin, and the mean of its prior: worth as many tokens of a document


@dataclass(frozen=True, slots=True)
class Priors:
    """theta_d ~ Dir(a_d), phi_k ~ Dir(eta + b_k), the topics with b_k first. docs/math (L1), (L9), (L22), (L27)"""

    a: Float  # (K,)  a_k = alpha m_k, of a document at the mean of all columns
    alpha: float  # their sum, the concentration of a document
    eta: Eta  # a number, or (W,)
    pseudo: sparse.csr_array | None = None  # (W, n_kept)  b_k: not zero
    strength: float = math.inf  # of the topics against the words that a document has; infinite without bursts
    effects: Float | None = None  # (K, p)  of the columns on log a_k

    @classmethod
    def even(cls, n_topics: int, alpha: float, eta: Eta, pseudo: sparse.csr_array | None = None) -> Priors:
        """Return priors under which all topics are as probable."""
        return cls(np.full(n_topics, alpha / n_topics), alpha, eta, pseudo)

    @property
    def n_kept(self) -> int:
        """Number of topics with pseudo-counts of their own."""
        return 0 if self.pseudo is None else int(self.pseudo.shape[1])

    @property
    def bursts(self) -> bool:
        """Whether tokens may repeat their document."""
        return math.isfinite(self.strength)

    def of_words(self) -> Float | float:
        """Return eta + b_k as it is added to a table of words and topics, (W, K)."""
        eta = by_word(self.eta)
        if self.pseudo is None:
            return eta
        return np.asarray(eta + np.pad(self.pseudo.toarray(), ((0, 0), (0, self.a.size - self.n_kept))))

    def with_weights(self, a: Float) -> Priors:
        """Return the same with another a, taken back into its range."""
        a = np.clip(a, SMALLEST, LARGEST / a.size)
        return replace(self, a=a, alpha=float(a.sum()))

    def merged(self, part_of: Int) -> Priors:
        """Return the priors where topic k is part of topic part_of[k], or of none: -1.               docs/math (L15)"""
        some = part_of >= 0
        merged = self.with_weights(np.bincount(part_of[some], self.a[some]).astype(np.float64))
        if self.effects is None:
            return merged
        sums = np.zeros((merged.a.size, self.effects.shape[1]))
        np.add.at(sums, part_of[some], self.a[some, None] * self.effects[some])
        return replace(merged, effects=sums / merged.a[:, None])

    def halved(self, split: Int) -> Priors:
        """Return the priors where some topics are in two halves, of which the second ones come last. docs/math (L20)"""
        a, effects = self.a.copy(), self.effects
        a[split] /= 2.0
        halves = self.with_weights(np.append(a, a[split]))
        return halves if effects is None else replace(halves, effects=np.vstack([effects, effects[split]]))

    def arrays(self) -> dict[str, Float]:
        """Return those that a saved state holds as arrays."""
        return {"a": self.a} if self.effects is None else {"a": self.a, "effects": self.effects}

    def row(self) -> dict[str, float]:
        """Return those that are numbers: eta by word, which is not learned, stays what it was."""
        numbers = {"alpha": self.alpha}
        if self.bursts:
            numbers["strength"] = self.strength
        return numbers if isinstance(self.eta, np.ndarray) else {**numbers, "eta": self.eta}

    def restored(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> Priors:
        """Return the priors that were saved; raise a ValueError for what cannot be. What is not learned is as here."""
        a, effects = arrays["a"], arrays.get("effects")
        require(effects is None or are_effects(effects, a.size), "its effects are not those of its topics")
        require(is_table(a, self.a.size) and float(a.min()) > 0.0, "its priors are not those of its topics")
        saved = {name: values[name] for name in self.row()}
        require(all(map(is_concentration, saved.values())), "its alpha, eta or strength is out of its range")
        require(math.isclose(float(a.sum()), saved["alpha"], rel_tol=SUM_TOLERANCE), "its priors do not sum to alpha")
        return replace(self, a=np.array(a), effects=None if effects is None else np.array(effects), **saved)


def are_effects(effects: NDArray, n_topics: int) -> bool:
    """Whether an array can be the effects of columns on topics."""
    return is_table(effects, n_topics, effects.shape[-1] if effects.ndim else 0) and are_sums(effects, signed=True)


def prior_of_words(
    eta: Eta, pseudo: sparse.csr_array | None, n_words: int, n_topics: int
) -> tuple[NDArray[np.float32], Int, Int, Float, Float]:
    """Return the prior of the words as a sweep takes it.                                              docs/math (L9)

    Parameters
    ----------
    eta : float or ndarray of shape (W,)
    pseudo : csr_array of shape (W, n), optional
        Pseudo-counts of the first n topics.
    n_words, n_topics : int

    Returns
    -------
    tuple of ndarray
        Eta of each word, (W,); where the pseudo-counts of each word begin, (W + 1,); their topics and these counts; and
        the sum over the words of eta and the pseudo-counts of each topic, (K,).
    """
    of_words, totals = np.full(n_words, eta, np.float32), np.full(n_topics, total_of(eta, n_words))
    if pseudo is None:
        return of_words, np.zeros(n_words + 1, np.int64), np.zeros(0, np.int64), np.zeros(0), totals
    totals[: pseudo.shape[1]] += pseudo.sum(axis=0)
    return of_words, pseudo.indptr.astype(np.int64), pseudo.indices.astype(np.int64), pseudo.data, totals


def is_due(lap: int) -> bool:
    """Tell whether the hyperparameters are learned after a lap."""
    return lap >= FIRST_LAP and lap % EVERY == 0


def tables_of(pairs: tuple[Int, Int, Int], a: Float) -> Float:
    """Return a_k sum_d psi(n_dk + a_k) - psi(a_k), (K,).                                            docs/math (L4)

    Parameters
    ----------
    pairs : tuple of ndarray
        Topics, counts n_dk, and how many documents have these.
    a : ndarray of shape (K,)
    """
    topic, n, times = pairs
    of_topic = a[topic]
    parts: Float = times * of_topic * (digamma(n + of_topic) - digamma(of_topic))
    return np.bincount(topic, parts, a.size).astype(np.float64)


def fixed_point(tables: Float, digamma_gain: float) -> Float:
    """Return a step of Minka's fixed point for a, (K,).                                               docs/math (L4)

    Parameters
    ----------
    tables : ndarray of shape (K,)
        a_k sum_d psi(n_dk + a_k) - psi(a_k), expected.
    digamma_gain : float
        sum_d psi(N_d + alpha) - psi(alpha), alpha the sum of a.
    """
    found: Float = (PRIOR.shape / tables.size + tables) / (PRIOR.rate + digamma_gain)
    return found


def best_eta(S: Float, start: float) -> float:
    """Return the eta that maximises its posterior for expected counts S, (W, K).                       docs/math (L19)

    A count is taken as the whole number below or above it.
    """
    small, tokens = S[(S > 0.0) & (S < LARGE)], S.sum(axis=0)
    if not S.shape[1]:
        return start
    whole = small.astype(np.int64)
    tails: Float = np.bincount(whole, small - whole, LARGE).astype(np.float64)
    tails[:-1] += np.cumsum(np.bincount(whole, minlength=LARGE)[::-1])[::-1][1:]  # the pairs of more than j tokens
    return hyperparameters.best_eta(tails, S[S >= LARGE], tokens, S.shape[0], start, ETA_LIMITS)
