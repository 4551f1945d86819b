"""Table indicators (Chen, Du and Buntine 2011): the tables of a topic in a document are a number, and nobody sits."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stickbreak.inference.executor import Executor
from stickbreak.sampling import _indicator_kernels as kernels
from stickbreak.sampling._topic_draw import RESUME, Topics
from stickbreak.sampling.keys import key_of
from stickbreak.sampling.representation import Representation
from stickbreak.sampling.state import Concentrations, Tokens, TopicCounts, WordTopics
from stickbreak.sampling.sweeping import run_pass
from stickbreak.stirling import StirlingRatios, wide_enough


class TableIndicators(Representation):
    """State (z, m); SPEC 2.5, math.md (G6).

    Parameters
    ----------
    tokens : Tokens
    root : bool
        Whether topics have a root indicator (Chen et al. as printed by Burkhardt and Kramer), or it is summed out,
        which mixes better.
    """

    name: ClassVar[str] = "indicator"

    def __init__(self, tokens: Tokens, root: bool = False) -> None:
        super().__init__(tokens)
        self._root = root

    def sweep(
        self,
        counts: TopicCounts,
        concentrations: Concentrations,
        ratios: StirlingRatios,
        seed: tuple[int, int],
        n_shards: int,
        executor: Executor,
    ) -> int:
        """Resample the topic and the indicator of every token."""
        tokens, now, key = self.tokens, concentrations, key_of(*seed, "tokens")

        def part(first: int, last: int, words: WordTopics, topics: Topics, reuse: bool) -> int:
            known = ratios
            if topics.totals[RESUME]:  # it stopped in a document with more tables than they know
                known = wide_enough(ratios, self._most_tables(first))
            state = tokens.start, tokens.word, self.z, self.documents
            numbers = now.alpha, now.gamma, now.eta
            return kernels.sweep(first, last, *state, words, topics, known, *numbers, self._root, reuse, key)

        high, parts = run_pass(tokens, counts, np.zeros(1), part, n_shards, executor)
        return self._renumber(parts, high).size

    def _most_tables(self, d: int) -> int:
        """Return the most tables that a topic has in a document."""
        begin = self.tokens.start[d]
        return int(self.documents.m[begin : begin + self.documents.size[d]].max())
