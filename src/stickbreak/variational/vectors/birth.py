"""Birth of components: further ones, from the vectors that the present ones explain worst (a trial)."""

from __future__ import annotations

import math
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.executor import Executor
from stickbreak.initialization import gains_alone, seeded
from stickbreak.likelihoods import VectorLikelihood
from stickbreak.numerics.arrays import Int
from stickbreak.numerics.streams import stream
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.model import Inference, Schedule
from stickbreak.variational.moves.birth import Birth
from stickbreak.variational.observations import Visit
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.vectors.batch import VectorBatch

COMPONENTS = 10  # that are born at once, at most
POOL = 2_000  # vectors that are looked at
TARGET = 500  # of them, those that lose most


class VectorBirth(Birth):
    """Add up to ten components found in the vectors that lose most under the present ones.

    A vector's loss is what it would gain, in nats, if it had a component of its own. After a rejected birth the next
    one looks at the vectors that lose less, until the components change.
    """

    name: ClassVar[str] = "birth"

    def begin(self, state: Inference) -> None:
        """Forget the vectors of the last lap."""
        super().begin(state)
        self._pool: list[NDArray] = []
        self._every = max(1, math.ceil(float(state.totals.N.sum()) / POOL))
        self._share = TARGET / POOL

    def observe(self, index: int, visit: Visit, executor: Executor) -> None:
        """Keep some vectors of the batch, evenly spread over it."""
        assert isinstance(visit.batch, VectorBatch)
        self._pool.append(np.asarray(visit.batch.values[:: self._every], dtype=np.float64))

    def propose(self, state: Inference, schedule: Schedule) -> tuple[GlobalParameters, Int] | None:
        """Return the present components and those of the target."""
        model, parameters, pool = state.model, state.parameters, np.concatenate(self._pool)
        likelihood, n = cast(VectorLikelihood, model.likelihood), float(state.totals.N.sum())
        posterior = likelihood.posterior(parameters.tau, parameters.tau_sum)
        losses = gains_alone(likelihood, pool) - likelihood.expected_log(posterior, pool).max(axis=1)
        first = TARGET * self._tries % len(pool)
        target = pool[np.sort(np.argsort(-losses, kind="stable")[first : first + TARGET])]
        S, N = seeded(likelihood, target, COMPONENTS, stream(schedule.seed, f"birth {self._seed}"))
        self._seed += 1
        scale = n / len(pool)
        S, N = S[:, N > 1] * scale, N[N > 1] * scale
        if not N.size:
            return None
        weights = np.concatenate([parameters.expected_beta[:-1], N / n]) / (1.0 + float(N.sum()) / n)
        names = np.concatenate([state.topic_ids, state.next_id + np.arange(N.size)])
        sticks = sticks_of(weights, 1.0 + model.gamma + state.totals.n_documents)
        tau, tau_sum = np.concatenate([parameters.tau, S], axis=1), np.concatenate([parameters.tau_sum, N])
        return GlobalParameters(np.ascontiguousarray(tau), tau_sum, *sticks), names
