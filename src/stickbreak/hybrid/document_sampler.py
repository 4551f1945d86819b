"""The documents of a minibatch, sampled under given globals: in parallel, each with its own stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.executor import Executor, shards
from stickbreak.hybrid.kernels import documents as kernels
from stickbreak.hybrid.kernels.words import count_topics
from stickbreak.hybrid.word_weights import Weights
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.stirling import stirling_ratios, wide_enough
from stickbreak.numerics.table_factors import Factors, factors_of

SAMPLERS = ("sparse", "dense")
_SHARD_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Sweeps:
    """How the documents are sampled."""

    burn_in: int = 5
    saved: int = 5
    sampler: str = "sparse"


class Scratch(NamedTuple):
    """The document at hand: a list of its topics, and what they are to it."""

    topic: Int  # (K,)
    n: Int  # (K,)  tokens, by the place in the list
    m: Int  # (K,)  tables
    place: Int  # (K,)  where the topic stands in the list, -1 if it does not
    absent: Int  # (K,)  all -1: no topic is in the document
    coef: Float  # (K,)
    opened: Float  # (K,)
    own_e: Float  # (K,)  e_k of the topics in the list
    own_base: Float  # (K,)  base_k
    at: Int  # (K,)  the column of the topic in the tables of the words
    now: Int32  # (N_d,)  topics of the tokens
    rng: np.ndarray  # (1,) uint64

    @classmethod
    def of(cls, n_topics: int, longest: int) -> Scratch:
        """Return room for documents of up to `longest` tokens."""
        topic, n, m, at = np.zeros((4, n_topics), np.int64)
        place, absent = np.full((2, n_topics), -1, np.int64)
        coef, opened, own_e, own_base = np.zeros((4, n_topics))
        now, rng = np.zeros(longest, np.int32), np.zeros(1, np.uint64)
        return cls(topic, n, m, place, absent, coef, opened, own_e, own_base, at, now, rng)


@dataclass(frozen=True, slots=True)
class Found:
    """The saved sweeps of the documents of a minibatch."""

    z: Int32  # (S, N)  topics of the tokens
    tokens: Int  # (K,)  of the topics, over all saved sweeps
    tables: Int  # (K,)
    log_p: float  # nats: of the words, each given those before it in its document (B6)


class TableFactors:
    """Factors of table indicators, wide and long enough for what was met so far."""

    def __init__(self) -> None:
        self._ratios = stirling_ratios(1)
        self._factors = factors_of(self._ratios)

    @property
    def n_bytes(self) -> int:
        """Bytes that they take."""
        return int(self._ratios.nbytes + self._factors.nbytes)

    def for_documents(self, longest: int) -> Factors:
        """Return factors for documents of up to `longest` tokens."""
        if longest >= self._ratios.shape[0]:
            self._ratios = stirling_ratios(longest, self._ratios.shape[1] - 1)
            self._factors = factors_of(self._ratios)
        return self._factors

    def wider(self) -> Factors:
        """Return factors for at least twice as many tables of a topic."""
        self._ratios = wide_enough(self._ratios, self._factors.shape[1] - 1)
        self._factors = factors_of(self._ratios)
        return self._factors


def words_of(tokens: Tokens) -> tuple[Int32, Int32]:
    """Return the words of a minibatch, increasing, and the place of each token's word among them."""
    occurs = np.diff(tokens.word_start) > 0
    words = np.flatnonzero(occurs).astype(np.int32)
    place = (np.cumsum(occurs) - 1).astype(np.int32)
    return words, place[tokens.word]


def sample(
    tokens: Tokens,
    word: Int32,
    weights: Weights,
    alpha: float,
    tables: TableFactors,
    sweeps: Sweeps,
    key: np.uint64,
    executor: Executor,
) -> Found:
    """Sample the documents of a minibatch.                                                   math.md (B2), (B6)

    Parameters
    ----------
    tokens : Tokens
    word : ndarray of shape (N,)
        The place of each token's word in `weights`.
    weights : Weights
    alpha : float
    tables : TableFactors
    sweeps : Sweeps
    key : uint64
        Of the random numbers: document d has stream d of it.
    executor : Executor
    """
    longest, n_topics = int(tokens.lengths.max(initial=1)), weights.of_topics.e.size
    z = np.zeros((sweeps.saved, word.size), np.int32)
    score = np.zeros(tokens.n_documents)

    def run(rows: tuple[int, int]) -> tuple[Int, bool]:
        found = np.zeros(n_topics, np.int64)
        reached = kernels.sample_documents(
            *rows, tokens.start, word, alpha, weights.of_topics, weights.of_words, factors,
            (sweeps.burn_in, sweeps.saved), sweeps.sampler == "sparse", key, Scratch.of(n_topics, longest),
            z, found, score,
        )  # fmt: skip
        return found, bool(reached == rows[1])

    factors, done, counted = tables.for_documents(longest), False, [np.zeros(0, np.int64)]
    while not done:  # a topic with more tables than the factors know: the same draws again, with wider ones
        results = executor.map(run, shards(tokens.lengths, _SHARD_TOKENS))
        counted, done = [found for found, _ in results], all(complete for _, complete in results)
        factors = factors if done else tables.wider()
    of_topics = np.zeros(n_topics, np.int64)
    count_topics(z, of_topics)
    return Found(z, of_topics, np.sum(counted, axis=0), float(score.sum()))
