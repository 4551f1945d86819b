"""The laps of LDA as the run of a fit sees them, whatever the inference."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from stickbreak.fitting.laps import Callback, Lap, Packed, Stop
from stickbreak.numerics.arrays import Float
from stickbreak.sparse_gibbs.dirichlet import FIRST_LAP
from stickbreak.sparse_gibbs.priors import Priors


class Inference(Protocol):
    """How topics are found."""

    window: int  # laps whose mean objective tells when to stop

    def begin(self) -> None:
        """Make the start."""

    def lap(self, number: int, priors: Priors) -> float:
        """Visit all documents; the first lap has the number 1. Return the objective, in nats per token."""

    def learned(self, priors: Priors, names: Collection[str], number: int) -> Priors:
        """Return the priors after a lap, those that are not named as they were."""

    def counts(self) -> Float:
        """Return the expected counts of words in topics, without pseudo-counts, (W, K)."""

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned; raise a ValueError if it cannot be of these documents."""


class LDALaps:
    """Laps over a collection.

    Parameters
    ----------
    inference : Inference
    priors : Priors
        To begin with.
    learn : tuple of {"alpha", "eta"}
        What is learned.
    seed : int
        Of the fit.
    """

    def __init__(self, inference: Inference, priors: Priors, learn: tuple[str, ...], seed: int) -> None:
        self.inference, self.priors, self._learn, self.seed = inference, priors, learn, seed
        self.window = inference.window

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return self.priors.row()

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start: a few seconds at most, which are neither reported nor stopped."""
        self.inference.begin()

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        while True:
            done += 1
            objective = self.inference.lap(done, self.priors)
            if self._learn:
                self.priors = self.inference.learned(self.priors, self._learn, done)
            early = bool(self._learn) and done <= FIRST_LAP
            yield Lap(objective, self.priors.a.size, early, self.priors.row())

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        arrays, values = self.inference.snapshot()
        return {**arrays, "a": self.priors.a}, {**values, **self.priors.row()}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        self.priors = self.priors.restored(arrays["a"], values)
        self.inference.restore(arrays, values)
