"""The laps of Pachinko allocation as the run of a fit sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.checkpoint import is_table, require
from stickbreak.fitting.loop import Callback, Lap, Packed, Stop
from stickbreak.numerics.ranges import LARGEST, SMALLEST, is_concentration
from stickbreak_baselines.pachinko.gibbs import Gibbs
from stickbreak_baselines.pachinko.state import FIRST_LAP, Priors


class PachinkoLaps:
    """Laps over a collection.

    Parameters
    ----------
    chain : Gibbs
    priors : Priors
        To begin with.
    learn : tuple of {"alpha", "sub_alpha", "eta"}
        What is learned.
    """

    window = 10  # laps are noisy

    def __init__(self, chain: Gibbs, priors: Priors, learn: tuple[str, ...]) -> None:
        self.chain, self.priors, self._learn = chain, priors, learn

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return self.priors.row()

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start: too short to be reported or stopped."""
        self.chain.begin()

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        while True:
            done += 1
            objective = self.chain.lap(done, self.priors)
            self.priors = self.chain.learned(self.priors, self._learn, done)
            early, priors = bool(self._learn) and done <= FIRST_LAP, self.priors
            yield Lap(objective, self.chain.paths.n_topics, early, priors.row())

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        arrays, values = self.chain.snapshot()
        eta = {} if isinstance(self.priors.eta, np.ndarray) else {"eta": self.priors.eta}
        return {**arrays, "a": self.priors.a, "b": self.priors.b}, {**values, **eta}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        a, b, is_open, given = arrays["a"], arrays["b"], self.chain.paths.is_open, self.priors
        check_priors(a, b, is_open)
        eta = given.eta if isinstance(given.eta, np.ndarray) else values["eta"]  # that of each word is as given
        require(eta is given.eta or is_concentration(eta), "its eta is out of its range")
        self.priors = replace(given, a=a.copy(), b=b.copy(), eta=eta)
        self.chain.restore(arrays, values)


def check_priors(a: NDArray, b: NDArray, is_open: NDArray[np.bool_]) -> None:
    """Raise a ValueError for priors that no fit can have reached."""
    require(
        is_table(a, len(is_open)) and a.min() >= SMALLEST and a.sum() <= 2 * LARGEST, "its super-topics lack priors"
    )
    require(
        is_table(b, *is_open.shape) and bool(((b > 0.0) == is_open).all() and b.min() >= 0.0), "its paths lack priors"
    )
    in_range = b.min(where=is_open, initial=1.0) >= SMALLEST and b.sum(axis=1).max() <= 2 * LARGEST
    require(in_range, "its priors are out of their range")
