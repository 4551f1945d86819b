"""What a chain keeps of the topics of its tokens: three representations of the same posterior.

`TableIndicators` (the default) keeps how many tables each topic has in each document, `Franchise` who sits at which of
them, and `PartiallyCollapsed` corpus weights; its topics are drawn in each sweep, so that documents are independent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.checkpoint import require
from stickbreak.fitting.engine import Engine, shards
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.pseudo_counts import factor_of
from stickbreak.numerics.stirling import StirlingRatios, factors_of, wide_enough
from stickbreak.numerics.streams import key_of
from stickbreak.sampling.kernels import counts as counts_kernels
from stickbreak.sampling.kernels import documents as documents_kernels
from stickbreak.sampling.kernels import franchise as franchise_kernels
from stickbreak.sampling.kernels import partially_collapsed as parallel_kernels
from stickbreak.sampling.kernels import table_indicators as indicator_kernels
from stickbreak.sampling.kernels.documents import NO_LABELS, SMALLEST, LabelRows
from stickbreak.sampling.kernels.partially_collapsed import SampledTopics, UnusedTopics
from stickbreak.sampling.kernels.topic_draw import HIGH, MOST, RESUME, TABLES, Topics
from stickbreak.sampling.known_topics import ChainLabels, LabelTables, draw_labelled
from stickbreak.sampling.state import (
    NO_LIMIT,
    PART_TOKENS,
    Concentrations,
    DocumentTopics,
    Seating,
    TableList,
    TopicCounts,
    WordTopics,
    alive_in,
    count_topics,
    dense_labels,
    labels_of,
    packed,
    unpacked,
)

LEAST_ROOM = 1024  # topics that a pass has room for, beyond those that it begins with
WORDS_AT_ONCE = 256  # words whose gamma variates are added up by themselves


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep is given."""

    concentrations: Concentrations
    ratios: StirlingRatios
    seed: tuple[int, int]  # of the chain, and the number of the sweep
    engine: Engine
    max_topics: int = NO_LIMIT  # that have tokens at a time

    def key(self, purpose: str) -> np.uint64:
        """Return the key of the random streams for a purpose."""
        return key_of(*self.seed, purpose)


# --- a pass over all documents ---

Kernel = Callable[[int, Topics], int]  # first document, topics -> the document where it stopped


def run_pass(tokens: Tokens, counts: TopicCounts, kernel: Kernel, max_topics: int = NO_LIMIT) -> tuple[Int, Int]:
    """Run a kernel over all documents; return the tokens and tables of all numbers that topics have now.

    A kernel stops where the numbers for topics may run out, and goes on with more room. `counts.words` are changed.
    """
    longest = int(tokens.lengths.max(initial=1))
    topics = _topics(counts, counts.n_topics + max(LEAST_ROOM, 2 * longest), max_topics)
    stopped = kernel(0, topics)
    while stopped < tokens.n_sampled:
        # where it asks for wider tables, it finds them when it goes on
        if topics.totals[RESUME] == 0 or topics.totals[HIGH] + longest > topics.n.size:
            topics = _enlarged(topics, 2 * topics.n.size)
        stopped = kernel(stopped, topics)
    high = int(topics.totals[HIGH])
    return topics.n[:high].copy(), topics.m[:high].copy()


_TOPIC_ARRAYS: dict[str, Any] = {
    **dict.fromkeys(("n", "m", "free", "n_d", "m_d", "place", "here"), np.int64),
    **dict.fromkeys(("coef", "opened", "seated", "weight"), np.float64),
}


def _topics(counts: TopicCounts, room: int, max_topics: int) -> Topics:
    """Return the topics with room for new ones."""
    K = counts.n_topics
    totals = np.zeros(5, np.int64)
    totals[HIGH], totals[TABLES], totals[MOST] = K, counts.m[:K].sum(), max_topics
    arrays: dict[str, Any] = {name: np.zeros(room, kind) for name, kind in _TOPIC_ARRAYS.items()}
    topics = Topics(**arrays, totals=totals, rng=np.zeros(1, np.uint64))
    topics.n[:K], topics.m[:K] = counts.n[:K], counts.m[:K]
    return topics


def _enlarged(topics: Topics, room: int) -> Topics:
    """Return the topics with more room, between two documents."""
    arrays: dict[str, Any] = {}
    for name, kind in _TOPIC_ARRAYS.items():
        old = getattr(topics, name)
        arrays[name] = np.zeros(room, kind)
        arrays[name][: old.size] = old
    return topics._replace(**arrays)


# --- what all representations have ---


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
        _one_table_each(tokens, seating)
        return seating

    def take(self, seating: Seating, n_topics: int) -> None:
        """Take up a seating whose dishes are numbered 0 .. n_topics - 1."""
        scratch = np.zeros((2, n_topics), np.int64)
        franchise_kernels.count_tables(self.tokens.start, seating, scratch, self.z, self.documents)

    def draw_tables(self, z: Int32, beta: Float, now: Concentrations, labels: LabelRows, key: np.uint64) -> int:
        """Take up topics of tokens, and draw their tables under corpus weights beta (K,); topics without tokens go.

        docs/math (G5), (G16). Topics that are given stay in any case. Returns the number of topics.
        """
        tokens, documents = self.tokens, self.documents
        label, alive = dense_labels(z, beta.size, tokens.n_given)
        self.z = label[z]
        counts_kernels.count_tokens(tokens.start, self.z, np.zeros(alive.size, np.int64), documents)
        prior, rng = now.alpha * beta[alive], np.zeros(1, np.uint64)
        documents_kernels.draw_tables(tokens.sampled, documents, prior, labels, rng, key)
        given = (np.arange(tokens.n_documents) >= tokens.n_sampled) & (tokens.lengths > 0)
        documents.m[tokens.start[:-1][given]] = 1
        return alive.size

    def reseat(self, ratios: StirlingRatios, key: np.uint64, n_topics: int) -> None:
        """Draw a seating given z and m, where the representation has one."""

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
        require(_is_ints(z, self.z.size, 0, n_topics), "its topics of tokens do not fit")
        require(_is_ints(size, self.tokens.n_documents, 0, n_topics + 1), "its topics of documents do not fit")
        require(bool((size <= self.tokens.lengths).all()), "a document has more topics than tokens")
        pairs = {name: arrays[name] for name in ("topic", "n", "m")}
        total = int(size.sum())
        require(all(_is_ints(a, total, 0, np.iinfo(np.int32).max) for a in pairs.values()), "its pairs do not fit")
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

    def _relabel(self, label: Int32) -> None:
        """Give every topic of the documents its new number."""
        counts_kernels.relabel(label, self.z, self.tokens.start, self.documents)


def _one_table_each(tokens: Tokens, seating: Seating) -> None:
    """Seat the tokens of each document whose topics are given at one table."""
    lengths = tokens.lengths[tokens.n_sampled :]
    there = np.flatnonzero(lengths)
    begin = tokens.start[tokens.n_sampled + there]
    seating.n_tables[tokens.n_sampled + there], seating.table[tokens.sampled[-1] :] = 1, 0
    seating.topic[begin], seating.n[begin] = there, lengths[there]


def _is_ints(array: NDArray, size: int, low: int, high: int) -> bool:
    """Whether an array holds `size` 32-bit integers in low .. high - 1."""
    right = array.shape == (size,) and array.dtype == np.int32
    return right and (not size or bool(array.min() >= low and array.max() < high))


# --- table indicators ---


class TableIndicators(Representation):
    """State (z, m): the tables of a topic in a document are a number, and nobody sits.                docs/math (G6)

    Chen, Du and Buntine (2011), with the top level summed out. `dense`: the weights of all topics are computed for each
    token, as in the original algorithm.
    """

    def __init__(self, tokens: Tokens, dense: bool = False) -> None:
        super().__init__(tokens)
        self._dense = dense
        self._factors: Float = np.zeros((0, 0, 2))

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample the topic and the indicator of every token."""
        tokens, now, documents, key = self.tokens, sweep.concentrations, self.documents, sweep.key("tokens")
        if self._factors.shape[:2] != (sweep.ratios.shape[0], sweep.ratios.shape[1] - 1):
            self._factors = factors_of(sweep.ratios)

        def kernel(first: int, topics: Topics) -> int:
            factors = self._factors
            if topics.totals[RESUME]:  # it stopped in a document with more tables than they know
                most = documents.m[tokens.start[first] : tokens.start[first] + documents.size[first]].max()
                factors = factors_of(wide_enough(sweep.ratios, int(most)))
            own = first, tokens.n_sampled, (tokens.start, tokens.word, self.z), documents
            return int(indicator_kernels.sweep(*own, counts.words, topics, factors, now, self._dense, key))

        n, m = run_pass(tokens, counts, kernel, sweep.max_topics)
        alive = alive_in(n, tokens.n_given)
        label = labels_of(alive, n.size)
        if alive.size < n.size:
            self._relabel(label)
        counts_kernels.tidy_words(label, counts.words)
        return TopicCounts(alive.size, n[alive], m[alive], counts.words)


# --- the Chinese restaurant franchise ---


class Franchise(Representation):
    """State (t, k): the table of each token, the topic that each table serves.                 docs/math (G2), (G3)

    Teh, Jordan, Beal and Blei (2006), Sec. 5.1.
    """

    def __init__(self, tokens: Tokens) -> None:
        super().__init__(tokens)
        self.seating = Seating.empty(tokens)

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample the table of every token, then the dish of every table."""
        tokens, now, key = self.tokens, sweep.concentrations, sweep.key("dishes")
        K, self.seating = seat_tokens(tokens, self.seating, counts, sweep, seated=True)
        self.take(self.seating, K)
        counts, seating = count_topics(tokens, self.z, self.documents, K), self.seating
        by_table = _tokens_by_table(tokens.start, seating)

        def kernel(first: int, topics: Topics) -> int:
            own = first, tokens.n_sampled, (tokens.start, tokens.word), by_table, seating
            return int(franchise_kernels.serve_tables(*own, counts.words, topics, now, key))

        n, _ = run_pass(tokens, counts, kernel, sweep.max_topics)
        self.seating, K = _renumber_dishes(tokens, seating, n.size)
        self.take(self.seating, K)
        return count_topics(tokens, self.z, self.documents, K)

    def seats(self, ratios: StirlingRatios, key: np.uint64) -> Seating:
        """Return the seating that the state is."""
        return self.seating

    def reseat(self, ratios: StirlingRatios, key: np.uint64, n_topics: int) -> None:
        """Draw a seating given z and m."""
        self.take(super().seats(wide_enough(ratios, self.most_tables()), key), n_topics)

    def take(self, seating: Seating, n_topics: int) -> None:
        """Take up a seating."""
        super().take(seating, n_topics)
        self.seating = seating

    def arrays(self) -> dict[str, NDArray]:
        """Return what the next sweeps depend on."""
        start, seating = self.tokens.start, self.seating
        tables = {f"table_{x}": packed(start, seating.n_tables, getattr(seating, x)) for x in ("topic", "n")}
        return {"table": seating.table, "n_tables": seating.n_tables, **tables}

    def restore(self, arrays: Mapping[str, NDArray], n_topics: int) -> None:
        """Take up what `arrays` returned."""
        tokens, table, n_tables = self.tokens, arrays["table"], arrays["n_tables"]
        require(_is_ints(n_tables, tokens.n_documents, 0, np.iinfo(np.int32).max), "its numbers of tables do not fit")
        require(bool((n_tables <= tokens.lengths).all()), "a document has more tables than tokens")
        require(_is_ints(table, tokens.word.size, 0, np.iinfo(np.int32).max), "its tables of tokens do not fit")
        document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
        require(bool((table < n_tables[document]).all()), "a token sits at a table that is not there")
        topic, n, total = arrays["table_topic"], arrays["table_n"], int(n_tables.sum())
        of_tables = _is_ints(topic, total, 0, n_topics) and _is_ints(n, total, 1, np.iinfo(np.int32).max)
        require(of_tables, "its tables do not fit")
        row = np.concatenate(([0], np.cumsum(n_tables)))[document] + table
        require(np.array_equal(np.bincount(row, minlength=total), n), "its tables are not those of its tokens")
        require(np.unique(topic).size == n_topics, "a topic has no table")
        rows = (unpacked(tokens.start, n_tables, array) for array in (topic, n))
        self.take(Seating(table.copy(), n_tables.copy(), *rows), n_topics)


def seat_tokens(
    tokens: Tokens, seating: Seating, counts: TopicCounts, sweep: Sweep, *, seated: bool
) -> tuple[int, Seating]:
    """Resample the table of every token; return K and the seating, in the same arrays.

    With `seated` false the tokens are seated one after another in empty restaurants.
    """
    now, key = sweep.concentrations, sweep.key("tokens")

    def kernel(first: int, topics: Topics) -> int:
        own = first, tokens.n_sampled, (tokens.start, tokens.word), seating
        return int(franchise_kernels.seat_tokens(*own, counts.words, topics, now, seated, key))

    n, _ = run_pass(tokens, counts, kernel, sweep.max_topics)
    seating, n_topics = _renumber_dishes(tokens, seating, n.size)
    return n_topics, seating


def _renumber_dishes(tokens: Tokens, seating: Seating, n_numbers: int) -> tuple[Seating, int]:
    """Give dishes the numbers 0 .. K - 1 after a pass; return the seating and K."""
    dishes = packed(tokens.start, seating.n_tables, seating.topic)
    label, alive = dense_labels(dishes, n_numbers)
    return seating._replace(topic=unpacked(tokens.start, seating.n_tables, label[dishes])), alive.size


def _tokens_by_table(start: Int, seating: Seating) -> tuple[Int, Int]:
    """Return the tokens in the order of their tables, (N,), and where each table begins, (M + 1,)."""
    order = np.empty(int(start[-1] - start[0]), np.int64)
    table_start = np.empty(int(seating.n_tables.sum()) + 1, np.int64)
    franchise_kernels.tokens_by_table(start, seating, order, table_start)
    return order, table_start


def table_list(tokens: Tokens, seating: Seating) -> TableList:
    """Return all tables in one list."""
    order, table_start = _tokens_by_table(tokens.start, seating)
    return TableList(table_start, tokens.word[order], packed(tokens.start, seating.n_tables, seating.topic))


def with_dishes(tokens: Tokens, seating: Seating, dishes: Int32) -> Seating:
    """Return the seating with other dishes, in the order of `table_list`."""
    return seating._replace(topic=unpacked(tokens.start, seating.n_tables, dishes))


# --- partially collapsed ---


class PartiallyCollapsed(Representation):
    """State (z, beta, m) between sweeps; the topics are drawn at the beginning of each.  docs/math (G14), (G5), (G16)

    Given topics and corpus weights the documents are independent: the result does not depend on which are swept at the
    same time.
    """

    def __init__(self, tokens: Tokens, labels: ChainLabels | None = None) -> None:
        super().__init__(tokens)
        self._labels = labels
        self.beta: Float = np.ones(1)  # (K + 1,)  corpus weights, last that of all topics without tokens

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Draw the topics, then the topic of every token, then the tables."""
        K = counts.n_topics
        labels = self.label_rows(sweep.concentrations.alpha, self.beta)
        sampled = draw_topics(counts.words, self.beta, sweep, labels)
        keys = sweep.key("tokens"), sweep.key("tables")
        start, word, z, documents = self.tokens.start, self.tokens.word, self.z, self.documents

        def part(rows: tuple[int, int]) -> None:
            parallel_kernels.sweep(*rows, start, word, z, documents, sampled, labels, keys)

        sweep.engine.map(part, shards(np.diff(self.tokens.sampled), PART_TOKENS))
        return self._numbered(K, sweep.engine)

    def _numbered(self, K: int, engine: Engine) -> TopicCounts:
        """Give the topics that have tokens, or are given, the numbers 0 .. K' - 1, and count."""
        z, topic = self.z, self.documents.topic
        fresh = np.unique(z[z >= K])
        for labels in (z, topic):
            above = labels >= K
            labels[above] = K + np.searchsorted(fresh, labels[above])
        n_numbers = K + fresh.size
        alive = alive_in(np.bincount(z, minlength=n_numbers), self.tokens.n_given)
        if alive.size < n_numbers:
            self._relabel(labels_of(alive, n_numbers))
        return count_topics(self.tokens, z, self.documents, alive.size, engine)

    def finish(self, counts: TopicCounts, concentrations: Concentrations, rng: np.random.Generator) -> None:
        """Draw the corpus weights for the next sweep."""
        self.beta = draw_weights(counts, concentrations.gamma, rng, self.label_tables())

    def label_rows(self, alpha: float, beta: Float) -> LabelRows:
        """Return what kernels are told of the labels of documents, under corpus weights beta (K + 1,)."""
        return NO_LABELS if self._labels is None else self._labels.rows(alpha, beta)

    def label_tables(self) -> LabelTables | None:
        """Return what the tables say of the labels of documents, if these have some."""
        return None if self._labels is None else self._labels.tables(self.tokens, self.documents)

    def arrays(self) -> dict[str, NDArray]:
        """Return what the next sweeps depend on."""
        return {**super().arrays(), "beta": self.beta}

    def restore(self, arrays: Mapping[str, NDArray], n_topics: int) -> None:
        """Take up what `arrays` returned."""
        super().restore(arrays, n_topics)
        if self._labels is not None:
            document = np.repeat(np.arange(self.tokens.n_sampled), np.diff(self.tokens.sampled))
            self._labels.labels.check_allowed(self.z[: document.size], document)
        beta = arrays["beta"]
        require(beta.shape == (n_topics + 1,) and beta.dtype == np.float64, "its corpus weights do not fit")
        require(bool((beta > 0).all() and np.isclose(beta.sum(), 1.0)), "its corpus weights do not sum to one")
        self.beta = beta.copy()


def draw_weights(
    counts: TopicCounts, gamma: float, rng: np.random.Generator, labels: LabelTables | None = None
) -> Float:
    """Return (beta, beta_u) ~ Dirichlet(M_1 .. M_K, gamma), (K + 1,); under labels (G16).            docs/math (G5)"""
    if labels is not None:
        return draw_labelled(counts, labels, gamma, rng)
    mass = rng.standard_gamma(np.append(counts.m[: counts.n_topics], gamma))
    mass = np.maximum(mass, SMALLEST)
    return mass / mass.sum()


def draw_topics(words: WordTopics, beta: Float, sweep: Sweep, labels: LabelRows = NO_LABELS) -> SampledTopics:
    """Draw phi_k ~ Dirichlet(n_k + eta) of the topics with tokens; of the others only what breaks their sticks.

    beta (K + 1,): corpus weights, last that of all topics without tokens.
    """
    W, K, now = words.size.size, beta.size - 1, sweep.concentrations
    g, mass, key = np.empty((W, K), np.float32), np.empty(W), sweep.key("topics")
    blocks = [(first, min(first + WORDS_AT_ONCE, W)) for first in range(0, W, WORDS_AT_ONCE)]

    def draw(block: tuple[int, int]) -> Float:
        total = np.zeros(K)
        parallel_kernels.draw_words(*block, words, now.eta, key, g, total)
        return total

    scale = 1.0 / np.maximum(np.sum(sweep.engine.map(draw, blocks), axis=0), SMALLEST)
    prior = now.alpha * beta[:-1]

    def add_up(coef: Float, mass: Float) -> Float:
        sweep.engine.map(lambda block: parallel_kernels.add_up(*block, g, coef, mass), blocks)
        return mass

    mass = unlabelled = add_up(prior * scale, mass)
    if labels.n_labels:
        unlabelled = add_up(np.where(np.arange(K) < labels.n_labels, 0.0, prior * scale), np.empty(W))
    n_parts = int(np.ceil(now.gamma))
    rest = UnusedTopics(
        now.alpha * beta[-1] * _edges(n_parts, now.gamma / n_parts, sweep.key("rest")),
        now.gamma / n_parts, factor_of(now.eta), W, sweep.key("sticks"), sweep.key("words of the rest"),
    )  # fmt: skip
    return SampledTopics(g, scale, prior, mass, unlabelled, rest)


def _edges(n_parts: int, concentration: float, key: np.uint64) -> NDArray[np.float64]:
    """Draw shares ~ Dirichlet(concentration, ..), and return where each ends, 0 first."""
    if n_parts == 1:
        return np.array([0.0, 1.0])
    mass = np.random.Generator(np.random.Philox(key=int(key))).standard_gamma(concentration, n_parts)
    return np.concatenate(([0.0], np.cumsum(mass))) / mass.sum()
