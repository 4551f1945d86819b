"""The Chinese restaurant franchise (Teh et al. 2006, Sec. 5.1): tokens sit at tables, tables serve topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.checkpoint import require
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.numerics.stirling import StirlingRatios, wide_enough
from stickbreak.sampling.counts import count_topics, dense_labels, packed, unpacked
from stickbreak.sampling.kernels import franchise as kernels
from stickbreak.sampling.representation import Representation, Sweep, is_ints
from stickbreak.sampling.shard_jobs import PassState, pass_over
from stickbreak.sampling.state import Concentrations, Seating, TableList, TopicCounts
from stickbreak.sampling.sweeping import Shard


@dataclass(frozen=True, slots=True)
class TableRule:
    """Tables of tokens."""

    now: Concentrations
    key: np.uint64
    seated: bool

    def sample(self, start: Int, word: Int32, state: PassState, first: int, last: int, *given: Any) -> int:
        """Sample some documents; `given` are the topics of words, the topics, and whether numbers are used again."""
        (words, topics, reuse), now = given, self.now
        numbers = now.alpha, now.gamma, now.eta, self.seated, reuse, self.key
        own = start, word, Seating(state.token, state.size, *state.rows)
        return int(kernels.seat_tokens(first, last, *own, words, topics, *numbers))


@dataclass(frozen=True, slots=True)
class DishRule:
    """Dishes of tables."""

    now: Concentrations
    key: np.uint64
    serve_tables: ClassVar[Callable[..., Any]] = staticmethod(kernels.serve_tables)

    def sample(self, start: Int, word: Int32, state: PassState, first: int, last: int, *given: Any) -> int:
        """Sample some documents; `given` are the topics of words, the topics, and whether numbers are used again."""
        (words, topics, reuse), now = given, self.now
        own = start, word, *seated_in_order(start, state, first, last)
        return int(self.serve_tables(first, last, *own, words, topics, now.gamma, now.eta, reuse, self.key))


class Franchise(Representation):
    """State (t, k): the table of each token, the dish of each table; math.md (G2), (G3)."""

    def __init__(self, tokens: Tokens) -> None:
        super().__init__(tokens)
        self.seating = Seating.empty(tokens)

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample the table of every token, then the dish of every table."""
        tokens = self.tokens
        K, self.seating = seat_tokens(tokens, self.seating, counts, sweep, seated=True)
        self.take(self.seating, K)
        counts = count_topics(tokens, self.z, self.documents, K)
        rule = DishRule(sweep.concentrations, sweep.key("dishes"))
        high, parts = pass_over(tokens, counts, np.zeros(1), rule, tables_of(self.seating), sweep)
        self.seating, K = renumber_dishes(tokens, self.seating, parts, high)
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
        require(is_ints(n_tables, tokens.n_documents, 0, np.iinfo(np.int32).max), "its numbers of tables do not fit")
        require(bool((n_tables <= tokens.lengths).all()), "a document has more tables than tokens")
        require(is_ints(table, tokens.word.size, 0, np.iinfo(np.int32).max), "its tables of tokens do not fit")
        document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
        require(bool((table < n_tables[document]).all()), "a token sits at a table that is not there")
        topic, n, total = arrays["table_topic"], arrays["table_n"], int(n_tables.sum())
        require(
            is_ints(topic, total, 0, n_topics) and is_ints(n, total, 1, np.iinfo(np.int32).max), "its tables do not fit"
        )
        row = np.concatenate(([0], np.cumsum(n_tables)))[document] + table
        require(np.array_equal(np.bincount(row, minlength=total), n), "its tables are not those of its tokens")
        require(np.unique(topic).size == n_topics, "a topic has no table")
        rows = (unpacked(tokens.start, n_tables, array) for array in (topic, n))
        self.take(Seating(table.copy(), n_tables.copy(), *rows), n_topics)


def seat_tokens(
    tokens: Tokens,
    seating: Seating,
    counts: TopicCounts,
    sweep: Sweep,
    *,
    seated: bool,
) -> tuple[int, Seating]:
    """Resample the table of every token, or with `seated` false seat them one after another in empty restaurants.

    Returns
    -------
    n_topics : int
    seating : Seating
        The same arrays, changed.
    """
    rule = TableRule(sweep.concentrations, sweep.key("tokens"), seated)
    high, parts = pass_over(tokens, counts, np.zeros(1), rule, tables_of(seating), sweep)
    seating, n_topics = renumber_dishes(tokens, seating, parts, high)
    return n_topics, seating


def renumber_dishes(tokens: Tokens, seating: Seating, parts: list[Shard], n_numbers: int) -> tuple[Seating, int]:
    """Give dishes the numbers 0 .. K - 1 after a pass; return the seating and K."""
    dishes = packed(tokens.start, seating.n_tables, seating.topic)
    if len(parts) > 1:
        first = np.concatenate(([0], np.cumsum(seating.n_tables)))
        given = dishes[first[tokens.n_sampled] :]
        dishes = np.concatenate([*(part.label[dishes[first[part.first] : first[part.last]]] for part in parts), given])
    label, alive = dense_labels(dishes, n_numbers)
    return seating._replace(topic=unpacked(tokens.start, seating.n_tables, label[dishes])), alive.size


def tables_of(seating: Seating) -> PassState:
    """Return what passes over tables change."""
    return PassState(seating.table, seating.n_tables, (seating.topic, seating.n))


def seated_in_order(start: Int, state: PassState, first: int, last: int) -> tuple[Seating, Int, Int]:
    """Return the seating of a pass, its tokens by table for some documents, and where each table begins."""
    seating = Seating(state.token, state.size, *state.rows)
    these = seating._replace(n_tables=state.size[first:last])
    order, table_start = tokens_by_table(start[first : last + 1], these)
    before = np.zeros(int(state.size[:first].sum()), np.int64)  # tables that have no place in the order
    return seating, order, np.concatenate((before, table_start))


def tokens_by_table(start: Int, seating: Seating) -> tuple[Int, Int]:
    """Return the tokens in the order of their tables, (N,), and where each table begins, (M + 1,)."""
    order = np.empty(int(start[-1] - start[0]), np.int64)
    table_start = np.empty(int(seating.n_tables.sum()) + 1, np.int64)
    kernels.tokens_by_table(start, seating, order, table_start)
    return order, table_start


def table_list(tokens: Tokens, seating: Seating) -> TableList:
    """Return all tables in one list."""
    order, table_start = tokens_by_table(tokens.start, seating)
    return TableList(table_start, tokens.word[order], packed(tokens.start, seating.n_tables, seating.topic))


def with_dishes(tokens: Tokens, seating: Seating, dishes: Int32) -> Seating:
    """Return the seating with other dishes, in the order of `table_list`."""
    return seating._replace(topic=unpacked(tokens.start, seating.n_tables, dishes))
