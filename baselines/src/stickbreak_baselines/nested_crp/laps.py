"""The laps of the nested Chinese restaurant process as the run of a fit sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from stickbreak.fitting.checkpoint import require
from stickbreak.fitting.loop import Callback, Lap, Packed, Stop
from stickbreak.numerics.ranges import is_concentration
from stickbreak.sparse_gibbs.priors import FIRST_LAP
from stickbreak_baselines.nested_crp.gibbs import Chain
from stickbreak_baselines.nested_crp.state import Priors


class NestedLaps:
    """Laps over a collection.

    Parameters
    ----------
    chain : Chain
    priors : Priors
        To begin with.
    learn : tuple of {"gamma"}
        What is learned.
    """

    window = 0  # a chain does not converge to a point

    def __init__(self, chain: Chain, priors: Priors, learn: tuple[str, ...]) -> None:
        self.chain, self.priors, self._learn = chain, priors, learn

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return ("gamma",)

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start: as long as a lap."""
        self.chain.begin(self.priors)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        while True:
            done += 1
            before = self.chain.n_nodes
            objective = self.chain.lap(done, self.priors)
            self.priors = self.chain.learned(self.priors, self._learn, done)
            now = self.chain.n_nodes
            moved = now != before or (bool(self._learn) and done <= FIRST_LAP)
            yield Lap(objective, now, moved, {"gamma": self.priors.gamma})

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        arrays, values = self.chain.snapshot()
        return arrays, {**values, "gamma": self.priors.gamma}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        require(is_concentration(values["gamma"]), "its gamma is out of its range")
        self.priors = replace(self.priors, gamma=values["gamma"])
        self.chain.restore(arrays, values)
