"""A pass over all documents: in one go, or by shards that are sampled at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.sampling.kernels.topic_draw import HIGH, MOST, RESUME, TABLES, Topics
from stickbreak.sampling.state import NO_LIMIT, TopicCounts, WordTopics

LEAST_ROOM = 1024
_INTS, _FLOATS = ("n", "m", "free", "n_d", "m_d", "place", "here"), ("coef", "opened", "seated", "prior")

Kernel = Callable[[int, int, WordTopics, Topics, bool], int]  # first, last, words, topics, reuse -> where it stopped


@dataclass(frozen=True, slots=True)
class Shard:
    """What a part of the documents has left behind."""

    first: int
    last: int
    label: Int32  # new number of each topic number that the shard knows
    beta: Float  # (numbers of the shard,)
    n: Int  # (numbers of the shard,)  tokens n_k as the shard sees them
    m: Int  # (numbers of the shard,)  tables M_k as the shard sees them


class Left(NamedTuple):
    """What a pass over some documents leaves of the topics."""

    beta: Float  # (numbers,)
    n: Int  # (numbers,)
    m: Int  # (numbers,)


def run_pass(
    tokens: Tokens,
    counts: TopicCounts,
    beta: Float,
    kernel: Kernel,
    n_shards: int,
    executor: Executor,
    max_topics: int = NO_LIMIT,
) -> tuple[int, list[Shard]]:
    """Run a kernel over all documents; return how many numbers topics have now, and the shards.

    One shard works on `counts` themselves: this is exact. Several work at the same time, each on a copy as it was at
    the beginning of the pass (approximate: Newman, Asuncion, Smyth and Welling 2009), so that the result does not
    depend on the number of threads. Topics that are new in different shards stay different.

    Parameters
    ----------
    tokens : Tokens
    counts : TopicCounts
        Changed by the pass, but for K, n and m.
    beta : ndarray of shape (K + 1,)
        Corpus weights, last the rest; (1,) where the kernel has none.
    kernel : callable
        Works on the documents first .. last - 1 with a part's own counts.
    n_shards : int
    executor : Executor
    max_topics : int, optional
        Where this many topics have tokens, no new one is drawn. Only of one shard.
    """
    K = counts.n_topics
    parts = cut(tokens, n_shards)
    alone, room = len(parts) == 1, room_for(tokens, K)

    def work(part: tuple[int, int]) -> Left:
        own = counts if alone else replace(counts, words=counts.words._replace(**_copies(counts.words)))
        return left_by(kernel, own, beta, room, part, alone=alone, max_topics=max_topics)

    return joined(parts, executor.map(work, parts), K)


def room_for(tokens: Tokens, n_topics: int) -> int:
    """Return the room for topics that a pass begins with."""
    return n_topics + max(LEAST_ROOM, 2 * int(tokens.lengths.max(initial=1)))


def left_by(
    kernel: Kernel,
    counts: TopicCounts,
    beta: Float,
    room: int,
    part: tuple[int, int],
    *,
    alone: bool,
    max_topics: int = NO_LIMIT,
) -> Left:
    """Run a kernel over some documents, with counts that it may change; return what it leaves of the topics."""
    topics = _topics(counts, beta, room, max_topics)
    stopped = kernel(*part, counts.words, topics, alone)
    while stopped < part[1]:
        if topics.totals[RESUME] == 0:  # else it asks for wider tables, which it finds when it goes on
            topics = _enlarged(topics, 2 * topics.n.size)
        stopped = kernel(stopped, part[1], counts.words, topics, alone)
    n = int(topics.totals[HIGH])
    return Left(topics.beta[:n].copy(), topics.n[:n].copy(), topics.m[:n].copy())


def cut(tokens: Tokens, n_shards: int) -> list[tuple[int, int]]:
    """Cut the documents into runs of about as many tokens: n_shards of them, or fewer where documents are long."""
    start = tokens.sampled
    most = min(n_shards, max(1, int(start[-1])))  # a token each: more cut nothing
    if most == 1:
        return [(0, tokens.n_sampled)] if tokens.n_sampled else []
    inner = np.linspace(0, start[-1], most + 1)[1:-1]
    edges = np.unique(np.concatenate(([0], np.searchsorted(start, inner), [tokens.n_sampled])))
    return [(int(first), int(last)) for first, last in pairwise(edges)]


def joined(parts: Sequence[tuple[int, int]], found: Sequence[Left], K: int) -> tuple[int, list[Shard]]:
    """Give the topics that are new in each shard numbers of their own."""
    out, high = [], K
    for (first, last), left in zip(parts, found, strict=True):
        n_numbers = left.n.size
        label = np.arange(n_numbers, dtype=np.int32)
        label[K:] += high - K
        high += n_numbers - K
        out.append(Shard(first, last, label, *left))
    return high, out


def _copies(words: WordTopics) -> dict[str, np.ndarray]:
    return {name: getattr(words, name).copy() for name in ("size", "entry")}


def _topics(counts: TopicCounts, beta: Float, room: int, max_topics: int) -> Topics:
    """Return the topics with room for new ones."""
    K = counts.n_topics
    totals = np.zeros(5, np.int64)
    totals[HIGH], totals[TABLES], totals[MOST] = K, counts.m[:K].sum(), max_topics
    arrays: dict[str, np.ndarray] = {name: np.zeros(room, np.int64) for name in _INTS}
    arrays |= {name: np.zeros(room) for name in _FLOATS}
    topics = Topics(**arrays, beta=_with_room(beta, room + 1), totals=totals, rng=np.zeros(1, np.uint64))
    topics.n[:K], topics.m[:K] = counts.n[:K], counts.m[:K]
    return topics


def _enlarged(topics: Topics, room: int) -> Topics:
    """Return the topics with more room, between two documents."""
    arrays = {}
    for name in (*_INTS, *_FLOATS):
        old = getattr(topics, name)
        arrays[name] = np.zeros(room, old.dtype)
        arrays[name][: old.size] = old
    return topics._replace(**arrays, beta=_with_room(topics.beta, room + 1))


def _with_room(beta: Float, size: int) -> Float:
    """Return beta (.., rest) in a longer array whose last entry is the rest."""
    out = np.zeros(size)
    out[: beta.size - 1], out[-1] = beta[:-1], beta[-1]
    return out
