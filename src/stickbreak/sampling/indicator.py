"""Table indicators (Chen, Du and Buntine 2011): the tables of a topic in a document are a number, and nobody sits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stickbreak.corpus.tokens import Tokens
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.stirling import StirlingRatios, wide_enough
from stickbreak.numerics.table_factors import factors_of
from stickbreak.sampling.kernels import indicator as kernels
from stickbreak.sampling.kernels.topic_draw import RESUME
from stickbreak.sampling.representation import Representation, Sweep
from stickbreak.sampling.shard_jobs import PassState, pass_over, state_of
from stickbreak.sampling.state import Concentrations, DocumentTopics, TopicCounts


@dataclass(frozen=True, slots=True)
class HeadRule:
    """Topics of tokens and their indicators."""

    now: Concentrations
    key: np.uint64
    root: bool
    dense: bool
    ratios: StirlingRatios
    factors: Float  # of these ratios

    def sample(self, start: Int, word: Int32, state: PassState, first: int, last: int, *given: Any) -> int:
        """Sample some documents; `given` are the topics of words, the topics, and whether numbers are used again."""
        (words, topics, reuse), now, factors = given, self.now, self.factors
        documents = DocumentTopics(state.size, *state.rows)
        if topics.totals[RESUME]:  # it stopped in a document with more tables than they know
            most = documents.m[start[first] : start[first] + documents.size[first]].max()
            factors = factors_of(wide_enough(self.ratios, int(most)))
        numbers = now.alpha, now.gamma, now.eta, self.root, self.dense, reuse, self.key
        own = start, word, state.token, documents
        return int(kernels.sweep(first, last, *own, words, topics, factors, *numbers))


class TableIndicators(Representation):
    """State (z, m); math.md (G6).

    Parameters
    ----------
    tokens : Tokens
    root : bool
        Whether topics have a root indicator (Chen et al. as printed by Burkhardt and Kramer), or it is summed out,
        which mixes better.
    dense : bool
        Whether the weights of all topics are computed for each token, as in the original algorithm.
    """

    def __init__(self, tokens: Tokens, root: bool = False, dense: bool = False) -> None:
        super().__init__(tokens)
        self._root, self._dense = root, dense
        self._factors: Float = np.zeros((0, 0, 2))

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample the topic and the indicator of every token."""
        tokens, now, key = self.tokens, sweep.concentrations, sweep.key("tokens")
        rule = HeadRule(now, key, self._root, self._dense, sweep.ratios, self._known(sweep.ratios))
        high, parts = pass_over(tokens, counts, np.zeros(1), rule, state_of(self.z, self.documents), sweep)
        return self._counted(counts, high, parts)[0]

    def _known(self, ratios: StirlingRatios) -> Float:
        """Return the factors that belong to these ratios, tabulated when the ratios are new."""
        if self._factors.shape[:2] != (ratios.shape[0], ratios.shape[1] - 1):
            self._factors = factors_of(ratios)
        return self._factors
