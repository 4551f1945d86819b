"""Collapsed Gibbs sampling for LDA, sparse and word by word, and the mean of its topics over passes.

math.md (L2), (L3). Griffiths and Steyvers (2004); buckets as in Yao, Mimno and McCallum (2009), words one after another
as in Yu et al. (2015).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.executor import Executor, ThreadExecutor
from stickbreak.fitting.hyperparameters import opened
from stickbreak.fitting.laps import Packed
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import are_sums
from stickbreak.numerics.streams import key_of
from stickbreak.sparse_gibbs.kernels import lists as list_kernels
from stickbreak.sparse_gibbs.kernels import sweeps as sweep_kernels
from stickbreak.sparse_gibbs.priors import STEPS, Priors, fixed_point, is_due, prior_of_words, tables_of
from stickbreak.sparse_gibbs.tokens import ByWord

SAMPLE_EVERY = 5  # laps
LATE = 3  # how much the mean prefers late samples: sample s weighs about s ** LATE


class Past(NamedTuple):
    """What documents of before say of the weights of topics.                                            math.md (L4)"""

    tables: Float  # (n,)  expected tables of the first topics
    opened: float


class Chain:
    """A chain.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
    seed : int
    n_parts : int
        Parts of the documents and of the words, of which some do not wait for each other, (L11). With one part the
        chain is exact.
    executor : Executor, optional
        Where parts are swept. The default is the present thread.
    past : Past, optional
        What other documents say of the weights of the first topics.
    """

    window = 10  # laps are noisy

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        seed: int,
        *,
        n_parts: int = 1,
        executor: Executor | None = None,
        past: Past | None = None,
    ) -> None:
        self.tokens, self.n_topics, self._seed = ByWord(corpus, n_topics, n_parts=n_parts), n_topics, seed
        self._executor, self._past = executor or ThreadExecutor(), past or Past(np.zeros(0), 0.0)
        self._mean, self._n_samples = np.zeros((0, 0)), 0
        self._is_shared = False  # somebody else has the array of the mean, too
        self._last_is_sample = False  # the last lap is in the mean
        self.z: NDArray[np.uint16]  # (N,)  word by word

    def take(self, z: NDArray[np.uint16]) -> None:
        """Give each token a topic, word by word."""
        self.z, self.lists = z, self.tokens.lists(z)
        self._n = np.bincount(z, minlength=self.n_topics).astype(np.int64)

    def begin(self, z: NDArray[np.uint16]) -> None:
        """Begin with these topics of tokens."""
        self.take(z)

    def near(self, topics: Float) -> NDArray[np.uint16]:
        """Draw the topic of each token in proportion to the weights of its word in the topics, (K, W)."""
        z = np.empty(self.tokens.n_tokens, np.uint16)
        sweep_kernels.draw_topics(self.tokens.start, topics, key_of(self._seed, 0, "start near topics"), z)
        return z

    def begin_with(self, other: Chain, part_of: Int) -> None:
        """Go on where a chain of the same tokens is, whose topic k is part of topic part_of[k] here.

        A topic with -1 has no tokens; what a word has there in the mean goes to the topics in which its tokens are.
        """
        self.take(part_of[other.z].astype(np.uint16))
        self._n_samples, self._last_is_sample = other._n_samples, other._last_is_sample
        if not self._n_samples:
            return
        mean, start = np.zeros((other._mean.shape[0], self.n_topics)), self.tokens.start
        for k in np.flatnonzero(part_of >= 0):
            mean[:, part_of[k]] += other._mean[:, k]
        kept = mean.sum(axis=1)
        for w in np.flatnonzero((kept == 0.0) & (np.diff(start) > 0)):
            mean[w] = np.bincount(self.z[start[w] : start[w + 1]], minlength=self.n_topics)
        mean *= (other._mean.sum(axis=1) / np.where(kept > 0.0, kept, mean.sum(axis=1).clip(1.0)))[:, None]
        self._mean = mean

    def begin_split(self, other: Chain, split: Int, rng: np.random.Generator) -> None:
        """Go on where a chain of the same tokens is, but with some topics in two halves, alike in the mean.

        A document puts all that it has of such a topic into one of the halves, drawn at random. The second half of
        topic split[i] is topic K + i here, K the topics of the other chain.
        """
        K, tokens = other.n_topics, self.tokens
        place = np.full(K, -1)
        place[split] = np.arange(split.size)
        documents, topics = (rng.integers(1 << 63, size=n, dtype=np.uint64) for n in (tokens.heads.size, K))
        second = place[other.z] >= 0
        bits = documents[np.searchsorted(tokens.heads, tokens.where)] & topics[other.z]
        for shift in (32, 16, 8, 4, 2, 1):  # their parity: of each document and topic a fair coin
            bits ^= bits >> np.uint64(shift)
        second &= (bits & np.uint64(1)).astype(np.bool_)
        self.take(np.where(second, K + place[other.z], other.z).astype(np.uint16))
        self._n_samples, self._last_is_sample = other._n_samples, other._last_is_sample
        if self._n_samples:
            mean = other._mean.copy()
            mean[:, split] /= 2.0
            self._mean = np.hstack([mean, mean[:, split]])

    def lap(self, number: int, priors: Priors) -> float:
        """Sweep once; return the mean log p of a token given all others, as it is drawn.     math.md (L2), (L11)"""
        tokens = self.tokens
        log_total = self._sweep(priors, key_of(self._seed, number, "sweep of LDA"))
        self._last_is_sample = number % SAMPLE_EVERY == 0
        if self._last_is_sample:
            mean = self._with_sample(self._own_mean()) if self._n_samples else self.last()
            self._mean, self._is_shared, self._n_samples = mean, False, self._n_samples + 1
        lengths = tokens.lengths[tokens.lengths > 0]
        others = float((lengths * np.log(lengths - 1 + priors.alpha)).sum())
        return (log_total - others) / tokens.n_tokens

    def _sweep(self, priors: Priors, key: np.uint64) -> float:
        """Draw a topic for each token; return the sum of the logarithms of the totals.                math.md (L11)"""
        tokens, n_words, n_parts = self.tokens, self.tokens.start.size - 1, self.tokens.document_cuts.size - 1
        eta, known, *of_topics = prior_of_words(priors.eta, priors.pseudo, n_words, self.n_topics)

        def swept(job: tuple[int, int, Int]) -> float:
            """Draw the topics of the tokens that a part of the words has in a part of the documents."""
            part, words, n = job
            a, b = tokens.word_cuts[words], tokens.word_cuts[words + 1]
            of_words = tokens.start[a : b + 1], tokens.begin[part, a:b], tokens.begin[part + 1, a:b]
            of_tokens = tokens.where, self.z, self.lists, tokens.bits, n
            prior = priors.a, eta[a:b], known[a : b + 1], *of_topics
            log_total = sweep_kernels.sweep(*of_words, *of_tokens, *prior, key, np.uint64(part * n_words + a))
            list_kernels.sort(tokens.heads[tokens.document_cuts[part] : tokens.document_cuts[part + 1]], self.lists)
            return float(log_total)

        log_total = 0.0
        for step in range(n_parts):
            n = np.repeat(self._n[None], n_parts, axis=0)
            jobs = [(part, (part + step) % n_parts, n[part]) for part in range(n_parts)]
            log_total += sum(self._executor.map(swept, jobs))
            self._n += (n - self._n).sum(axis=0)
        return log_total

    def with_weights(self, priors: Priors, number: int) -> Priors:
        """Return the priors after a lap, their weights a learned where this is due.                  math.md (L4)"""
        if not is_due(number):
            return priors
        pairs, past = self.tokens.pairs(self.lists), self._past
        for _ in range(STEPS):
            tables = tables_of(pairs, priors.a)
            tables[: past.tables.size] += past.tables
            priors = priors.with_weights(fixed_point(tables, past.opened + self.opened(priors)))
        return priors

    def scale(self, priors: Priors) -> Float:
        """Return how often a_k counts in each document, (D,)."""
        return np.ones(self.tokens.lengths.size)

    def opened(self, priors: Priors) -> float:
        """Return what the lengths of the documents say of alpha.                                      math.md (L4)"""
        return opened(priors.alpha, self.tokens.lengths)

    def counts(self) -> Float:
        """Return the counts of the words in the topics, of the last lap or their mean, (W, K)."""
        mean = self.mean()
        return mean.copy() if mean is self._mean else mean

    def mean(self) -> Float:
        """Return the same, not to be changed: the chain may go on with it."""
        if not self._n_samples:
            return self.last()
        return self._mean if self._last_is_sample else self._with_sample(self._mean.copy())

    def _own_mean(self) -> Float:
        """Return the mean of the samples, which may be changed."""
        return self._mean.copy() if self._is_shared else self._mean

    def last(self) -> Float:
        """Return the counts of this lap."""
        counts = np.zeros((self.tokens.start.size - 1, self.n_topics))
        list_kernels.add_words(self.tokens.start, self.z, 1.0, counts)
        return counts

    def words(self, topics: Int) -> NDArray[np.int32]:
        """Return the counts of this lap in some topics that have all tokens, (W, n)."""
        place = np.zeros(self.n_topics, np.uint16)
        place[topics] = np.arange(topics.size)
        counts = np.zeros((self.tokens.start.size - 1, topics.size), np.int32)
        list_kernels.add_words(self.tokens.start, place[self.z], np.int32(1), counts)
        return counts

    def documents(self) -> tuple[Int, Int, Int]:
        """Return where the topics of each document begin, (D + 1,), these, and their tokens."""
        return self.tokens.documents(self.lists)

    def sizes(self) -> Int:
        """Return the tokens of each topic in the last lap, (K,)."""
        return self._n.copy()

    def _with_sample(self, mean: Float) -> Float:
        """Make the counts of this lap one more sample of a mean, in its place.                        math.md (L3)"""
        share = (LATE + 1.0) / (self._n_samples + 1.0 + LATE)
        mean *= 1.0 - share
        list_kernels.add_words(self.tokens.start, self.z, share, mean)
        return mean

    def snapshot(self) -> Packed:
        """Return the topic of each token, and the mean."""
        values, self._is_shared = {"n_samples": self._n_samples, "last_is_sample": self._last_is_sample}, True
        return {"z": self.z.copy(), "mean": self._mean}, values

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        z, mean, n_samples = arrays["z"], arrays["mean"], whole_number("n_samples", values["n_samples"])
        last_is_sample = values["last_is_sample"]
        require(last_is_sample in (False, bool(n_samples)), "its last lap cannot be a sample")
        require(z.shape == (self.tokens.n_tokens,) and z.dtype == np.uint16, "its topics are not those of these tokens")
        require(int(z.max(initial=0)) < self.n_topics, "its tokens have topics that are not there")
        shape = (self.tokens.start.size - 1, self.n_topics) if n_samples else (0, 0)
        require(is_table(mean, *shape) and are_sums(mean), "its mean counts are not those of these words")
        n_tokens = self.tokens.n_tokens if n_samples else 0
        require(
            math.isclose(float(mean.sum()), n_tokens, rel_tol=1e-6), "its mean counts are not those of these tokens"
        )
        self._mean, self._n_samples, self._last_is_sample = mean.copy(), n_samples, bool(last_is_sample)
        self._is_shared = False
        self.take(z.copy())
