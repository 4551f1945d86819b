"""The laps of LDA as the run of a fit sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from stickbreak.fitting.loop import Callback, Lap, Packed, Stop
from stickbreak.sparse_gibbs.priors import FIRST_LAP, Priors
from stickbreak_baselines.lda.variational import Variational


class LDALaps:
    """Laps over a collection.

    Parameters
    ----------
    inference : Variational
    priors : Priors
        To begin with.
    learn : tuple of {"alpha", "eta"}
        What is learned.
    seed : int
        Of the fit.
    """

    def __init__(self, inference: Variational, priors: Priors, learn: tuple[str, ...], seed: int) -> None:
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
        self.priors = self.priors.restored(arrays, values)
        self.inference.restore(arrays, values)
