"""The laps of a fit as its run sees them: each document once, in new minibatches each time, or all at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.loop import Callback, Lap, Packed, Stop
from stickbreak.numerics.streams import stream
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.nested_hdp.state import Subtrees, TreeState
from stickbreak_baselines.nested_hdp.steps import COLUMNS, Steps

MakeStart = Callable[[], TreeState]


class NestedHDPLaps:
    """Laps over a collection.

    Parameters
    ----------
    steps : Steps
    documents : Corpus
    batch_size : int or None
        None: a lap is one step on all documents, which keep their subtrees.
    start : callable
        Makes the state at the start.
    """

    def __init__(self, steps: Steps, documents: Corpus, batch_size: int | None, start: MakeStart) -> None:
        self.steps, self._documents, self._batch_size, self._start = steps, documents, batch_size, start
        self.window = 1 if batch_size is None else 0
        n_kept = documents.n_documents if batch_size is None else 0
        self._subtrees = Subtrees.none(n_kept, steps.rules.most_nodes)
        self.state: TreeState

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return COLUMNS

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start: as long as some laps at most."""
        self.state = self._start()

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        while True:
            done += 1
            if self._batch_size is None:
                yield self.steps.whole(self.state, self._documents, self._subtrees)
            else:
                minibatches = self._minibatches(done, self._batch_size)
                yield self.steps.lap(self.state, minibatches, self._documents.n_documents)

    def _minibatches(self, lap: int, batch_size: int) -> Iterator[Minibatch]:
        """Yield the minibatches of a lap, all of nearly the same size; those without words are left out."""
        n = self._documents.n_documents
        order = stream(self.steps.rules.seed, f"order of the documents in lap {lap}").permutation(n)
        for rows in np.array_split(order, -(-n // batch_size)):  # a small remainder would take a full step
            minibatch = Minibatch.from_corpus(self._documents[np.sort(rows)])
            if minibatch.words.size:
                yield minibatch

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        arrays, values = self.state.packed()
        return {**arrays, **self._subtrees.packed()}, values

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        rules, n_kept = self.steps.rules, self._subtrees.n_slots.size
        self.state = TreeState.unpacked(arrays, values, self._documents.n_words, rules.tree)
        self._subtrees = Subtrees.unpacked(arrays, n_kept, rules.most_nodes, rules.tree)
