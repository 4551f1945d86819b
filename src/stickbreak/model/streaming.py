"""Estimators that learn from a stream: one step on each minibatch."""

from __future__ import annotations

import copy
import signal
import time
from abc import abstractmethod
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self

import numpy as np

from stickbreak.fitting.all_or_nothing import all_or_nothing
from stickbreak.fitting.constraints import whole
from stickbreak.fitting.engine import Engine, engine
from stickbreak.fitting.executor import one_blas_thread
from stickbreak.fitting.laps import Lap
from stickbreak.fitting.loop import Interruption, Trace
from stickbreak.fitting.requirements import check_total
from stickbreak.model.estimator import Estimator


class StreamingEstimator(Estimator):
    """Base of the estimators with `partial_fit`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Estimator._parameter_constraints,
        "total_documents": [None, whole(1)],
    }
    _changed_by_steps: ClassVar[tuple[str, ...]] = ("_trace",)  # attributes that a step changes inside

    total_documents: int | None
    n_documents_seen_: int
    n_steps_: int

    def __copy__(self) -> Self:
        """Return a model that shares arrays with this one, but nothing that a step of either would change in both."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__getstate__())
        for name in self._changed_by_steps:
            if name in twin.__dict__:
                setattr(twin, name, copy.deepcopy(getattr(twin, name)))
        return twin

    @abstractmethod
    def _open_stream(self, minibatch: Any, total: int, executor: Engine, interruption: Interruption) -> Any:
        """Make the start of a stream from its first minibatch; what it returns goes to `_step`."""

    @abstractmethod
    def _step(self, minibatch: Any, total: int, executor: Engine, start: Any) -> Lap:
        """Take a step and copy its result into the fitted attributes of the family; `start` is None after the first."""

    def _minibatch(self, X: Any, *, first: bool) -> Any:
        """Check a minibatch."""
        return self._documents(X, reset=first)

    @abstractmethod
    def _check_minibatch(self, minibatch: Any, *, first: bool) -> None:
        """Refuse what no step could be taken on."""

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take one step on a minibatch of a stream.

        The first call starts the topics from its documents, as `fit` does, scaled up to `total_documents`: give it
        enough documents. After a `fit` the call continues from what was found. The memory does not grow with the
        stream, apart from a row of `trace_` for each call (and new words, if they may join). A model that was saved and
        loaded continues with exactly the same numbers. The first call (or the fit) also fixes the hyperparameters that
        are not learned.

        Parameters
        ----------
        X : as in `fit`
            Over the words or dimensions of the first call. Documents without words count as seen. If all are empty, no
            step is taken.
        y : ignored

        Returns
        -------
        self
            After Ctrl-C the step is finished before KeyboardInterrupt is raised. A start is abandoned, and the model
            stays as it was.

        Raises
        ------
        InvalidCorpus
            If the words are not those of the first call, or the first minibatch holds no token.
        InputError
            If a parameter does not suit the documents, or more documents were seen than `total_documents`.
        """
        with Interruption() as interruption:
            self._learn(X, interruption)
        if interruption.requested:
            signal.raise_signal(signal.SIGINT)
        return self

    @all_or_nothing
    def _learn(self, X: Any, interruption: Interruption) -> None:
        """Do what `partial_fit` says."""
        first = not hasattr(self, "_trace")
        for name in self._changed_by_steps:
            if _is_read_only(self.__dict__.get(name)):
                setattr(self, name, copy.deepcopy(getattr(self, name)))
        minibatch = self._minibatch(X, first=first)
        seen = minibatch.n_documents + (0 if first else self.n_documents_seen_)
        total = seen if self.total_documents is None else int(self.total_documents)
        check_total(total, seen)
        self._check_minibatch(minibatch, first=first)
        if minibatch.n_tokens > 0:
            with engine(self.n_jobs) as executor, one_blas_thread():
                began, start = time.perf_counter(), None
                if first:
                    start = self._open_stream(minibatch, total, executor, interruption)
                    self.start_seconds_, began = time.perf_counter() - began, time.perf_counter()
                    self._take_names(minibatch)
                lap = self._step(minibatch, total, executor, start)
                trace = Trace() if first else self._trace
                trace.add(lap, time.perf_counter() - began)
                self._record(trace)
            self._kept = None
            self.converged_, self.stop_reason_ = False, f"partial_fit took step {self.n_steps_}."
        self.n_documents_seen_ = seen


def _is_read_only(value: Any) -> bool:
    """Tell whether an array, or one of a dataclass, is that of a model whose file is mapped into memory."""
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    return is_dataclass(value) and any(_is_read_only(getattr(value, field.name)) for field in fields(value))
