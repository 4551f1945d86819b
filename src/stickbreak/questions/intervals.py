"""Shares of topics in groups of documents, with intervals from resampled documents.

Rubin, The Bayesian bootstrap (1981). The interval is widened for few documents as in Hesterberg, What teachers should
know about the bootstrap (2015), Section 4.3, with the effective number of documents of Kish, Survey sampling (1965).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from stickbreak.corpus import Corpus
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream_at
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.weights import weight_blocks

Blocks = Callable[[Int], Iterator[tuple[Int, Float]]]
LEVEL = 0.95
RESAMPLES = 500
_AT_ONCE = 1 << 21  # random numbers held at once: 16 MiB


@dataclass(frozen=True, slots=True)
class GroupShares:
    """Shares of n topics in G groups of documents, and the sums that they are made of.

    Attributes
    ----------
    low, high : ndarray of shape (G, n)
        Ends of the intervals; NaN where a group has a single document.
    n_documents : ndarray of int, of shape (G,)
        Documents with tokens.
    tokens, squares : ndarray of shape (G,)
        Sums of N_d and of their squares.
    of_topics, of_squares : ndarray of shape (G, n)
        Sums of N_d pi_dk and of N_d^2 pi_dk.
    squared : ndarray of shape (G, n)
        Sums of N_d^2 pi_dk^2.
    """

    low: Float
    high: Float
    n_documents: Int
    tokens: Float
    squares: Float
    of_topics: Float
    of_squares: Float
    squared: Float

    @property
    def shares(self) -> Float:
        """Share of the tokens of each group that each topic has, (G, n).                       docs/math (Q1)"""
        return shares_of_sums(self.of_topics, self.tokens)


def shares_of_sums(of_topics: Float, tokens: Float) -> Float:
    """Return sums of N_d pi_dk divided by the tokens, NaN without tokens."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(of_topics / np.asarray(tokens)[..., None])


def group_shares(
    topics: FlatTopics,
    corpus: Corpus,
    group: Int,
    n_groups: int,
    numbers: Int,
    *,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> GroupShares:
    """Return the shares of topics in groups of documents, with intervals.                     docs/math (Q1), (Q2)

    The documents are taken group by group, so that only the resamples of one group are held at once.

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
        D documents.
    group : ndarray of int, of shape (D,)
        Number of the group of each document, or -1.
    n_groups : int
    numbers : ndarray of int, of shape (n,)
        The topics, as columns of `transform`.
    n_resamples : int
    seed : int
    """
    blocks, n = partial(weight_blocks, topics, corpus, numbers), numbers.size
    return shares_in_groups(blocks, corpus.document_lengths, group, (n_groups, n), n_resamples=n_resamples, seed=seed)


def shares_in_groups(
    blocks: Blocks, lengths: ArrayLike, group: Int, shape: tuple[int, int], *, n_resamples: int, seed: int
) -> GroupShares:
    """Return the same from weights that are known already.

    Parameters
    ----------
    blocks : callable
        Rows of documents, in the order in which they are wanted -> blocks of rows and of their weights, (b, n).
    lengths : array-like of shape (D,)
        Tokens of the documents.
    group : ndarray of int, of shape (D,)
    shape : tuple of two ints
        Numbers of groups and of topics.
    n_resamples : int
    seed : int
    """
    lengths, (G, n) = np.asarray(lengths, dtype=np.float64), shape
    used = np.flatnonzero((group >= 0) & (lengths > 0))
    order = used[np.argsort(group[used], kind="stable")]
    found = GroupShares(
        low=np.full((G, n), np.nan),
        high=np.full((G, n), np.nan),
        n_documents=np.bincount(group[used], minlength=G).astype(np.int64),
        tokens=_sums(group[used], lengths[used], G),
        squares=_sums(group[used], lengths[used] ** 2, G),
        of_topics=np.zeros((G, n)),
        of_squares=np.zeros((G, n)),
        squared=np.zeros((G, n)),
    )
    resampled = _Resampled(seed, n_resamples, n)
    for rows, weights in blocks(order):
        ends = np.append(np.flatnonzero(np.diff(group[rows])) + 1, rows.size)
        for begin, end in zip(np.append(0, ends[:-1]), ends, strict=True):
            g, N, pi = int(group[rows[begin]]), lengths[rows[begin:end]], weights[begin:end]
            if g != resampled.group:
                resampled.close(found)
                resampled.open(g)
            found.of_topics[g] += N @ pi
            found.of_squares[g] += N**2 @ pi
            found.squared[g] += N**2 @ pi**2
            resampled.add(N, pi)
    resampled.close(found)
    return found


def _sums(group: Int, values: Float, n_groups: int) -> Float:
    """Return the sums of values by group."""
    return np.bincount(group, values, n_groups).astype(np.float64)


class _Resampled:
    """Sums of one group of documents with random weights v ~ Exponential(1) of the documents, (B, n)."""

    def __init__(self, seed: int, n_resamples: int, n_topics: int) -> None:
        self.group = -1
        self._seed, self._shape = seed, (n_resamples, n_topics)

    def open(self, group: int) -> None:
        """Begin a group; its random numbers depend only on its number."""
        self.group = group
        self._random = stream_at(self._seed, "resampled documents", group)
        self._tokens, self._sums = np.zeros(self._shape[0]), np.zeros(self._shape)

    def add(self, N: Float, pi: Float) -> None:
        """Add documents of the group."""
        step = max(1, _AT_ONCE // self._shape[0])
        for begin in range(0, N.size, step):
            part = slice(begin, begin + step)
            v = self._random.standard_exponential((N[part].size, self._shape[0])) * N[part, None]
            self._tokens += v.sum(axis=0)
            self._sums += v.T @ pi[part]

    def close(self, found: GroupShares) -> None:
        """Write the interval of the group."""
        g = self.group
        if g < 0:
            return
        if found.n_documents[g] > 1:
            tail = expanded_tail(found.tokens[g] ** 2 / found.squares[g])
            found.low[g], found.high[g] = np.quantile(self._sums / self._tokens[:, None], [tail, 1 - tail], axis=0)


def expanded_tail(n: float, level: float = LEVEL) -> float:
    """Return the tail of the resampled shares that an interval leaves out on each side.         docs/math (Q2)

    Parameters
    ----------
    n : float
        Effective number of documents; for 1 the interval is that of all resamples.
    level : float

    Examples
    --------
    >>> round(expanded_tail(1e9), 4), round(expanded_tail(20.0), 4)
    (0.025, 0.0139)
    """
    if not n > 1:
        return 0.0
    spread = stats.t.ppf((1 + level) / 2, n - 1) * np.sqrt((n + 1) / (n - 1))
    return float(stats.norm.sf(spread))
