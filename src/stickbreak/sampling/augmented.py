"""The augmented representation (Teh, Jordan, Beal and Blei 2006, Sec. 5.2): tables, and explicit corpus weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.tokens import Tokens
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.sampling.counts import count_topics
from stickbreak.sampling.direct import checked_weights, draw_weights
from stickbreak.sampling.franchise import DishRule, Franchise, renumber_dishes, tables_of
from stickbreak.sampling.kernels import augmented as kernels
from stickbreak.sampling.representation import Sweep
from stickbreak.sampling.shard_jobs import PassState, pass_over
from stickbreak.sampling.state import Concentrations, Seating, TopicCounts


@dataclass(frozen=True, slots=True)
class TableRule:
    """Tables of tokens given the corpus weights."""

    now: Concentrations
    key: np.uint64

    def sample(self, start: Int, word: Int32, state: PassState, first: int, last: int, *given: Any) -> int:
        """Sample some documents; `given` are the topics of words, the topics, and whether numbers are used again."""
        (words, topics, reuse), now = given, self.now
        own, numbers = (start, word, Seating(state.token, state.size, *state.rows)), (now.alpha, now.gamma, now.eta)
        return int(kernels.seat_tokens(first, last, *own, words, topics, *numbers, reuse, self.key))


class WeightedDishRule(DishRule):
    """Dishes of tables given the corpus weights."""

    __slots__ = ()
    serve_tables: ClassVar[Callable[..., Any]] = staticmethod(kernels.serve_tables)


class Augmented(Franchise):
    """State (t, k, beta): tables and dishes as in the franchise, given the corpus weights.   math.md (G17), (G5)

    Given the weights the documents are independent but for the words of topics.
    """

    def __init__(self, tokens: Tokens) -> None:
        super().__init__(tokens)
        self.beta: Float = np.ones(1)  # (K + 1,)  corpus weights, last that of all topics without tables

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample the table of every token, the weights, then the dish of every table."""
        now = sweep.concentrations
        counts = self._pass(counts, TableRule(now, sweep.key("tokens")), sweep)
        rng = np.random.Generator(np.random.Philox(key=int(sweep.key("weights of tables"))))
        self.finish(counts, now, rng)
        return self._pass(counts, WeightedDishRule(now, sweep.key("dishes")), sweep)

    def _pass(self, counts: TopicCounts, rule: TableRule | DishRule, sweep: Sweep) -> TopicCounts:
        """Let a rule sample all documents; return the counts of the topics, which have new numbers."""
        high, parts = pass_over(self.tokens, counts, self.beta, rule, tables_of(self.seating), sweep)
        seating, K = renumber_dishes(self.tokens, self.seating, parts, high)
        self.take(seating, K)
        return count_topics(self.tokens, self.z, self.documents, K)

    def finish(self, counts: TopicCounts, concentrations: Concentrations, rng: np.random.Generator) -> None:
        """Draw the corpus weights."""
        self.beta = draw_weights(counts, concentrations.gamma, rng)

    def arrays(self) -> dict[str, NDArray]:
        """Return what the next sweeps depend on."""
        return {**super().arrays(), "beta": self.beta}

    def restore(self, arrays: Mapping[str, NDArray], n_topics: int) -> None:
        """Take up what `arrays` returned."""
        super().restore(arrays, n_topics)
        self.beta = checked_weights(arrays["beta"], n_topics)
