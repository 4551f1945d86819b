"""Collapsed Gibbs sampling for LDA, sparse and word by word, and the mean of its topics over passes.

docs/math (L2), (L3), (L23). Griffiths & Steyvers (2004); buckets as in Yao, Mimno and McCallum (2009), words one after
another as in Yu et al. (2015).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from stickbreak.corpus import Corpus
from stickbreak.fitting.batch_store import BatchRef, BatchStore
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import digamma_gain
from stickbreak.fitting.loop import Packed
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import are_sums, within
from stickbreak.numerics.streams import key_of
from stickbreak.sparse_gibbs.kernels import lists as list_kernels
from stickbreak.sparse_gibbs.kernels import sweeps as sweep_kernels
from stickbreak.sparse_gibbs.kernels.sweeps import REPEAT, Cell, Columns, Labels, Prior
from stickbreak.sparse_gibbs.priors import (
    EVERY,
    STEPS,
    STRENGTH,
    Priors,
    fixed_point,
    is_due,
    prior_of_words,
    tables_of,
)
from stickbreak.sparse_gibbs.tokens import Lists, TokensByWord, UInt32, number_of, put, store

Topics = NDArray[np.uint16]
LATE = 3  # how much the mean prefers late samples: sample s weighs about s ** LATE


class EarlierDocuments(NamedTuple):
    """What documents of before say of the weights of topics.                                         docs/math (L16)"""

    tables: Float  # (n,)  expected tables of the first topics
    digamma_gain: float


class SweepState(NamedTuple):
    """What the jobs of a step share."""

    n: Int  # (K,)  tokens of each topic
    bits: np.uint64
    a: Any  # (G, K)  of doubles for one group, else of singles
    of_words: tuple[NDArray[np.float32], Int, Int, Float, Float]  # of `prior_of_words`
    strength: float
    key: np.uint64
    labels: Labels | None
    columns: Columns  # with the row of each document


NO_COLUMNS = Columns(np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros((0, 0)))


class CellJob(NamedTuple):
    """The tokens that words a to b - 1 have in a part of the documents, and where all that changes with them is."""

    part: int  # of the documents
    group: int  # part of the words
    words: tuple[int, int]  # a, b
    n_words: int  # of all parts
    start: Int  # (b - a + 1,)  the tokens of each word in z ...
    cell: tuple[Int, Int]  # ... and from where to where those in documents of the part are
    heads: UInt32  # of the lists of the part
    first: int  # number of its first document
    where: BatchRef[UInt32]
    z: BatchRef[Topics]
    lists: BatchRef[Lists]


def sweep_cell(sweep: SweepState, job: CellJob) -> tuple[Any, Any, Int, float]:
    """Draw topics for the tokens of a job.                                              docs/math (L11), (L10), (L23)

    Returns
    -------
    tuple
        What takes the place of z and of the lists, n after it, and the sum of the logarithms of the totals.
    """
    (a, b), z, lists = job.words, job.z.load(), job.lists.load()
    eta, known, topic, pseudo, total = sweep.of_words
    cell, n, offset = (
        Cell(job.start, *job.cell, job.where.load()),
        sweep.n.copy(),
        np.uint64(job.part * job.n_words + a),
    )
    prior = Prior(sweep.a, eta[a:b], known[a : b + 1], topic, pseudo, total, sweep.strength)
    state = z, lists, sweep.bits, n, prior, sweep.key, offset
    columns, document = sweep.columns, np.zeros(0, np.uint32)
    if sweep.labels is not None or columns.row.size:
        document = job.first + number_of(job.heads, lists.size)[cell.where]
    if sweep.labels is None:
        log_total = sweep_kernels.sweep(cell, columns._replace(row=columns.row[document]), *state)
    else:
        log_total = sweep_kernels.sweep_labelled(cell, document, sweep.labels, *state)
    list_kernels.sort(job.heads, lists)
    return job.z.save(z), job.lists.save(lists), n, float(log_total)


def names_of(place: Int) -> Topics:
    """Return what takes the place of each topic of a token, that of tokens which repeat their document included."""
    names = np.full(REPEAT + 1, REPEAT, np.uint16)
    names[: place.size] = place
    return names


class Chain:
    """A Gibbs sampler of the topics of all tokens.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
    seed : int
    n_parts : int
        Parts of the documents and of the words, of which some do not wait for each other, (L11). With one part the
        chain is exact.
    engine : Engine, optional
        Where parts are swept. The default is the present thread.
    past : EarlierDocuments, optional
        What other documents say of the weights of the first topics.
    scratch : Path, optional
        Where files for what belongs to tokens are made. None: that is in memory.
    """

    window = 10  # laps are noisy

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        seed: int,
        *,
        n_parts: int = 1,
        engine: Engine | None = None,
        past: EarlierDocuments | None = None,
        scratch: Path | None = None,
    ) -> None:
        self.tokens, self.n_topics = TokensByWord(corpus, n_topics, n_parts=n_parts, scratch=scratch), n_topics
        self._seed, self._past = seed, past or EarlierDocuments(np.zeros(0), 0.0)
        self._engine = engine or Engine()
        self._mean, self._n_samples = np.zeros((0, 0)), 0
        self._is_shared = False  # somebody else has the array of the mean, too
        self._last_is_sample = False  # the last lap is in the mean
        self.z: BatchStore[Topics]  # of each part of the words
        self.lists: BatchStore[Lists]  # of each part of the documents

    def take(self, z: Iterable[Topics]) -> None:
        """Give each token a topic, word by word, the tokens of each part of the words at a time."""
        self.z, self.lists = store(self.tokens.scratch), store(self.tokens.scratch)
        self._n = np.zeros(self.n_topics, np.int64)
        for of_words in z:
            put(self.z, of_words)
            self._n += np.bincount(of_words, minlength=self.n_topics)[: self.n_topics]
        for part in range(self.tokens.n_parts):
            put(self.lists, self.tokens.lists(self.z, part))

    def begin(self, z: Iterable[Topics]) -> None:
        """Begin with these topics of tokens."""
        self.take(z)

    def near(self, topics: Float) -> Iterator[Topics]:
        """Draw the topic of each token in proportion to the weights of its word in the topics, (K, W)."""
        key = key_of(self._seed, 0, "start near topics")
        for group in range(self.tokens.n_parts):
            start = self.tokens.words(group)
            z = np.empty(int(start[-1]), np.uint16)
            sweep_kernels.draw_topics(start, topics, np.uint64(self.tokens.word_cuts[group]), key, z)
            yield z

    def _of_topics(self, n_topics: int) -> Self:
        """Return a chain of the same tokens with another number of topics, which no token has yet."""
        chain = copy(self)
        chain.tokens, chain.n_topics = self.tokens.of_topics(n_topics), n_topics
        chain._is_shared = False
        return chain

    def merged(self, part_of: Int) -> Self:
        """Return the chain that goes on here, but topic k is part of topic part_of[k].

        A topic with -1 has no tokens; what a word has there in the mean goes to the topics in which its tokens are.
        """
        chain = self._of_topics(int(part_of.max()) + 1)
        names = names_of(part_of)
        chain.take(names[z] for z in self.z)
        if not self._n_samples:
            return chain
        mean = np.zeros((self.tokens.n_words, chain.n_topics))
        for k in np.flatnonzero(part_of >= 0):
            mean[:, part_of[k]] += self._mean[:, k]
        kept = mean.sum(axis=1)
        lost = np.flatnonzero((kept == 0.0) & (np.diff(self.tokens.start) > 0))
        if lost.size:
            mean[lost] = chain.last()[lost]
        mean *= (self._mean.sum(axis=1) / np.where(kept > 0.0, kept, mean.sum(axis=1).clip(1.0)))[:, None]
        chain._mean = mean
        return chain

    def halved(self, split: Int, rng: np.random.Generator) -> Self:
        """Return the chain that goes on here, but some topics are in two halves.             docs/math (L20)

        A document puts all that it has of such a topic into one of the halves, drawn at random; in the mean they are
        alike. The second half of topic split[i] is topic K + i.
        """
        K = self.n_topics
        chain, place = self._of_topics(K + split.size), np.full(K, -1)
        place[split] = np.arange(split.size)
        documents, topics = (rng.integers(1 << 63, size=n, dtype=np.uint64) for n in (self.tokens.lengths.size, K))

        def cut(group: int, z: Topics) -> Topics:
            k = np.minimum(z, K - 1)  # of tokens that repeat, too
            bits = documents[self.tokens.documents_of_words(group)] & topics[k]
            for shift in (32, 16, 8, 4, 2, 1):  # their parity: of each document and topic a fair coin
                bits ^= bits >> np.uint64(shift)
            second = (place[k] >= 0) & (k == z) & (bits & np.uint64(1)).astype(np.bool_)
            return np.where(second, K + place[k], z).astype(np.uint16)

        chain.take(cut(group, z) for group, z in enumerate(self.z))
        if self._n_samples:
            mean = self._mean.copy()
            mean[:, split] /= 2.0
            chain._mean = np.hstack([mean, mean[:, split]])
        return chain

    def lap(self, number: int, priors: Priors) -> float:
        """Sweep once; return the mean log p of a token given all others.              docs/math (L2), (L11), (L23)"""
        tokens = self.tokens
        log_total = self._sweep(priors, key_of(self._seed, number, "sweep of LDA"), self._labels_of(priors))
        self._last_is_sample = number % EVERY == 0
        if self._last_is_sample:
            mean = self._with_sample(self._own_mean()) if self._n_samples else self.last()
            self._mean, self._is_shared, self._n_samples = mean, False, self._n_samples + 1
        lengths = tokens.lengths[tokens.lengths > 0]
        alpha = priors.strength if priors.bursts else self._concentrations(priors)
        alpha = np.broadcast_to(alpha, tokens.lengths.shape)[tokens.lengths > 0]
        others = float((lengths * np.log(lengths - 1 + alpha)).sum())
        return (log_total - others) / tokens.n_tokens

    def _concentrations(self, priors: Priors) -> Float:
        """Return alpha, or that of each document, (D,)."""
        return np.array(priors.alpha)

    def columns_of(self, priors: Priors) -> tuple[Any, Columns]:
        """Return a of the groups of documents, (G, K), and what sweeps must know of columns."""
        return priors.a[None], NO_COLUMNS

    def _labels_of(self, priors: Priors) -> Labels | None:
        """Return what sweeps must know of labels."""
        return None

    def _sweep(self, priors: Priors, key: np.uint64, labels: Labels | None) -> float:
        """Draw a topic for each token; return the sum of the logarithms of the totals.              docs/math (L11)"""
        tokens, n_parts, log_total = self.tokens, self.tokens.n_parts, 0.0
        of_words = prior_of_words(priors.eta, priors.pseudo, tokens.n_words, self.n_topics)
        a, columns = self.columns_of(priors)
        for step in range(n_parts):
            sweep = SweepState(self._n, tokens.bits, a, of_words, priors.strength, key, labels, columns)
            jobs = [self._job(part, (part + step) % n_parts) for part in range(n_parts)]
            found = (
                self._engine.run(sweep_cell, jobs, sweep) if n_parts > 1 else [sweep_cell(sweep, job) for job in jobs]
            )
            for job, (z, lists, _, _) in zip(jobs, found, strict=True):
                self.z.put(job.group, z)
                self.lists.put(job.part, lists)
            self._n = self._n + sum(n - self._n for _, _, n, _ in found)
            log_total += sum(of_part for *_, of_part in found)
        return log_total

    def _job(self, part: int, group: int) -> CellJob:
        """Return the job of the tokens that a part of the words has in a part of the documents."""
        tokens = self.tokens
        words = int(tokens.word_cuts[group]), int(tokens.word_cuts[group + 1])
        entries = tokens.where.ref(part * tokens.n_parts + group), self.z.ref(group), self.lists.ref(part)
        of_cell = tokens.words(group), tokens.cell(part, group), tokens.heads(part), int(tokens.document_cuts[part])
        return CellJob(part, group, words, tokens.n_words, *of_cell, *entries)

    def with_weights(self, priors: Priors, number: int) -> Priors:
        """Return the priors after a lap, their weights a learned where this is due.           docs/math (L4), (L16)"""
        if not is_due(number):
            return priors
        pairs, past, lengths = self.tokens.pairs(self.lists), self._past, self.lengths(priors)
        for _ in range(STEPS):
            tables = tables_of(pairs, priors.a)
            tables[: past.tables.size] += past.tables
            priors = priors.with_weights(fixed_point(tables, past.digamma_gain + digamma_gain(priors.alpha, lengths)))
        return priors

    def with_strength(self, priors: Priors) -> Priors:
        """Return the priors after a lap, the strength of the topics learned.                         docs/math (L24)"""
        n_fresh, strength = float(self._n.sum()), priors.strength
        lengths, times = np.unique(self.tokens.lengths, return_counts=True)
        for _ in range(STEPS):
            of_documents = float(times @ (digamma(strength + lengths) - digamma(strength)))
            strength = within((1.0 + n_fresh) / (1.0 / STRENGTH + of_documents))
        return replace(priors, strength=strength)

    def lengths(self, priors: Priors) -> Int:
        """Return the tokens of each document that have topics: all, unless some may repeat it, (D,)."""
        if not priors.bursts:
            return self.tokens.lengths
        of_parts = []
        for start, _, n in self.documents():
            before = np.append(0, np.cumsum(n))
            of_parts.append(np.diff(before[start]))
        return np.concatenate(of_parts)

    def mean_weights(self, priors: Priors) -> Float:
        """Return the mean of a over the documents, (K,)."""
        return priors.a

    def weights_of_documents(self, priors: Priors, rows: Int) -> Float:
        """Return a of some documents, (n, K), or of all alike, (K,)."""
        return priors.a

    def scale(self, priors: Priors) -> Float:
        """Return how often a_k counts in each document, (D,)."""
        return np.ones(self.tokens.lengths.size)

    def digamma_gain(self, priors: Priors) -> float:
        """Return what the lengths of the documents say of alpha.                                      docs/math (L4)"""
        return digamma_gain(priors.alpha, self.lengths(priors))

    def mean(self) -> Float:
        """Return the mean counts of the words in the topics, (W, K), not to be changed: the chain may go on with it."""
        if not self._n_samples:
            return self.last()
        return self._mean if self._last_is_sample else self._with_sample(self._mean.copy())

    def _own_mean(self) -> Float:
        """Return the mean of the samples, which may be changed."""
        return self._mean.copy() if self._is_shared else self._mean

    def last(self) -> Float:
        """Return the counts of this lap."""
        counts = np.zeros((self.tokens.n_words, self.n_topics))
        self._add_words(1.0, counts)
        return counts

    def _add_words(self, amount: float, counts: Float) -> None:
        """Add an amount for each token of a word in a topic, (W, K)."""
        for group, z in enumerate(self.z):
            a, b = self.tokens.word_cuts[group : group + 2]
            list_kernels.add_words(self.tokens.words(group), z, amount, counts[a:b])

    def words(self, topics: Int) -> NDArray[np.int32]:
        """Return the counts of this lap in some topics that have all tokens, (W, n)."""
        place = np.zeros(self.n_topics, np.int64)
        place[topics] = np.arange(topics.size)
        names = names_of(place)
        counts = np.zeros((self.tokens.n_words, topics.size), np.int32)
        for group, z in enumerate(self.z):
            a, b = self.tokens.word_cuts[group : group + 2]
            list_kernels.add_words(self.tokens.words(group), names[z], np.int32(1), counts[a:b])
        return counts

    def documents(self) -> Iterator[tuple[Int, Int, Int]]:
        """Yield where the topics of each document of a part begin, and the last end, these, and their tokens."""
        for part, lists in enumerate(self.lists):
            yield self.tokens.entries(lists, part)

    def sizes(self) -> Int:
        """Return the tokens of each topic in the last lap, (K,)."""
        return self._n.copy()

    def _with_sample(self, mean: Float) -> Float:
        """Make the counts of this lap one more sample of a mean, in its place.                        docs/math (L3)"""
        share = (LATE + 1.0) / (self._n_samples + 1.0 + LATE)
        mean *= 1.0 - share
        self._add_words(share, mean)
        return mean

    def snapshot(self) -> Packed:
        """Return the topic of each token, and the mean."""
        values, self._is_shared = {"n_samples": self._n_samples, "last_is_sample": self._last_is_sample}, True
        of_parts = (self.z.arrays(group)["array"] for group in range(self.tokens.n_parts))
        z = [of_part.copy() if self.tokens.scratch is None else of_part for of_part in of_parts]
        return {**{f"z.{group}": of_part for group, of_part in enumerate(z)}, "mean": self._mean}, values

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        tokens, mean, n_samples = self.tokens, arrays["mean"], whole_number("n_samples", values["n_samples"])
        last_is_sample = values["last_is_sample"]
        require(last_is_sample in (False, bool(n_samples)), "its last lap cannot be a sample")
        for group in range(tokens.n_parts):
            z, size = arrays[f"z.{group}"], int(tokens.words(group)[-1])
            require(z.shape == (size,) and z.dtype == np.uint16, "its topics are not those of these tokens")
            there = (z < self.n_topics) | (z == REPEAT)
            require(bool(there.all()), "its tokens have topics that are not there")
        shape = (tokens.n_words, self.n_topics) if n_samples else (0, 0)
        require(is_table(mean, *shape) and are_sums(mean), "its mean counts are not those of these words")
        n_tokens, n_fresh = (tokens.n_tokens if n_samples else 0), float(mean.sum())
        repeats = any((arrays[f"z.{group}"] >= self.n_topics).any() for group in range(tokens.n_parts))
        require(
            math.isclose(n_fresh, n_tokens, rel_tol=1e-6) or (repeats and n_fresh < n_tokens),
            "its mean counts are not those of these tokens",
        )
        self._mean, self._n_samples, self._last_is_sample = mean.copy(), n_samples, bool(last_is_sample)
        self._is_shared = False
        self.take(arrays[f"z.{group}"].copy() for group in range(tokens.n_parts))
