"""The laps of a fit as its run sees them: each document once, in new minibatches each time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.fitting.loop import Callback, Lap, Packed, Stop
from stickbreak.fitting.step_sizes import step_size
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.streams import stream
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.state import OnlineState

MakeStart = Callable[[Callback, Stop], OnlineState]


@dataclass(frozen=True, slots=True)
class Rules:
    """What the steps of both methods have in common."""

    alpha: float
    gamma: float
    eta: Eta
    decay: float
    offset: float
    seed: int
    pseudo: sparse.csr_array | None = None  # (W, n_kept)  of the first topics, which keep their places

    @property
    def n_kept(self) -> int:
        """Number of topics with pseudo-counts."""
        return 0 if self.pseudo is None else int(self.pseudo.shape[1])

    def size(self, step: int) -> float:
        """Return the size of a step; the number of the first is 1."""
        return step_size(step, self.decay, self.offset)


class Steps(Protocol):
    """A method: what it does with minibatches."""

    rules: Rules

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace beyond those of every trace."""

    def lap(self, state: OnlineState, minibatches: Iterator[Minibatch], n_documents: int) -> Lap:
        """Take a step on each minibatch of a collection of `n_documents`; `state` changes in place."""

    def once(self, state: OnlineState, minibatch: Minibatch, n_documents: int) -> Lap:
        """Take a step on a minibatch of a stream of `n_documents`; `state` changes in place."""


class OnlineLaps:
    """Laps over a collection."""

    window = 0

    def __init__(self, steps: Steps, documents: Corpus, batch_size: int, start: MakeStart) -> None:
        self.steps, self._documents, self._batch_size, self._start = steps, documents, batch_size, start
        self.state: OnlineState

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return self.steps.columns

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start."""
        self.state = self._start(report, stop)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        while True:
            done += 1
            yield self.steps.lap(self.state, self._minibatches(done), self._documents.n_documents)

    def _minibatches(self, lap: int) -> Iterator[Minibatch]:
        """Yield the minibatches of a lap, all of nearly the same size; those without words are left out."""
        n = self._documents.n_documents
        order = stream(self.steps.rules.seed, f"order of the documents in lap {lap}").permutation(n)
        for rows in np.array_split(order, -(-n // self._batch_size)):  # a small remainder would take a full step
            minibatch = Minibatch.from_corpus(self._documents[np.sort(rows)])
            if minibatch.words.size:
                yield minibatch

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        return self.state.packed()

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        self.state = OnlineState.unpacked(arrays, values, self._documents.n_words)
