"""Learning from a stream: one step on each minibatch, which is `partial_fit` of the estimators that can.

Such an estimator checks a minibatch (`_minibatch`, `_check_minibatch`), makes the start of a stream from the first one
(`_open_stream`, whose result goes to `_step`), and takes a step (`_step`, with None after the first), which copies its
result into the fitted attributes of the family. `_changed_by_steps` names the attributes that a step changes inside.
"""

from __future__ import annotations

import copy
import signal
import time
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from stickbreak.fitting.checks import check_total
from stickbreak.fitting.engine import one_blas_thread, threads_and_workers
from stickbreak.fitting.loop import Interruption, Trace
from stickbreak.model.estimator import all_or_nothing

Model = TypeVar("Model")


def partial_fit(model: Model, X: Any, y: Any = None) -> Model:
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
        _learn(model, X, interruption)
    if interruption.requested:
        signal.raise_signal(signal.SIGINT)
    return model


@all_or_nothing
def _learn(model: Any, X: Any, interruption: Interruption) -> None:
    """Do what `partial_fit` says."""
    first = not hasattr(model, "_trace")
    for name in model._changed_by_steps:
        if _is_read_only(model.__dict__.get(name)):
            setattr(model, name, copy.deepcopy(getattr(model, name)))
    minibatch = model._minibatch(X, first=first)
    seen = minibatch.n_documents + (0 if first else model.n_documents_seen_)
    total = seen if model.total_documents is None else int(model.total_documents)
    check_total(total, seen)
    model._check_minibatch(minibatch, first=first)
    if minibatch.n_tokens > 0:
        with threads_and_workers(model.n_jobs) as engine, one_blas_thread():
            began, start = time.perf_counter(), None
            if first:
                start = model._open_stream(minibatch, total, engine, interruption)
                model.start_seconds_, began = time.perf_counter() - began, time.perf_counter()
                model._take_names(minibatch)
            lap = model._step(minibatch, total, engine, start)
            trace = Trace() if first else model._trace
            trace.add(lap, time.perf_counter() - began)
            model._record(trace)
        model._kept = None
        model.converged_, model.stop_reason_ = False, f"partial_fit took step {model.n_steps_}."
    model.n_documents_seen_ = seen


def _is_read_only(value: Any) -> bool:
    """Tell whether an array, or one of a dataclass, is that of a model whose file is mapped into memory."""
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    return is_dataclass(value) and any(_is_read_only(getattr(value, field.name)) for field in fields(value))
