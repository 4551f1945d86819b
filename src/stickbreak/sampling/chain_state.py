"""What a chain asks of its documents and the topics of their tokens, wherever these are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stickbreak.initialization import Start
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.stirling import StirlingRatios
from stickbreak.sampling.joint import TablePairs
from stickbreak.sampling.labelled import LabelTables
from stickbreak.sampling.representation import Sweep
from stickbreak.sampling.split_merge import Trials
from stickbreak.sampling.state import Concentrations, TopicCounts


class ChainState(Protocol):
    """Topics and tables of all documents: in memory (`in_memory.py`), or in files (`in_files.py`).

    Between calls the topics are numbered 0 .. K - 1. Every change returns the counts of the new state.
    """

    n_words: int
    n_tokens: int
    lengths: Int  # (D,)  tokens of each document

    def begin(
        self, init: str | Start, n_topics: int, now: Concentrations, ratios: StirlingRatios, seed: int
    ) -> TopicCounts:
        """Take a start."""
        ...

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample all from its counts, which are spent."""
        ...

    def finish(self, counts: TopicCounts, now: Concentrations, rng: np.random.Generator) -> None:
        """Draw what depends on the concentrations and on the tables of the whole corpus, at the end of a sweep."""
        ...

    def split_merge(self, counts: TopicCounts, sweep: Sweep, trials: int, scans: int) -> tuple[TopicCounts, Trials]:
        """Try to split and merge topics, by their tables."""
        ...

    def subtopics(
        self, counts: TopicCounts, beta: Float, sweep: Sweep, trials: int, passes: int
    ) -> tuple[TopicCounts, Trials]:
        """Try to split topics into sub-topics and to merge topics, by their tokens under corpus weights beta."""
        ...

    def pairs(self) -> TablePairs:
        """Return how often a topic of a document has n tokens at m tables."""
        ...

    def label_tables(self) -> LabelTables | None:
        """Return what the tables say of the labels of documents, if these have some."""
        ...

    def topics(self) -> Int32:
        """Return the topic of each token, (N,), which no later sweep changes."""
        ...

    def arrays(self) -> dict[str, NDArray]:
        """Return what the next sweeps depend on."""
        ...

    def restore(self, arrays: Mapping[str, NDArray], n_topics: int) -> TopicCounts:
        """Take up what `arrays` returned; a ValueError or KeyError for what cannot be of these documents."""
        ...
