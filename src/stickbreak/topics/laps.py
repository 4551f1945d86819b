"""A fit of the default: start, passes, halves, alpha, merges, labels of documents. docs/math (L10) to (L24), (L29)"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from stickbreak.corpus import Corpus
from stickbreak.corpus.cooccurrence import Cooccurrence
from stickbreak.fitting.checkpoint import require, whole_number
from stickbreak.fitting.engine import Engine, one_blas_thread
from stickbreak.fitting.hyperparameters import PRIOR, digamma_gain
from stickbreak.fitting.loop import Callback, Lap, Packed, Stop
from stickbreak.model.document_labels import LABELLED, DocumentLabels
from stickbreak.numerics.arrays import Float, Float32, Int
from stickbreak.numerics.corners import corners
from stickbreak.numerics.pseudo_counts import total_of
from stickbreak.numerics.ranges import SMALLEST
from stickbreak.numerics.streams import key_of, stream
from stickbreak.prediction.completion import completion_log_likelihood
from stickbreak.prediction.document_weights import collapsed_weights
from stickbreak.sparse_gibbs.chain import Chain, EarlierDocuments, Topics, names_of
from stickbreak.sparse_gibbs.columns import ColumnChain, Design, summary
from stickbreak.sparse_gibbs.kernels.sweeps import Labels
from stickbreak.sparse_gibbs.priors import EVERY, FIRST_LAP, STEPS, Priors, best_eta, is_due, tables_of
from stickbreak.sparse_gibbs.tokens import seeds_of_tokens, typical
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.temporary_folders import TemporaryFolder
from stickbreak.topics.kernels import merging as kernels

PER_DOCUMENT = 2.0  # bounds the number of topics where documents are long: each has more to say
COUNTS = 1 << 20  # stored counts, at most, in which words are seen beside each other
LEAST_DOCUMENTS = 10  # of a corner: what stands beside a rarer word is noise
DIMENSIONS = 1 << 10  # of the random projection in which corners are sought
LITTLE = 0.05  # tokens of each word in each topic to begin with


def n_starting_topics(n_counts: int, n_documents: int, most: int) -> int:
    """Return min(sqrt(M), 2 (M D)^(1/4), most) for M stored counts of D documents.                   docs/math (L12)"""
    many = min(math.sqrt(n_counts), PER_DOCUMENT * (n_counts * n_documents) ** 0.25, most)
    return max(1, round(many))


def rough_topics(corpus: Corpus, n: int, seed: int, *, fewer: bool) -> Float:
    """Return n topics to begin with, as tokens of each word, (n, W); `fewer` where there are not as many corners.

    All words are alike in each where there is no corner, or there are not n of them and no `fewer` topics will do.
    docs/math (L12)
    """
    found = WordNeighbours(corpus, seed)
    words = found.corners(n) if n else found.words[:0]
    rows = found.topics(words) if words.size == n or (fewer and words.size) else np.ones((n, corpus.n_words))
    return of_tokens(rows, corpus.n_tokens / max(len(rows), 1))


def of_tokens(rows: Float, n_tokens: float) -> Float:
    """Return topics of that many tokens each, and a little of every word, (n, W)."""
    return np.asarray(rows * (n_tokens / np.maximum(rows.sum(axis=1, keepdims=True), SMALLEST)) + LITTLE)


class WordNeighbours:
    """What stands beside the words of a collection.

    Parameters
    ----------
    corpus : Corpus
        Documents of whole counts; of many, a sample is looked at.
    seed : int
    """

    def __init__(self, corpus: Corpus, seed: int) -> None:
        self._rng, share = stream(seed, "words beside words"), COUNTS / max(corpus.counts.nnz, 1)
        if share < 1.0:
            n = max(1, round(share * corpus.n_documents))
            corpus = corpus[np.sort(self._rng.choice(corpus.n_documents, n, replace=False))]
        self._seen = Cooccurrence.of(corpus)
        least = max(LEAST_DOCUMENTS, math.sqrt(corpus.n_documents) / 2)
        self.words: Int = np.flatnonzero((self._seen.mass > 0) & (self._seen.n_documents >= least))

    def corners(self, n: int) -> Int:
        """Return n words whose companions differ most, or fewer."""
        if not self.words.size:
            return self.words
        points = np.empty((self.words.size, DIMENSIONS), np.float32)
        for columns in self._seen.blocks(DIMENSIONS):
            directions = self._signs(columns.stop - columns.start)
            points[:, columns] = self._seen.times(directions, self.words)
        with one_blas_thread():  # sums of several threads come in any order
            return self.words[corners(points, n)]

    def topics(self, words: Int) -> Float:
        """Return the companions of words, as probabilities, (n, W)."""
        rows = np.maximum(self._seen.rows(words), 0.0)
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))

    def _signs(self, n: int) -> Float32:
        """Draw a table of -1 and 1, (W, n): a projection by these keeps distances as one by normal numbers does."""
        shape = self._seen.mass.size, n
        bits = np.unpackbits(np.frombuffer(self._rng.bytes(-(-shape[0] * n // 8)), np.uint8), count=shape[0] * n)
        return (np.float32(2.0) * bits - np.float32(1.0)).reshape(shape)


FIRST_MERGES = 40  # passes before the first round of merges
QUIET, LAST_MERGES = 3, 200  # rounds without a merge, or passes from the start or the last halves, that end merges
APART, GROWTH = 20, 1.1  # passes in which halves come to differ; more topics than this times those before: halves again
LEAST = 142  # passes of a fit that finds the number of topics: the mean needs as many
PART, MOST_PARTS = 1 << 18, 4  # tokens of a part that a thread sweeps, at least, and parts ...
LARGEST_PART = 1 << 24  # ... unless that many tokens, which are 200 MB, would not hold a part


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """What a fit goes by.

    Parameters
    ----------
    n_topics : int or None
        None: the number is found.
    max_topics : int
    priors : Priors
        Of the topics that are known; more have none but eta.
    learn : collection of {"alpha", "eta"}
    seed : int
    labels : DocumentLabels, optional
    past : EarlierDocuments, optional
    first_merges : int
        The pass after which topics become one for the first time.
    splits : bool
        Whether topics are tried in halves.
    design : Design, optional
        What the weights of the documents depend on.
    """

    n_topics: int | None
    max_topics: int
    priors: Priors
    learn: Collection[str]
    seed: int
    labels: DocumentLabels | None = None
    past: EarlierDocuments | None = None
    first_merges: int = FIRST_MERGES
    splits: bool = True
    design: Design | None = None


class TopicLaps:
    """Laps over a collection.

    Parameters
    ----------
    corpus : Corpus
        Documents of whole counts.
    settings : TopicSettings
    engine : Engine
    scratch : Path, optional
        Where files for what belongs to tokens are made. None: in memory, or where the workers of a cluster see them.

    Attributes
    ----------
    report : callable, optional
        What is told of the passes that draw effects.
    """

    window = Chain.window
    report: Callback | None = None

    def __init__(self, corpus: Corpus, settings: TopicSettings, engine: Engine, scratch: Path | None = None) -> None:
        self._corpus, self.settings, self._engine, self._scratch = corpus, settings, engine, scratch
        self.priors, self.seed = settings.priors, settings.seed
        self.started = 0  # topics at the start
        self._n_rounds_without_merge = 0  # in a row
        self._split_at = 0  # the last pass after which topics were cut in halves
        self._n_before_halves = 0  # topics before that
        self.chain: Chain

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return self.priors.row()

    def begin(self, report: Callback, stop: Stop) -> None:
        """Give each token one of many rough topics: a few seconds, which are neither reported nor stopped."""
        settings, corpus, n_kept = self.settings, self._corpus, self.priors.n_kept
        n = self._most - n_kept if settings.n_topics is None else settings.n_topics - n_kept
        free = rough_topics(corpus, n, settings.seed, fewer=settings.n_topics is None)
        self.started = n_kept + len(free)
        a = np.full(self.started, self.priors.alpha / self.started)
        a[: self.priors.a.size] = self.priors.a  # those that a model of before has learned
        if "alpha" not in settings.learn:
            a *= self.priors.alpha / a.sum()
        self.priors = self.priors.with_weights(a)
        if settings.design is not None:
            self.priors = replace(self.priors, effects=np.zeros((self.started, settings.design.x.shape[1] - 1)))
        self.chain = self._chain_of(self.started)
        self.chain.begin(self._first_topics(free))

    @property
    def _most(self) -> int:
        """Number of topics that there may be, those that are known among them.                       docs/math (L12)"""
        counts, n_kept = self._corpus.counts, self.priors.n_kept
        return n_kept + n_starting_topics(counts.nnz, self._corpus.n_documents, self.settings.max_topics - n_kept)

    def _first_topics(self, free: Float) -> Iterator[Topics]:
        """Draw the first topic of each token: near the topics that are known, or one of the free topics."""
        pseudo, chain = self.priors.pseudo, self.chain
        if pseudo is None:
            return chain.near(free)
        if self.settings.past is not None:
            return chain.near(np.vstack([of_tokens(pseudo.T.toarray(), self._corpus.n_tokens / self.started), free]))
        known = np.full((self.priors.n_kept, self._corpus.n_words), float(not len(free)))
        rng = stream(self.seed, "tokens near seeds")
        near = seeds_of_tokens(self._corpus, chain.tokens, typical(pseudo), rng)
        of_words = zip(near, chain.near(np.vstack([known, free])), strict=True)
        return (np.where(seed >= 0, seed, z).astype(np.uint16) for seed, z in of_words)

    def _chain_of(self, n_topics: int, rows: Int | None = None) -> Chain:
        """Return a chain of that many topics for all documents or some rows, without topics of tokens yet."""
        settings, corpus = self.settings, self._corpus if rows is None else self._corpus[rows]
        n_tokens = int(corpus.n_tokens)
        n_parts = max(1, min(n_tokens // PART, MOST_PARTS), -(-n_tokens // LARGEST_PART))
        workers, scratch = self._engine.workers, self._scratch
        if scratch is None and workers is not None and n_parts > 1:
            scratch = workers.scratch
        options: dict[str, Any] = {
            "n_parts": n_parts,
            "engine": self._engine,
            "past": settings.past,
            "scratch": scratch,
        }
        if settings.labels is not None:
            labels = settings.labels if rows is None else settings.labels.sample(rows)
            return LabelledChain(corpus, n_topics, settings.seed, labels, **options)
        if settings.design is not None:
            design = settings.design if rows is None else settings.design.of_documents(rows)
            return ColumnChain(corpus, n_topics, settings.seed, design, **options)
        return Chain(corpus, n_topics, settings.seed, **options)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        while True:
            done += 1
            objective = self.chain.lap(done, self.priors)
            self._learn(done)
            if self._merges and done >= self._next_merges and done % EVERY == 0:
                if self._merge(done):
                    self._split(done)
            moved = self._merges or done < LEAST if self.settings.n_topics is None else done <= FIRST_LAP
            yield Lap(objective, int((self.chain.sizes() > 0).sum()), moved, self.priors.row())

    def _learn(self, lap: int) -> None:
        """Learn the priors, where this is due.                                          docs/math (L4), (L19), (L24)"""
        if "alpha" in self.settings.learn:
            self.priors = self.chain.with_weights(self.priors, lap)
        if self.priors.bursts and self.settings.past is None:
            self.priors = self.chain.with_strength(self.priors)
        if "eta" in self.settings.learn and is_due(lap):
            assert not isinstance(self.priors.eta, np.ndarray)
            eta = best_eta(self.chain.last()[:, self.priors.n_kept :], self.priors.eta)
            self.priors = replace(self.priors, eta=eta)

    @property
    def _merges(self) -> bool:
        """Whether topics still become one."""
        return self.settings.n_topics is None and self._n_rounds_without_merge < QUIET

    @property
    def _next_merges(self) -> int:
        """The pass from which on topics become one, at the start or since they were cut in halves."""
        return self._split_at + APART if self._split_at else self.settings.first_merges

    def _merge(self, lap: int) -> bool:
        """Let pairs of topics become one; return whether merges have ended."""
        part_of = self._merger.round(self.chain, self.priors, lap)
        n_topics = int(part_of.max()) + 1
        self._n_rounds_without_merge = 0 if n_topics < (part_of >= 0).sum() else self._n_rounds_without_merge + 1
        if lap >= self._split_at + LAST_MERGES:
            self._n_rounds_without_merge = QUIET
        if n_topics < part_of.size:
            self.priors = self.priors.merged(part_of)
            self.chain = self.chain.merged(part_of)
        return self._n_rounds_without_merge >= QUIET

    def _split(self, lap: int) -> None:
        """Cut topics in halves, unless that hardly led to more the last time.                           docs/math (L20)

        Merges decide which of them differ.
        """
        K, n_kept = self.chain.n_topics, self.priors.n_kept
        room = min(K - n_kept, self._most - K)
        if not self.settings.splits or room <= 0 or K <= GROWTH * self._n_before_halves:
            return
        split = n_kept + np.sort(np.argsort(-self.chain.sizes()[n_kept:], kind="stable")[:room])
        self.chain = self.chain.halved(split, stream(self.seed, f"halves after lap {lap}"))
        self.priors = self.priors.halved(split)
        self._n_rounds_without_merge, self._split_at, self._n_before_halves = 0, lap, K

    def predictive_factor(self, priors: Priors, expected: float) -> float:
        """Return the factor of a with which documents that had no part in the topics are predicted best.

        A tenth of the documents is set apart. A chain of the others begins near the topics and forgets these documents
        in ten laps. Where nothing can be learned, the factor is the expected one.                       docs/math (L21)
        """
        apart = documents_apart(self._corpus, self.seed)
        if "alpha" not in self.settings.learn or self.chain.n_topics == 1 or not apart.size:
            return expected
        chain = self._chain_of(self.chain.n_topics, np.setdiff1d(np.arange(self._corpus.n_documents), apart))
        chain.begin(chain.near((self.chain.mean() + priors.of_words()).T))
        for lap in range(1, FORGETTING + 1):  # with the random numbers of the first laps, whose state is long gone
            chain.lap(lap, priors)
        topics = (chain.mean() + priors.of_words()).T
        topics /= topics.sum(axis=1, keepdims=True)
        a, strength = self.chain.weights_of_documents(priors, apart), priors.strength
        return best_factor(self._corpus[apart], topics, a, expected, self._engine, self.seed, strength)

    def effects(self) -> tuple[Priors, Float]:
        """Return priors with the mean of drawn weights, and what `summary` says of their effects.      docs/math (L29)

        A chain begins at the topics of the tokens, and goes on.
        """
        chain, priors, draws = self._chain_of(self.chain.n_topics), self.priors, []
        assert isinstance(chain, ColumnChain)
        chain.take(z.copy() for z in self.chain.z)
        for lap in range(1, FIRST_DRAWS + DRAWS + 1):  # with the random numbers of the first laps
            chain.lap(lap, priors)
            priors = chain.with_drawn_weights(priors, lap)
            if lap > FIRST_DRAWS:
                draws.append(priors)
            if self.report is not None:
                self.report({"stage": "effects", "done": lap, "total": FIRST_DRAWS + DRAWS})
        found = summary(np.array([each.effects for each in draws]))
        mean = self.priors.with_weights(np.mean([each.a for each in draws], axis=0))
        return replace(mean, effects=found[0]), found

    @cached_property
    def _merger(self) -> Merger:
        n_labels = 0 if self.settings.labels is None else self.settings.labels.n_labels
        return Merger(n_labels, self.priors.n_kept, self.settings.past is not None, self.seed, self._engine)

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        arrays, values = self.chain.snapshot()
        mine = {
            "started": self.started,
            "quiet": self._n_rounds_without_merge,
            "split_at": self._split_at,
            "whole": self._n_before_halves,
        }
        return {**arrays, **self.priors.arrays()}, {**values, **self.priors.row(), **mine}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        mine = [whole_number(name, values[name]) for name in ("started", "quiet", "split_at", "whole")]
        self.started, self._n_rounds_without_merge, self._split_at, self._n_before_halves = mine
        n_topics, most = int(np.asarray(arrays["a"]).size), max(self.started, self.settings.max_topics)
        require(self.priors.n_kept <= n_topics <= most, "its topics are more than there may be")
        self.priors = replace(self.priors, a=np.ones(n_topics)).restored(arrays, values)
        n_columns = None if self.settings.design is None else self.settings.design.x.shape[1] - 1
        effects = self.priors.effects
        require(
            (None if effects is None else effects.shape[1]) == n_columns, "its effects are not those of its columns"
        )
        self.chain = self._chain_of(n_topics)
        self.chain.restore(arrays, values)


FIRST_DRAWS, DRAWS = 20, 100  # passes after the fit: that are forgotten, and that say how certain effects are
SET_APART, MOST_SET_APART = 0.1, 1 << 14  # share of the documents, and their tokens at most
FORGETTING = 10  # passes in which topics forget these documents
LARGEST_LOG, PRECISION = math.log(16.0), 0.1  # of the logarithm of the factor of alpha


def documents_apart(corpus: Corpus, seed: int) -> Int:
    """Draw the documents to be set apart, in the order of their numbers: none where there are fewer than ten."""
    lengths = np.asarray(corpus.document_lengths)
    rows = stream(seed, "documents apart").permutation(np.flatnonzero(lengths > 1))
    rows = rows[: int(SET_APART * rows.size)]
    return np.sort(rows[: np.searchsorted(np.cumsum(lengths[rows]), MOST_SET_APART) + 1])


def best_factor(
    apart: Corpus,
    topics: Float,
    a: Float,
    expected: float,
    engine: Engine,
    seed: int,
    strength: float = math.inf,
) -> float:
    """Return the factor of a with which the first halves of documents predict the second ones best.   docs/math (L21)

    Parameters
    ----------
    apart : Corpus
        Documents that the topics do not know.
    topics : ndarray of shape (K, W)
        Positive word distributions.
    a : ndarray of shape (K,), or (D, K) with a row for each document
    expected : float
        The factor that is kept where the documents say nothing.
    engine : Engine
    seed : int
        Of the halves.
    strength : float, default=inf
        Of the topics against the words that a document has; infinite without bursts.
    """
    observed, held_out = apart.halves(seed=seed)

    def loss(log_factor: float) -> float:
        weights = collapsed_weights(observed, topics, math.exp(log_factor) * a, engine, strength=strength)
        predicted, _ = completion_log_likelihood(
            weights, topics, held_out.counts, observed=observed.counts, strength=strength
        )
        return 2.0 * (log_factor - math.log(expected)) ** 2 - predicted

    found = minimize_scalar(loss, bounds=(-LARGEST_LOG, LARGEST_LOG), method="bounded", options={"xatol": PRECISION})
    return math.exp(found.x)


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
    engine : Engine
    """

    n_labels: int
    n_kept: int
    are_counts: bool
    seed: int
    engine: Engine

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
        mean = chain.mean_weights(priors)[used]
        pairs = self._near(self._plain(chain, counts, sizes, mean, eta, place), sizes, used)
        prior, total = np.zeros((n_words, 0)), np.full(K, total_of(priors.eta, n_words))
        if priors.pseudo is not None:
            prior = priors.pseudo.toarray()
            prior = prior if self.are_counts else np.minimum(prior, 1.0)
            total[: priors.n_kept] += prior.sum(axis=0)
        tokens = TokensOfTopics.of(chain, place, chain.sizes()[used])
        row, _, x, weights = chain.columns_of(priors)[1]
        weights = weights[used] if row.size else weights
        known = kernels.MergePriors(a, chain.scale(priors), eta, prior, total, row, x, weights)
        key, gains = key_of(self.seed, number, "sides of merges"), np.empty(len(pairs))

        def look(first: int) -> None:
            some = slice(first, first + AT_ONCE)
            kernels.gains_of_pairs(pairs[some], tokens.arrays, counts, sizes, known, key, gains[some])

        self.engine.map(look, range(0, len(pairs), AT_ONCE))
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
        self._folder = None if scratch is None else TemporaryFolder(scratch, "stickbreak-fit")
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
        tokens, begin, names = chain.tokens, np.append(0, np.cumsum(sizes)), names_of(place)
        found, following = cls(begin, tokens.scratch), begin[:-1].copy()
        n_before = 0
        for part in range(tokens.n_parts):
            first, last = tokens.document_cuts[part : part + 2]
            start = np.append(0, np.cumsum(tokens.lengths[first:last]))
            word, topic = np.empty(int(start[-1]), np.uint32), np.empty(int(start[-1]), np.uint16)
            free = start[:-1].copy()
            for group, z in enumerate(chain.z):
                of_cell = *tokens.cell(part, group), tokens.documents(part, group), names[z]
                kernels.by_document(int(tokens.word_cuts[group]), *of_cell, free, word, topic)
            kernels.by_topic(n_before, int(first), start, word, topic, following, *found.arrays[1:])
            n_before += int(start[-1])
        return found


def _log_rising(n: Float, a: float) -> Float:
    """Return log Gamma(n + a) - log Gamma(a)."""
    return np.asarray(gammaln(n + a) - gammaln(a))


class LabelledChain(Chain):
    """A chain whose documents have labels.

    Parameters
    ----------
    corpus, n_topics, seed
        As in `Chain`.
    labels : DocumentLabels
        The first topics are those of labels.
    **options
        As in `Chain`.
    """

    def __init__(self, corpus: Corpus, n_topics: int, seed: int, labels: DocumentLabels, **options: Any) -> None:
        super().__init__(corpus, n_topics, seed, **options)
        self._labels = labels

    def begin(self, z: Iterable[Topics]) -> None:
        """Begin with these topics of tokens; in a document with labels each of these is as likely as the given one."""
        rng = stream(self._seed, "labels of LDA")

        def allowed(group: int, of_words: Topics) -> Topics:
            document = self.tokens.documents_of_words(group)
            return self._labels.allowed(of_words.astype(np.int64), document, rng).astype(np.uint16)

        self.take(allowed(group, of_words) for group, of_words in enumerate(z))

    def scale(self, priors: Priors) -> Float:
        """Return how often a_k of a free topic counts in each document, (D,).                       docs/math (L10)"""
        return np.where(np.diff(self._labels.start) > 0, self._shares(priors)[1], 1.0)

    def _shares(self, priors: Priors) -> tuple[float, float]:
        """Return what labels have of the concentration of a document, and the factor of a_k of free topics."""
        free = float(priors.a[self._labels.n_labels :].sum())
        if not free:
            return priors.alpha, 0.0
        return LABELLED * priors.alpha, (1.0 - LABELLED) * priors.alpha / free

    def _labels_of(self, priors: Priors) -> Labels:
        """Return what sweeps must know of labels."""
        return Labels(self._labels.start, self._labels.topic, self._labels.n_labels, *self._shares(priors))

    def with_weights(self, priors: Priors, number: int) -> Priors:
        """Return the priors after a lap, their weights a learned where this is due.          docs/math (L10), (L16)"""
        if not is_due(number):
            return priors
        n_own = np.diff(self._labels.start)
        groups = [(int(n), self.tokens.pairs(self.lists, n_own == n)) for n in np.unique(n_own)]
        lengths = self.lengths(priors)
        for _ in range(STEPS):
            tables = np.zeros((2, self.n_topics))  # of documents without labels, and with
            tables[0, : self._past.tables.size] = self._past.tables
            for n, pairs in groups:
                tables[int(n > 0)] += tables_of(pairs, self._prior_of(n, priors))
            priors = priors.with_weights(
                self._weights(tables, self._past.digamma_gain + digamma_gain(priors.alpha, lengths))
            )
        return priors

    def _prior_of(self, n: int, priors: Priors) -> Float:
        """Return the prior of a document with n labels, as if all were its own, (K,)."""
        if not n:
            return priors.a
        own, scale = self._shares(priors)
        L = self._labels.n_labels
        return np.append(np.full(L, own / n), scale * priors.a[L:])

    def _weights(self, tables: Float, times: float) -> Float:
        """Return a after a step of the fixed point, (K,).                                           docs/math (L10)"""
        L, K = self._labels.n_labels, self.n_topics
        n_documents = np.bincount(self._labels.topic, minlength=L)
        alpha = (PRIOR.shape + float(tables.sum())) / (PRIOR.rate + times)
        shares, free = 1.0 / K + tables[0], 1.0 / K + tables[:, L:].sum(axis=0)
        shares[:L] += n_documents
        if K > L:
            shares[L:] = (shares[L:].sum() + n_documents.sum()) * free / free.sum()
        return np.asarray(alpha * shares / shares.sum())

    def snapshot(self) -> Packed:
        """Return the topic of each token, the mean, and the labels."""
        arrays, values = super().snapshot()
        return {**arrays, "labels.start": self._labels.start, "labels.topic": self._labels.topic}, values

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        super().restore(arrays, values)
        for group, z in enumerate(self.z):
            fresh = z < self.n_topics
            self._labels.check_allowed(z[fresh].astype(np.int64), self.tokens.documents_of_words(group)[fresh])
        same = all(np.array_equal(arrays[f"labels.{name}"], getattr(self._labels, name)) for name in ("start", "topic"))
        require(same, "its labels are those of other documents")
