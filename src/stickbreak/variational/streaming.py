"""Stochastic steps on the minibatches of a stream, of words or of vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from stickbreak.exceptions import InputError
from stickbreak.fitting.constraints import CONCENTRATION, OFFSET, TOLERANCES, one_of, share, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Lap
from stickbreak.fitting.loop import Interruption
from stickbreak.model.estimator import Estimator
from stickbreak.model.streaming import partial_fit
from stickbreak.numerics.ranges import LARGEST_STATISTIC, are_sums
from stickbreak.numerics.streams import seed_from
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.model import AcceptedMove, Model
from stickbreak.variational.observations import Observations
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.stochastic import StepRule, StreamState, learn_from


class StreamingVariational(Estimator):
    """Base of the variational estimators: `partial_fit` takes a stochastic step."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Estimator._parameter_constraints,
        "moves": [list, tuple],
        "gamma": CONCENTRATION,
        "schedule": [one_of(("memoized", "stochastic"))],
        "learning_decay": [share()],
        "learning_offset": [OFFSET],
        "tolerance": [*TOLERANCES],
        "n_batches": [None, whole(1)],
        "batches_at_once": [whole(1)],
        "scratch": [None, str, PathLike],
    }

    total_documents: int | None
    n_documents_seen_: int
    n_steps_: int

    partial_fit = partial_fit

    def _take_moves(self, accepted: Iterable[AcceptedMove], words: Sequence[str]) -> None:
        """Keep the accepted moves of a fit, with the words of their topics; none where rows are not words."""
        self.moves_ = [
            {
                "pass": change.lap,
                "move": change.move,
                "gain": change.gain,
                "n_topics": change.n_topics,
                "topics": [[words[w] for w in rows] for rows in change.words] if words else [],
            }
            for change in accepted
        ]

    @abstractmethod
    def _model(self, *, fitted: bool = False) -> Model:
        """Return the model with the hyperparameters to begin with, or with those that were learned."""

    @abstractmethod
    def _parameters(self) -> GlobalParameters:
        """Return the globals of the fitted model."""

    @abstractmethod
    def _take_parameters(self, parameters: GlobalParameters, model: Model) -> None:
        """Copy globals and hyperparameters into the fitted attributes."""

    @abstractmethod
    def _observations(self, minibatch: Any) -> Observations:
        """Return a minibatch as a batch that a local step takes."""

    @abstractmethod
    def _settings(self) -> LocalSettings:
        """Return when and how local steps stop."""

    @abstractmethod
    def _rule(self) -> StepRule:
        """Return the sizes and the rule of stochastic steps."""

    @abstractmethod
    def _begin(self, documents: Any, seed: int, engine: Engine, report: Any, stop: Any) -> GlobalParameters:
        """Return the globals at the start."""

    def _names_learned(self) -> list[str]:
        """Return those with a column in the trace: the memoized schedule alone learns, and its default depends."""
        return [name for name in self._learnable if name in self._trace.columns]

    def _open_stream(
        self, minibatch: Any, total: int, executor: Engine, interruption: Interruption
    ) -> GlobalParameters:
        seed, stop = seed_from(self.random_state), interruption.give_up_start
        return self._begin(minibatch, seed, executor, lambda event: None, stop)

    def _step(self, minibatch: Any, total: int, executor: Engine, start: GlobalParameters | None) -> Lap:
        model = self._model(fitted=start is None)
        parameters, n_steps = (self._parameters(), self.n_steps_) if start is None else (start, 0)
        state = StreamState.from_parameters(parameters, model, n_steps)
        batch = self._observations(minibatch)
        info = learn_from(batch, state, model, self._rule(), self._settings(), executor, n_documents=total)
        columns: dict[str, float] = {"sweeps": info.sweeps}
        columns["restarts_tried"], columns["restarts_accepted"] = info.restarts
        objective = info.objective * minibatch.n_documents / (total * minibatch.n_tokens)
        lap = Lap(objective, info.n_topics, False, columns)
        if start is None:
            columns |= self._trace.rest_of_row(lap)
        else:
            self.moves_ = []
        if not (are_sums(objective, signed=True) and np.abs(state.counts).max(initial=0.0) <= LARGEST_STATISTIC):
            raise InputError("the numbers of the minibatch are too large to be summed; scale them down.")
        self._take_parameters(state.parameters(model), model)
        self.n_steps_ = state.n_steps
        return lap
