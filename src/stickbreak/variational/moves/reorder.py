"""Re-ordering: topics by decreasing size, kept only if the objective rises (SPEC 1.10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.model import HDP, Inference
from stickbreak.variational.moves.base import Move, Proposal
from stickbreak.variational.state import Int


class Reorder(Move):
    """Sort the topics by decreasing N; the sticks, and so the objective, depend on the order."""

    name: ClassVar[str] = "reorder"

    def candidates(self, state: Inference) -> Iterator[Int]:
        """Yield the sorted order, unless the topics stand in it."""
        order = np.argsort(-state.totals.N, kind="stable")
        if not np.array_equal(order, np.arange(order.size)):
            yield order

    def evaluate(self, state: Inference, model: HDP, candidate: Int) -> Proposal:
        """Return the objective in the new order, sticks re-optimised."""
        totals = state.totals.without_words().permuted(candidate)
        start = sticks_of(state.parameters.expected_beta[candidate], state.parameters.omega)
        rho, omega = model.best_sticks(totals, *start)
        data = state.data[candidate]
        return Proposal(candidate, model.objective(totals, rho, omega, data), totals, rho, omega, data)

    def apply(self, state: Inference, proposal: Proposal) -> None:
        """Permute every per-topic store."""
        order: Int = proposal.candidate
        new_index = np.empty_like(order)
        new_index[order] = np.arange(order.size)
        state.topic_ids = state.topic_ids[order]
        state.edit(
            [summary.permuted(order) for summary in state.batches],
            [d.relabelled(new_index) for d in state.documents],
            proposal.rho,
            proposal.omega,
        )
