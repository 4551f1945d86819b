"""Splits into sub-topics and merges (after Jain and Neal 2004; Chang and Fisher 2014): tokens change topics."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.tokens import Tokens
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.sampling.kernels import subtopics as kernels
from stickbreak.sampling.kernels.sides import Members, gather
from stickbreak.sampling.kernels.subtopics import Pick
from stickbreak.sampling.split_merge import Trials
from stickbreak.sampling.state import NO_LIMIT, Concentrations, TopicCounts, WordTopics

LEAST_LIMIT = 10_000
LARGEST = 1 << 22  # tokens of a trial, which are in memory
Side = NDArray[np.int8]


class TopicTokens(Protocol):
    """The tokens of each topic, wherever they are."""

    ahead: int  # tokens of further trials that are gathered with those of a trial, so that documents are read once

    def gather(self, topics: Collection[int]) -> None:
        """Get the tokens of these topics ready."""

    def members(self, picked: Pick) -> tuple[Members, Side]:
        """Return the tokens of the topics of a trial, and their present sides: 1 for the second topic."""

    def split(self, members: Members, side: Side, k: int, new: int) -> None:
        """Give side 1 of topic k the number `new`."""

    def merge(self, label: Int32) -> None:
        """Give the topics new numbers, (K,) with the topic that goes."""


class InOrder:
    """The tokens of each topic in memory: listed topic by topic.

    Parameters
    ----------
    tokens : Tokens
    z : ndarray of shape (N,)
        Changed in place.
    n_k : ndarray
        Tokens of each topic.
    n_topics : int
    labelled : ndarray of bool, of shape (D,), optional
        Which documents have labels, if any.
    """

    ahead = 0

    def __init__(
        self, tokens: Tokens, z: Int32, n_k: Int, n_topics: int, labelled: NDArray[np.bool_] | None = None
    ) -> None:
        self._word, self._z, self._labelled = tokens.word, z, labelled
        self._document = np.repeat(np.arange(tokens.n_documents, dtype=np.int32), tokens.lengths)
        self._of = np.split(kernels.index(z, n_k[:n_topics]), np.cumsum(n_k[:n_topics])[:-1])

    def gather(self, topics: Collection[int]) -> None:
        """Do nothing: all tokens are listed."""

    def members(self, picked: Pick) -> tuple[Members, Side]:
        """Return the tokens of the topics of a trial, and their sides."""
        lists = [self._of[int(k)] for k in (picked.first, picked.second)]
        if picked.splits:
            lists[1] = lists[1][:0]
        members = gather(self._document, self._word, *lists)
        if self._labelled is not None:
            members = members._replace(labelled=self._labelled[self._document[members.token[members.bound[:-1]]]])
        return members, (self._z[members.token] != picked.first).astype(np.int8)

    def split(self, members: Members, side: Side, k: int, new: int) -> None:
        """Give side 1 of topic k the number `new`."""
        self._of[k], moved = members.token[side == 0], members.token[side == 1]
        self._of.append(moved)
        self._z[moved] = new

    def merge(self, label: Int32) -> None:
        """Give the topics new numbers."""
        lists: list[list[Int]] = [[] for _ in range(label.size - 1)]
        for k, tokens in enumerate(self._of):
            lists[label[k]].append(tokens)
            if label[k] != k:
                self._z[tokens] = label[k]
        self._of = [found[0] if len(found) == 1 else np.sort(np.concatenate(found)) for found in lists]


class _Planned(NamedTuple):
    """A trial whose topics are picked."""

    picked: Pick
    rng: NDArray[np.uint64]  # where its stream goes on


def subtopic_trials(
    held: TopicTokens,
    n_tokens: int,
    counts: TopicCounts,
    n_k: Int,
    beta: Float,
    now: Concentrations,
    *,
    trials: int,
    passes: int,
    key: int,
    limit: int | None = None,
    n_kept: int = 0,
    max_topics: int = NO_LIMIT,
    scale: float = 1.0,
) -> tuple[int, Float, Trials]:
    """Try to split topics into two and to merge two; each trial leaves p(z, beta | words) invariant.   math.md (M3)

    Parameters
    ----------
    held : TopicTokens
        Whose topics are changed; numbered 0 .. K - 1 before and afterwards.
    n_tokens : int
        N, of all topics.
    counts : TopicCounts
        Of the topics. `words` is changed with them; the order of its entries means nothing then. It has room for a
        further topic of each word in each trial, as far as the word has tokens.
    n_k : ndarray of shape (K + trials,)
        Tokens of each topic, as `with_room` returns them. Changed with the topics.
    beta : ndarray of shape (K + 1,)
        Corpus weights, last that of all topics without tokens.
    now : Concentrations
    trials : int
    passes : int
        Passes in which the sides of a trial settle before the tokens are drawn.
    key : int
        The random numbers depend on it and on the number of the trial, on nothing else.
    limit : int, optional
        A trial over S tokens is made with probability min(1, limit / S), and with more than four million never. None: a
        twentieth of all tokens, at least 10,000.
    n_kept : int, default=0
        The first topics, which no trial is about.
    max_topics : int, optional
        A trial that would lead to more topics is not made.
    scale : float, default=1.0
        By which alpha beta_k is multiplied in documents with labels.                                math.md (G16)

    Returns
    -------
    n_topics : int
        K afterwards.
    beta : ndarray of shape (K + 1,)
        Corpus weights afterwards.
    trials : Trials

    References
    ----------
    S. Jain, R. M. Neal. A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture model. 2004.
    J. Chang, J. W. Fisher III. Parallel sampling of HDPs using sub-cluster splits. NIPS 2014.
    """
    K, words = counts.n_topics, counts.words
    if n_tokens < 2:
        return K, beta, Trials(0, 0, 0, 0)
    weights, made = np.zeros(n_k.size), [0, 0, 0, 0]
    weights[:K] = beta[:K]
    most = float(max(LEAST_LIMIT, n_tokens // 20) if limit is None else limit)
    planned: list[_Planned] = []
    for trial in range(trials):
        if not planned:
            planned = _plan(range(trial, trials), held, words, n_k, K, n_kept, most, key)
        picked, rng = planned.pop(0)
        if not picked.size or (picked.splits and K >= max_topics):
            continue
        made[0 if picked.splits else 2] += 1
        members, side = held.members(picked)
        accepted, v, n, size = kernels.judge(
            picked, members, side, words, n_k, weights, K, now.alpha, scale, now.gamma, now.eta, passes, rng
        )
        if not accepted:
            continue
        made[1 if picked.splits else 3] += 1
        planned.clear()
        if picked.splits:
            kernels.split(n, size, v, words, n_k, weights, picked.first, K)
            held.split(members, side, int(picked.first), K)
            K += 1
        else:
            K, label = K - 1, np.empty(K, np.int32)
            kernels.merge(words, n_k, weights, picked.first, picked.second, K, label)
            held.merge(label)
    return K, np.append(weights[:K], beta[-1]), Trials(*made)


def with_room(counts: TopicCounts, trials: int) -> Int:
    """Return n_k with room for as many new topics as there are trials."""
    n_k = np.zeros(counts.n_topics + trials, np.int64)
    n_k[: counts.n_topics] = counts.n[: counts.n_topics]
    return n_k


def _plan(
    trials: range, held: TopicTokens, words: WordTopics, n_k: Int, K: int, n_kept: int, limit: float, key: int
) -> list[_Planned]:
    """Pick the topics of the next trial, and of further ones as if none were accepted; get their tokens ready."""
    planned: list[_Planned] = []
    total = 0
    for trial in trials:
        rng = np.empty(1, np.uint64)
        picked = kernels.pick(trial, words, n_k, K, n_kept, limit, LARGEST, key, rng)
        if planned and total + picked.size > held.ahead:
            break
        planned.append(_Planned(picked, rng))
        total += picked.size
    topics = {int(k) for plan in planned if plan.picked.size for k in (plan.picked.first, plan.picked.second)}
    if topics:
        held.gather(topics)
    return planned
