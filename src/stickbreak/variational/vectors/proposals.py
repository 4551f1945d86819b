"""Components that trials propose, found in vectors by seeding."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.executor import Executor
from stickbreak.initialization import gains_alone, seeded
from stickbreak.likelihoods import VectorLikelihood
from stickbreak.numerics.arrays import Int
from stickbreak.numerics.streams import stream
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.model import Inference, Schedule
from stickbreak.variational.moves import Birth, Proposal, Proposals
from stickbreak.variational.observations import Visit
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.vectors.batch import VectorBatch

COMPONENTS = 10  # that are born at once, at most
POOL = 2_000  # vectors that are looked at
TARGET = 500  # of them, those that lose most


@dataclass(frozen=True, slots=True)
class Sampled:
    """Takes some vectors of a batch, evenly spread over it."""

    every: int

    def observe(self, visit: Visit, executor: Executor) -> NDArray:
        """Return the vectors."""
        assert isinstance(visit.batch, VectorBatch)
        return np.asarray(visit.batch.values[:: self.every], dtype=np.float64)

    def wanted(self, visit: Visit) -> Int:
        """Return no groups."""
        return np.zeros(0, np.int64)


class VectorBirths(Proposals):
    """The present components and up to ten found in the vectors that lose most under them.

    A vector's loss is what it would gain, in nats, if it had a component of its own.
    """

    tries = POOL // TARGET

    def begin(self, state: Inference) -> None:
        """Forget the vectors of the last lap."""
        self._pool: list[NDArray] = []
        self._every = max(1, math.ceil(float(state.totals.N.sum()) / POOL))

    def observer(self) -> Sampled:
        """Return what takes vectors out of the batches."""
        return Sampled(self._every)

    def note(self, observed: NDArray) -> None:
        """Keep some vectors of a batch."""
        self._pool.append(observed)

    def propose(self, state: Inference, schedule: Schedule, tries: int, seed: int) -> Proposal | None:
        """Return the present components and those of the target."""
        model, parameters, pool = state.model, state.parameters, np.concatenate(self._pool)
        likelihood, n = cast(VectorLikelihood, model.likelihood), float(state.totals.N.sum())
        posterior = likelihood.posterior(parameters.tau, parameters.tau_sum)
        losses = gains_alone(likelihood, pool) - likelihood.expected_log(posterior, pool).max(axis=1)
        first = TARGET * tries % len(pool)
        target = pool[np.sort(np.argsort(-losses, kind="stable")[first : first + TARGET])]
        S, N = seeded(likelihood, target, COMPONENTS, stream(schedule.seed, f"birth {seed}"))
        scale = n / len(pool)
        S, N = S[:, N > 1] * scale, N[N > 1] * scale
        if not N.size:
            return None
        weights = np.concatenate([parameters.expected_beta[:-1], N / n]) / (1.0 + float(N.sum()) / n)
        names = np.concatenate([state.topic_ids, state.next_id + np.arange(N.size)])
        sticks = sticks_of(weights, 1.0 + model.gamma + state.totals.n_documents)
        tau, tau_sum = np.concatenate([parameters.tau, S], axis=1), np.concatenate([parameters.tau_sum, N])
        return Proposal(model, GlobalParameters(np.ascontiguousarray(tau), tau_sum, *sticks), names)


VECTOR_PROPOSALS: Mapping[str, type[Proposals]] = {Birth.name: VectorBirths}
