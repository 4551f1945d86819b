"""Merges: two topics become one where one explains the words better than two.               docs/math (L13) to (L15)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import total_of
from stickbreak.numerics.streams import key_of
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.own_folders import OwnFolder
from stickbreak.topics.kernels import merging as kernels

NEAR = 5  # partners of each topic that are looked at closely
AT_ONCE = 64  # pairs that a thread takes
WRITTEN_AT_ONCE = 1 << 18  # numbers of a file


@dataclass(frozen=True, slots=True)
class Merger:
    """What merges need to know beside the chain.

    Parameters
    ----------
    n_labels, n_kept : int
        The first `n_labels` topics are those of labels, which no other joins; the first `n_kept` do not join others.
    are_counts : bool
        Whether pseudo-counts are those of documents. Others only say what a topic is about: one token a word at most.
    seed : int
    executor : Executor
    """

    n_labels: int
    n_kept: int
    are_counts: bool
    seed: int
    executor: Executor

    def round(self, chain: Chain, priors: Priors, number: int) -> Int:
        """Return which topic each topic is part of after a round of merges, (K,); -1 without tokens.   docs/math (L15)

        The pair that gains most is merged first; a topic takes part in one merge.
        """
        sizes = chain.sizes()
        used = np.flatnonzero((sizes > 0) | (np.arange(sizes.size) < self.n_kept))
        pairs, gains = self.gains(chain, priors, used, number)
        into, free = np.arange(used.size), np.ones(used.size, np.bool_)
        for best in np.argsort(-gains, kind="stable"):
            k, l = pairs[best]  # noqa: E741
            if gains[best] > 0.0 and free[k] and free[l]:
                free[k] = free[l] = False
                into[l] = k
        part_of = np.full(sizes.size, -1)
        part_of[used] = np.unique(into, return_inverse=True)[1]
        return part_of

    def gains(self, chain: Chain, priors: Priors, used: Int, number: int) -> tuple[Int, Float]:
        """Return pairs of some topics, (n, 2), and what these gain as one, (n,)."""
        K, n_words = used.size, chain.tokens.n_words
        place = np.zeros(priors.a.size, np.int64)
        place[used] = np.arange(K)
        a, eta = priors.a[used], np.full(n_words, priors.eta, dtype=np.float64)
        counts, sizes = chain.words(used), chain.sizes()[used].astype(np.float64)
        pairs = self._near(self._plain(chain, counts, sizes, a, eta, place), sizes, used)
        prior, total = np.zeros((n_words, 0)), np.full(K, total_of(priors.eta, n_words))
        if priors.pseudo is not None:
            prior = priors.pseudo.toarray()
            prior = prior if self.are_counts else np.minimum(prior, 1.0)
            total[: priors.n_kept] += prior.sum(axis=0)
        tokens = TokensOfTopics.of(chain, place, chain.sizes()[used])
        known = kernels.MergePriors(a, chain.scale(priors), eta, prior, total)
        key, gains = key_of(self.seed, number, "sides of merges"), np.empty(len(pairs))

        def look(first: int) -> None:
            some = slice(first, first + AT_ONCE)
            kernels.gains_of_pairs(pairs[some], tokens.arrays, counts, sizes, known, key, gains[some])

        list(self.executor.map(look, range(0, len(pairs), AT_ONCE)))
        return pairs, gains

    @staticmethod
    def _plain(chain: Chain, counts: NDArray[np.int32], sizes: Float, a: Float, eta: Float, place: Int) -> Float:
        """Return log p(w, z) of one topic in place of two, less that of two, both without pseudo-counts, (K, K).

        docs/math (L13)
        """
        gains = np.zeros((a.size, a.size))
        kernels.add_words(counts, eta, gains)
        more = np.zeros((a.size, max(1, int(chain.tokens.lengths.max()))))  # documents with more than j tokens of k
        for _, topic, n in chain.documents():
            kernels.count_documents(place[topic], n, more)
        kernels.add_single(more, a, gains)
        for start, topic, n in chain.documents():
            kernels.add_pairs(start, place[topic], n, a, gains)
        gains += gains.T
        total = eta.sum()
        rising = _log_rising(sizes, total)
        return np.asarray(gains - _log_rising(sizes[:, None] + sizes, total) + rising[:, None] + rising)

    def _near(self, plain: Float, sizes: Float, used: Int) -> Int:
        """Return the pairs to look at closely, (n, 2), a topic that stays what it is first."""
        K, kept = sizes.size, int((used < self.n_kept).sum())
        labels = int((used < self.n_labels).sum())
        plain[:kept, :kept] = plain[:labels] = plain[:, :labels] = -np.inf
        np.fill_diagonal(plain, -np.inf)
        of_token = plain / np.maximum(np.minimum(sizes[:, None], sizes), 1.0)  # of the smaller topic
        near = of_token >= np.sort(of_token, axis=1)[:, [max(0, K - NEAR)]]
        pairs = np.argwhere(np.triu((near | near.T) & (plain > 0.0), 1))
        return np.ascontiguousarray(pairs)  # kernels are compiled for one order of arrays


class TokensOfTopics:
    """All tokens topic by topic, those of a topic document by document: in memory, or in files.

    Attributes
    ----------
    arrays : TopicTokens
    """

    def __init__(self, begin: Int, scratch: Path | None) -> None:
        self._folder = None if scratch is None else OwnFolder(scratch, "stickbreak-fit")
        n_tokens = int(begin[-1])
        member, word, document = (self._room(name, n_tokens) for name in ("member", "word", "document"))
        self.arrays = kernels.TopicTokens(begin, member, word, document)

    def _room(self, name: str, n: int) -> NDArray[np.uint32]:
        """Return an array to be filled.

        Raises
        ------
        WriteError
            If the disk is full.
        """
        if self._folder is None:
            return np.empty(n, np.uint32)
        path, zeros = f"{self._folder.path}/{name}", np.zeros(WRITTEN_AT_ONCE, np.uint32)
        with told_as_write_error(path), open(path, "wb") as handle:  # whose room is taken now: later nobody could tell
            for first in range(0, n, WRITTEN_AT_ONCE):
                handle.write(zeros[: n - first].data)
        return np.memmap(path, np.uint32, "r+", shape=(n,))

    @classmethod
    def of(cls, chain: Chain, place: Int, sizes: Int) -> Self:
        """Return where the tokens of each topic of a chain are; topic k is written as place[k]."""
        tokens, begin = chain.tokens, np.append(0, np.cumsum(sizes))
        found, following = cls(begin, tokens.scratch), begin[:-1].copy()
        n_before = 0
        for part in range(tokens.n_parts):
            first, last = tokens.document_cuts[part : part + 2]
            start = np.append(0, np.cumsum(tokens.lengths[first:last]))
            word, topic = np.empty(int(start[-1]), np.uint32), np.empty(int(start[-1]), np.uint16)
            free = start[:-1].copy()
            for group, z in enumerate(chain.z):
                of_cell = *tokens.cell(part, group), tokens.documents(part, group), place[z].astype(np.uint16)
                kernels.by_document(int(tokens.word_cuts[group]), *of_cell, free, word, topic)
            kernels.by_topic(n_before, int(first), start, word, topic, following, *found.arrays[1:])
            n_before += int(start[-1])
        return found


def _log_rising(n: Float, a: float) -> Float:
    """Return log Gamma(n + a) - log Gamma(a)."""
    return np.asarray(gammaln(n + a) - gammaln(a))
