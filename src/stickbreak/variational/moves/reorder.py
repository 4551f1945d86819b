"""Re-ordering: topics by decreasing size, kept only if the objective rises (docs/math, order of the topics)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stickbreak.numerics.arrays import Int
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.model import Inference, ObjectiveTerms, Schedule, largest_first
from stickbreak.variational.moves.base import Move


class Reorder(Move):
    """Sort the topics by decreasing N, those of seeds first; the sticks, and so the objective, depend on the order."""

    name: ClassVar[str] = "reorder"
    changes_topics: ClassVar[bool] = False

    def candidates(self, state: Inference) -> list[Int]:
        """Return the sorted order, unless the topics stand in it."""
        order = largest_first(state.totals.N, state.model.n_kept)
        return [] if np.array_equal(order, np.arange(order.size)) else [order]

    def evaluate(
        self, state: Inference, standing: ObjectiveTerms, schedule: Schedule, candidate: Int
    ) -> ObjectiveTerms:
        """Return the standing in the new order, sticks re-optimised."""
        model = state.model
        totals = standing.totals.permuted(candidate)
        rho, omega = model.best_sticks(totals, *sticks_of(standing.weights[candidate], standing.omega))
        data = standing.data[candidate]
        value = model.objective(totals, rho, omega, data)
        return ObjectiveTerms(totals, rho, omega, standing.topic_ids[candidate], data, value)

    def apply(self, state: Inference, accepted: list[Int], standing: ObjectiveTerms) -> None:
        """Permute every per-topic store."""
        (order,) = accepted
        new_index = np.empty_like(order)
        new_index[order] = np.arange(order.size)
        batches = (summary.permuted(order) for summary in state.batches)
        state.gathering.follow(new_index)
        state.edit(batches, (d.relabelled(new_index) for d in state.documents), standing)
