"""What a representation of the HDP's state is to a chain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.checkpoint import require
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.stirling import StirlingRatios
from stickbreak.sampling.counts import alive_in, count_topics, dense_labels, labels_of, packed, unpacked
from stickbreak.sampling.kernels import counts as counts_kernels
from stickbreak.sampling.kernels import direct as direct_kernels
from stickbreak.sampling.kernels import franchise as franchise_kernels
from stickbreak.sampling.kernels.labels import NO_LABELS, LabelRows
from stickbreak.sampling.labelled import LabelTables
from stickbreak.sampling.state import NO_LIMIT, Concentrations, DocumentTopics, Seating, TopicCounts
from stickbreak.sampling.sweeping import Shard


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep is given."""

    concentrations: Concentrations
    ratios: StirlingRatios
    seed: tuple[int, int]  # of the chain, and the number of the sweep
    n_shards: int
    executor: Engine
    source: Source | None = None  # of the documents whose shards are jobs
    max_topics: int = NO_LIMIT  # that have tokens at a time; of one shard

    def key(self, purpose: str) -> np.uint64:
        """Return the key of the random streams for a purpose."""
        return key_of(*self.seed, purpose)


class Representation(ABC):
    """Topics z of the tokens, tables m_jk of the topics in the documents, and what a representation has beside them.

    Between sweeps the topics are numbered 0 .. K - 1.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.z: Int32 = np.zeros(tokens.word.size, np.int32)
        self.documents = DocumentTopics.empty(tokens)

    @abstractmethod
    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample the state once, from its counts (which are spent); return those of the new state."""

    def finish(self, counts: TopicCounts, concentrations: Concentrations, rng: np.random.Generator) -> None:
        """Draw what depends on the concentrations and on the tables of the whole corpus, at the end of a sweep."""

    def seats(self, ratios: StirlingRatios, key: np.uint64) -> Seating:
        """Return a seating given z and m: drawn, where the representation has none of its own."""
        tokens, seating = self.tokens, Seating.empty(self.tokens)
        longest = int(np.diff(tokens.sampled).max(initial=1))
        scratch, rng = np.zeros((2, longest), np.int64), np.zeros(1, np.uint64)
        franchise_kernels.draw_seating(tokens.sampled, self.z, self.documents, ratios, scratch, seating, rng, key)
        one_table_each(tokens, seating)
        return seating

    def take(self, seating: Seating, n_topics: int) -> None:
        """Take up a seating whose dishes are numbered 0 .. n_topics - 1."""
        scratch = np.zeros((2, n_topics), np.int64)
        franchise_kernels.count_tables(self.tokens.start, seating, scratch, self.z, self.documents)

    def draw_tables(self, z: Int32, beta: Float, now: Concentrations, labels: LabelRows, key: np.uint64) -> int:
        """Take up topics of tokens, and draw their tables under corpus weights beta (K,); topics without tokens go.

        math.md (G5), (G16). Topics that are given stay in any case. Returns the number of topics.
        """
        tokens, documents = self.tokens, self.documents
        label, alive = dense_labels(z, beta.size, tokens.n_given)
        self.z = label[z]
        counts_kernels.count_tokens(tokens.start, self.z, np.zeros(alive.size, np.int64), documents)
        prior, rng = now.alpha * beta[alive], np.zeros(1, np.uint64)
        direct_kernels.draw_tables(0, tokens.sampled, documents, prior, labels, rng, key)
        given = (np.arange(tokens.n_documents) >= tokens.n_sampled) & (tokens.lengths > 0)
        documents.m[tokens.start[:-1][given]] = 1
        return alive.size

    def reseat(self, ratios: StirlingRatios, key: np.uint64, n_topics: int) -> None:
        """Draw a seating given z and m, where the representation has one."""

    def tables(self, n_topics: int) -> Int:
        """Return the tables of each topic M_k, (K,)."""
        topic, m = (packed(self.tokens.start, self.documents.size, x) for x in (self.documents.topic, self.documents.m))
        return np.bincount(topic, weights=m, minlength=n_topics).astype(np.int64)

    def most_tables(self) -> int:
        """Return the most tables that a topic has in a document."""
        return int(packed(self.tokens.start, self.documents.size, self.documents.m).max(initial=0))

    def label_rows(self, alpha: float, beta: Float) -> LabelRows:
        """Return what kernels are told of the labels of documents: nothing, where these have none."""
        return NO_LABELS

    def label_tables(self) -> LabelTables | None:
        """Return what the tables say of the labels of documents, if these have some."""
        return None

    def arrays(self) -> dict[str, NDArray]:
        """Return what the next sweeps depend on."""
        start, documents = self.tokens.start, self.documents
        pairs = {name: packed(start, documents.size, getattr(documents, name)) for name in ("topic", "n", "m")}
        return {"z": self.z, "size": documents.size, **pairs}

    def restore(self, arrays: Mapping[str, NDArray], n_topics: int) -> None:
        """Take up what `arrays` returned.

        Raises
        ------
        ValueError
            If it cannot be of these tokens.
        """
        z, size = arrays["z"], arrays["size"]
        require(is_ints(z, self.z.size, 0, n_topics), "its topics of tokens do not fit")
        require(is_ints(size, self.tokens.n_documents, 0, n_topics + 1), "its topics of documents do not fit")
        require(bool((size <= self.tokens.lengths).all()), "a document has more topics than tokens")
        pairs = {name: arrays[name] for name in ("topic", "n", "m")}
        total = int(size.sum())
        require(all(is_ints(a, total, 0, np.iinfo(np.int32).max) for a in pairs.values()), "its pairs do not fit")
        self.z = z.copy()
        self.documents = DocumentTopics(
            size.copy(), **{name: unpacked(self.tokens.start, size, array) for name, array in pairs.items()}
        )
        found = DocumentTopics.empty(self.tokens)
        counts_kernels.count_tokens(self.tokens.start, z, np.zeros(n_topics, np.int64), found)
        require(np.array_equal(found.size, size), "its topics of documents are not those of its tokens")
        rows = np.repeat(np.arange(size.size), size)
        order = np.lexsort((pairs["topic"], rows))
        for name in ("topic", "n"):
            mine = packed(self.tokens.start, size, getattr(found, name))
            require(np.array_equal(mine, pairs[name][order]), f"its {name} of documents is not that of its tokens")
        m, n = pairs["m"], pairs["n"]
        require(bool(((m >= 1) & (m <= n)).all()), "a topic of a document has no table or more tables than tokens")
        given = self.z[self.tokens.sampled[-1] :]
        require(np.array_equal(given, self.tokens.given_topics), "topics that are kept are not there")

    def _counted(self, counts: TopicCounts, n_numbers: int, parts: list[Shard]) -> tuple[TopicCounts, Int]:
        """Give topics the numbers 0 .. K - 1 after a pass over `counts`; those that are given stay without tokens, too.

        Returns
        -------
        counts : TopicCounts
            Of the current state.
        alive : ndarray of shape (K,)
            Which of the old numbers these topics had, ascending.
        """
        if len(parts) > 1:
            for part in parts:
                self._relabel(part.label, part.first, part.last)
            n = np.bincount(self.z, minlength=n_numbers)
        else:
            n = parts[0].n
        alive = alive_in(n, self.tokens.n_given)
        label = labels_of(alive, n_numbers)
        if alive.size < n_numbers:
            self._relabel(label, 0, self.tokens.n_documents)
        if len(parts) > 1:
            return count_topics(self.tokens, self.z, self.documents, alive.size), alive
        counts_kernels.tidy_words(label, counts.words)
        return TopicCounts(alive.size, parts[0].n[alive], parts[0].m[alive], counts.words), alive

    def _relabel(self, label: Int32, first: int, last: int) -> None:
        """Give every topic of the documents first .. last - 1 its new number."""
        counts_kernels.relabel(label, first, last, self.z, self.tokens.start, self.documents)


def one_table_each(tokens: Tokens, seating: Seating) -> None:
    """Seat the tokens of each document whose topics are given at one table."""
    lengths = tokens.lengths[tokens.n_sampled :]
    there = np.flatnonzero(lengths)
    begin = tokens.start[tokens.n_sampled + there]
    seating.n_tables[tokens.n_sampled + there], seating.table[tokens.sampled[-1] :] = 1, 0
    seating.topic[begin], seating.n[begin] = there, lengths[there]


def is_ints(array: NDArray, size: int, low: int, high: int) -> bool:
    """Whether an array holds `size` 32-bit integers in low .. high - 1."""
    right = array.shape == (size,) and array.dtype == np.int32
    return right and (not size or bool(array.min() >= low and array.max() < high))
