"""The documents of a chain in the memory of this process, in one of the representations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.checkpoint import require
from stickbreak.initialization import Start
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.numerics.stirling import StirlingRatios
from stickbreak.sampling.counts import count_topics, dense_labels
from stickbreak.sampling.franchise import table_list, with_dishes
from stickbreak.sampling.joint import TablePairs
from stickbreak.sampling.labelled import Labelled, LabelTables
from stickbreak.sampling.representation import Representation, Sweep
from stickbreak.sampling.split_merge import Trials, split_merge
from stickbreak.sampling.starts import start_seating
from stickbreak.sampling.state import NO_LIMIT, Concentrations, TopicCounts
from stickbreak.sampling.subtopics import InOrder, subtopic_trials, with_room


class InMemory:
    """`ChainState` of any representation.

    Parameters
    ----------
    tokens : Tokens
    representation : Representation
        Of these tokens.
    labels : Labelled, optional
        Of the documents, where it is direct assignment.
    max_topics : int, optional
        That have tokens at a time.
    """

    def __init__(
        self,
        tokens: Tokens,
        representation: Representation,
        labels: Labelled | None = None,
        max_topics: int = NO_LIMIT,
    ) -> None:
        self._tokens, self._state, self._labels, self._max_topics = tokens, representation, labels, max_topics
        self.n_words, self.n_tokens, self.lengths = tokens.n_words, tokens.n_tokens, np.diff(tokens.sampled)

    def begin(
        self, init: str | Start, n_topics: int, now: Concentrations, ratios: StirlingRatios, seed: int
    ) -> TopicCounts:
        """Take a start."""
        n_topics, seating = start_seating(
            init, n_topics, self._tokens, now, ratios, seed, self._labels, self._max_topics
        )
        self._state.take(seating, n_topics)
        return self._count(n_topics)

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample all."""
        return self._state.sweep(counts, sweep)

    def finish(self, counts: TopicCounts, now: Concentrations, rng: np.random.Generator) -> None:
        """Draw what depends on the tables of the whole corpus."""
        self._state.finish(counts, now, rng)

    def split_merge(self, counts: TopicCounts, sweep: Sweep, trials: int, scans: int) -> tuple[TopicCounts, Trials]:
        """Try to split and merge topics, by their tables."""
        tokens, now = self._tokens, sweep.concentrations
        seating = self._state.seats(sweep.ratios, sweep.key("seats"))
        tables = table_list(tokens, seating)
        key = int(sweep.key("split-merge")) >> 1  # 63 bits: kernels take a signed number
        n_topics, made = split_merge(
            tables,
            counts.n_topics,
            n_kept=tokens.n_given,
            max_topics=self._max_topics,
            gamma=now.gamma,
            eta=now.eta,
            n_words=tokens.n_words,
            trials=trials,
            scans=scans,
            key=key,
        )
        if made.splits_accepted or made.merges_accepted:
            self._state.take(with_dishes(tokens, seating, tables.topic), n_topics)
            counts = self._count(n_topics)
        return counts, made

    def subtopics(
        self, counts: TopicCounts, beta: Float, sweep: Sweep, trials: int, passes: int
    ) -> tuple[TopicCounts, Trials]:
        """Try to split topics into sub-topics and to merge topics, by their tokens."""
        tokens, now, z, n_k = self._tokens, sweep.concentrations, self._state.z.copy(), with_room(counts, trials)
        labels, n_labelled = self._state.label_rows(now.alpha, beta), None
        if self._labels is not None:
            n_labelled = np.diff(self._labels.labels.start) > 0
        held, key = InOrder(tokens, z, n_k, counts.n_topics, n_labelled), int(sweep.key("sub-topics")) >> 1
        n_topics, beta, made = subtopic_trials(
            held,
            z.size,
            counts,
            n_k,
            beta,
            now,
            trials=trials,
            passes=passes,
            key=key,
            n_kept=tokens.n_given,
            max_topics=self._max_topics,
            scale=labels.scale,
        )
        if made.splits_accepted or made.merges_accepted:
            labels = self._state.label_rows(now.alpha, beta)
            self._state.draw_tables(z, beta[:-1], now, labels, sweep.key("tables of sub-topics"))
            self._state.reseat(sweep.ratios, sweep.key("seats of sub-topics"), n_topics)
            counts = self._count(n_topics)
        return counts, made

    def pairs(self) -> TablePairs:
        """Return how often a topic of a document has n tokens at m tables."""
        return TablePairs.of_documents(self._tokens.sampled, self._state.documents)

    def label_tables(self) -> LabelTables | None:
        """Return what the tables say of the labels of documents, if these have some."""
        return self._state.label_tables()

    def topics(self) -> Int32:
        """Return the topic of each token."""
        return self._state.z[: self.n_tokens].copy()

    def arrays(self) -> dict[str, NDArray]:
        """Return what the next sweeps depend on."""
        return self._state.arrays()

    def restore(self, arrays: Mapping[str, NDArray], n_topics: int) -> TopicCounts:
        """Take up what `arrays` returned."""
        self._state.restore(arrays, n_topics)
        require(dense_labels(self._state.z, n_topics, self._tokens.n_given)[1].size == n_topics, "a topic has no token")
        return self._count(n_topics)

    def _count(self, n_topics: int) -> TopicCounts:
        return count_topics(self._tokens, self._state.z, self._state.documents, n_topics)
