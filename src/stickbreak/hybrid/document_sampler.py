"""The documents of a minibatch, sampled under given globals: in parallel, each with its own stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine, shards
from stickbreak.hybrid.kernels import documents as kernels
from stickbreak.hybrid.kernels.words import count_topics
from stickbreak.hybrid.word_weights import Weights
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.stirling import Factors, factors_of, stirling_ratios, wide_enough

SAMPLERS = ("sparse", "dense")
_SHARD_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class SweepSettings:
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
class SampledTopics:
    """The saved sweeps of the documents of a minibatch."""

    z: Int32  # (S, N)  topics of the tokens
    tokens: Int  # (K,)  of the topics, over all saved sweeps
    tables: Int  # (K,)
    log_p: float  # nats: of the words, each given those before it in its document (B6)


class MinibatchTokens(NamedTuple):
    """The tokens of a minibatch."""

    start: Int  # (D + 1,)  document d has the tokens start[d] .. start[d + 1] - 1
    word: Int32  # (N,)  the place of each token's word in the weights
    key: np.uint64  # of the random numbers: document d has stream d of it


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


def in_own_words(start: Int, word: Int32) -> tuple[Int32, Tokens]:
    """Return the words of some documents, increasing, and their tokens, whose words are numbered among these.

    It takes no longer in a collection of many words.

    `start` (D + 1,): document d has the tokens start[d] .. start[d + 1] - 1. `word` (N,): the word of each token.
    """
    by_word = np.argsort(word, kind="stable").astype(np.int32)
    ordered = word[by_word]
    first = np.flatnonzero(np.concatenate(([ordered.size > 0], ordered[1:] != ordered[:-1])))
    word_start = np.append(first, ordered.size)
    place = np.empty_like(word)
    place[by_word] = np.repeat(np.arange(first.size, dtype=np.int32), np.diff(word_start))
    return ordered[first], Tokens(start, place, first.size, by_word, word_start)


def sample(
    tokens: Tokens,
    word: Int32,
    weights: Weights,
    alpha: float,
    tables: TableFactors,
    sweeps: SweepSettings,
    key: np.uint64,
    engine: Engine,
) -> SampledTopics:
    """Sample the documents of a minibatch.                                                   docs/math (B2), (B6)

    `word` (N,): the place of each token's word in `weights`. `key`: of the random numbers: document d has stream d of
    it.
    """
    (found,) = sample_parts([MinibatchTokens(tokens.start, word, key)], weights, alpha, tables, sweeps, engine)
    return found


def sample_parts(
    parts: Sequence[MinibatchTokens],
    weights: Weights,
    alpha: float,
    tables: TableFactors,
    sweeps: SweepSettings,
    engine: Engine,
) -> list[SampledTopics]:
    """Sample several minibatches under the same weights, with all threads; the parameters are those of `sample`."""
    lengths = [np.diff(part.start) for part in parts]
    longest, n_topics = max(int(of.max(initial=1)) for of in lengths), weights.of_topics.e.size
    z = [np.zeros((sweeps.saved, part.word.size), np.int32) for part in parts]
    score = [np.zeros(of.size) for of in lengths]
    shares = [(i, rows) for i, of in enumerate(lengths) for rows in shards(of, _SHARD_TOKENS)]

    def run(share: tuple[int, tuple[int, int]]) -> tuple[Int, bool]:
        (i, rows), found = share, np.zeros(n_topics, np.int64)
        how, scratch = (sweeps.burn_in, sweeps.saved, sweeps.sampler == "sparse"), Scratch.of(n_topics, longest)
        reached = kernels.sample_documents(
            *rows, parts[i], alpha, weights, factors, how, scratch, (z[i], found, score[i])
        )
        return found, bool(reached == rows[1])

    factors, done = tables.for_documents(longest), False
    counted = np.zeros((len(parts), n_topics), np.int64)
    while not done:  # a topic with more tables than the factors know: the same draws again, with wider ones
        results = engine.map(run, shares)
        counted[:], done = 0, all(complete for _, complete in results)
        for (i, _), (found, _) in zip(shares, results, strict=True):
            counted[i] += found
        factors = factors if done else tables.wider()
    return [_found(z[i], counted[i], score[i], n_topics) for i in range(len(parts))]


def _found(z: Int32, tables: Int, score: Float, n_topics: int) -> SampledTopics:
    of_topics = np.zeros(n_topics, np.int64)
    count_topics(z, of_topics)
    return SampledTopics(z, of_topics, tables, float(score.sum()))
