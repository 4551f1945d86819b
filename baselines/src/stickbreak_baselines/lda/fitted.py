"""What a fitted LDA offers beside its topics: where its stream stands."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.model.streaming import StreamingEstimator
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import LARGEST_OFFSET
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak.topics.fitted import FittedTopics


class FittedLDA(FittedTopics, StreamingEstimator):
    """The side of `LDA` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = (*FittedTopics._fitted_arrays, "_mean_log")
    _fitted_values: ClassVar[tuple[str, ...]] = (*FittedTopics._fitted_values, "learning_offset_", "n_steps_")

    _mean_log: Float  # (K,)  mean E log theta that steps have found; empty before the first
    learning_offset_: float | None

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]."""
        super()._join_topics(to)
        self._mean_log = np.zeros(0)

    def _take_topics(self, S: Float, priors: Priors) -> None:
        """Copy counts (W, K) and priors into the fitted attributes."""
        super()._take_topics(S, priors)
        self._mean_log = np.zeros(0)

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        offset, mean_log = self.learning_offset_, self._mean_log
        require(offset is None or 0 <= float(offset) <= LARGEST_OFFSET, "the offset of its steps cannot be")
        require(not mean_log.size or is_table(mean_log, self.topic_prior_.size), "its mean weights are of other topics")
        whole_number("n_steps_", self.n_steps_)
