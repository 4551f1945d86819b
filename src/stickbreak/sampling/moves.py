"""Moves that split and merge topics: of whole tables (Wang and Blei 2012), and of tokens in sub-topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.tokens import Tokens
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.sampling.kernels import subtopics as kernels
from stickbreak.sampling.kernels.split_merge import run_trials
from stickbreak.sampling.kernels.subtopics import Members, TrialTopics, gather
from stickbreak.sampling.state import NO_LIMIT, Concentrations, TableList, TopicCounts

LEAST_LIMIT = 10_000
LARGEST = 1 << 22  # tokens of a trial
Side = NDArray[np.int8]


class MoveCounts(NamedTuple):
    """How often split-merge moves were tried and accepted."""

    splits_tried: int
    splits_accepted: int
    merges_tried: int
    merges_accepted: int

    def plus(self, other: MoveCounts) -> MoveCounts:
        """Return the trials of both."""
        return MoveCounts(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def any_accepted(self) -> bool:
        """Whether a topic was split or merged."""
        return self.splits_accepted + self.merges_accepted > 0


class TrialRules(NamedTuple):
    """How moves are tried; a tuple, so that kernels can take it."""

    trials: int  # one after the other
    key: int  # the random numbers depend on it and on the number of the trial, on nothing else
    n_kept: int = 0  # the first topics, which no trial is about
    max_topics: int = NO_LIMIT  # a trial that would lead to more topics is not made


# --- tables change topics ---


def split_merge(
    tables: TableList, n_topics: int, now: Concentrations, n_words: int, rules: TrialRules, scans: int
) -> tuple[int, MoveCounts]:
    """Try splits and merges of topics by their tables; each trial leaves the posterior invariant.    docs/math (M1)

    `tables.topic` is changed in place; afterwards topics are numbered without gaps. Returns K, and what was tried:
    nothing where there are fewer than two tables. With `scans` = 0 the tables are allocated once, in random order (Dahl
    2003). With t that allocation and t restricted Gibbs scans only lead to where the scan of the proposal starts (Jain
    and Neal 2004), which makes better proposals at t + 2 times the cost.
    """
    if tables.topic.size < 2:
        return n_topics, MoveCounts(0, 0, 0, 0)
    n_topics, made = run_trials(tables, n_topics, now, n_words, rules, scans)
    return int(n_topics), MoveCounts(*map(int, made))


# --- tokens change topics ---


class TopicTokens:
    """The tokens of each topic, listed topic by topic; z (N,) changes in place, labelled (D,) says who has labels."""

    def __init__(
        self, tokens: Tokens, z: Int32, n_k: Int, n_topics: int, labelled: NDArray[np.bool_] | None = None
    ) -> None:
        self._word, self.z, self._labelled = tokens.word, z, labelled
        self._document = np.repeat(np.arange(tokens.n_documents, dtype=np.int32), tokens.lengths)
        self._of = np.split(kernels.index(z, n_k[:n_topics]), np.cumsum(n_k[:n_topics])[:-1])

    def members(self, picked: TrialTopics) -> tuple[Members, Side]:
        """Return the tokens of the topics of a trial, and their present sides: 1 for the second topic."""
        lists = [self._of[int(k)] for k in (picked.first, picked.second)]
        if picked.splits:
            lists[1] = lists[1][:0]
        members = gather(self._document, self._word, *lists)
        if self._labelled is not None:
            members = members._replace(labelled=self._labelled[self._document[members.token[members.bound[:-1]]]])
        return members, (self.z[members.token] != picked.first).astype(np.int8)

    def split(self, members: Members, side: Side, k: int, new: int) -> None:
        """Give side 1 of topic k the number `new`."""
        self._of[k], moved = members.token[side == 0], members.token[side == 1]
        self._of.append(moved)
        self.z[moved] = new

    def merge(self, label: Int32) -> None:
        """Give the topics new numbers, (K,) with the topic that goes."""
        lists: list[list[Int]] = [[] for _ in range(label.size - 1)]
        for k, tokens in enumerate(self._of):
            lists[label[k]].append(tokens)
            if label[k] != k:
                self.z[tokens] = label[k]
        self._of = [found[0] if len(found) == 1 else np.sort(np.concatenate(found)) for found in lists]


def subtopic_trials(
    held: TopicTokens,
    counts: TopicCounts,
    n_k: Int,
    beta: Float,
    now: Concentrations,
    rules: TrialRules,
    *,
    passes: int,
    limit: int | None = None,
    scale: float = 1.0,
) -> tuple[int, Float, MoveCounts]:
    """Try to split topics into two and to merge two; each trial leaves p(z, beta | words) invariant.   docs/math (M3)

    After Jain and Neal (2004) and Chang and Fisher (2014). `held` and `counts.words`, with room for a further topic of
    each word in each trial, are changed, and so is n_k (K + trials,), as `with_room` returns it. Returns K, beta (K +
    1,), last that of all topics without tokens, and what was tried. The sides of a trial settle in `passes` before
    tokens are drawn. A trial over S tokens is made with probability min(1, limit / S), and with more than four million
    never; None: `limit` is a twentieth of all tokens, at least 10,000. `scale`: of alpha beta_k in documents with
    labels. docs/math (G16)
    """
    K, words, n_tokens = counts.n_topics, counts.words, held.z.size
    if n_tokens < 2:
        return K, beta, MoveCounts(0, 0, 0, 0)
    weights, made, rng = np.zeros(n_k.size), [0, 0, 0, 0], np.empty(1, np.uint64)
    weights[:K] = beta[:K]
    most = float(max(LEAST_LIMIT, n_tokens // 20) if limit is None else limit)
    for trial in range(rules.trials):
        picked = kernels.pick(trial, words, n_k, K, rules.n_kept, most, LARGEST, rules.key, rng)
        if not picked.size or (picked.splits and K >= rules.max_topics):
            continue
        made[0 if picked.splits else 2] += 1
        members, side = held.members(picked)
        topics = n_k, weights, K
        accepted, v, n, size = kernels.judge(picked, members, side, words, topics, now, scale, passes, rng)
        if not accepted:
            continue
        made[1 if picked.splits else 3] += 1
        if picked.splits:
            kernels.split(n, size, v, words, n_k, weights, picked.first, K)
            held.split(members, side, int(picked.first), K)
            K += 1
        else:
            K, label = K - 1, np.empty(K, np.int32)
            kernels.merge(words, n_k, weights, picked.first, picked.second, K, label)
            held.merge(label)
    return K, np.append(weights[:K], beta[-1]), MoveCounts(*made)


def with_room(counts: TopicCounts, trials: int) -> Int:
    """Return n_k with room for as many new topics as there are trials."""
    n_k = np.zeros(counts.n_topics + trials, np.int64)
    n_k[: counts.n_topics] = counts.n[: counts.n_topics]
    return n_k
