"""Table indicators (Chen, Du and Buntine 2011): the tables of a topic in a document are a number, and nobody sits."""

from __future__ import annotations

import numpy as np

from stickbreak.corpus.tokens import Tokens
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.stirling import StirlingRatios, wide_enough
from stickbreak.numerics.table_factors import factors_of
from stickbreak.sampling.kernels import indicator as kernels
from stickbreak.sampling.kernels.topic_draw import RESUME, Topics
from stickbreak.sampling.representation import Representation, Sweep
from stickbreak.sampling.state import TopicCounts, WordTopics
from stickbreak.sampling.sweeping import run_pass


class TableIndicators(Representation):
    """State (z, m); math.md (G6).

    Parameters
    ----------
    tokens : Tokens
    root : bool
        Whether topics have a root indicator (Chen et al. as printed by Burkhardt and Kramer), or it is summed out,
        which mixes better.
    """

    def __init__(self, tokens: Tokens, root: bool = False) -> None:
        super().__init__(tokens)
        self._root = root
        self._factors: Float = np.zeros((0, 0, 2))

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample the topic and the indicator of every token."""
        tokens, now, key = self.tokens, sweep.concentrations, sweep.key("tokens")
        known = self._known(sweep.ratios)

        def part(first: int, last: int, words: WordTopics, topics: Topics, reuse: bool) -> int:
            factors = known
            if topics.totals[RESUME]:  # it stopped in a document with more tables than they know
                factors = factors_of(wide_enough(sweep.ratios, self._most_tables(first)))
            state = tokens.start, tokens.word, self.z, self.documents
            numbers = now.alpha, now.gamma, now.eta
            return kernels.sweep(first, last, *state, words, topics, factors, *numbers, self._root, reuse, key)

        high, parts = run_pass(tokens, counts, np.zeros(1), part, sweep.n_shards, sweep.executor)
        return self._counted(counts, high, parts)[0]

    def _known(self, ratios: StirlingRatios) -> Float:
        """Return the factors that belong to these ratios, tabulated when the ratios are new."""
        if self._factors.shape[:2] != (ratios.shape[0], ratios.shape[1] - 1):
            self._factors = factors_of(ratios)
        return self._factors

    def _most_tables(self, d: int) -> int:
        """Return the most tables that a topic has in a document."""
        begin = self.tokens.start[d]
        return int(self.documents.m[begin : begin + self.documents.size[d]].max())
