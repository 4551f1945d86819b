"""Predictions for many documents, spread over the workers of a cluster."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus.csr import row_blocks
from stickbreak.corpus.sources import Source, Stored
from stickbreak.fitting.engine import workers_now

Rows = TypeVar("Rows")
JOB_COUNTS = 1 << 18  # stored counts of a job


def spread(method: Callable[[Any, Any], Rows]) -> Callable[[Any, Any], Rows]:
    """Let the workers in use call a method of a fitted model, which returns a row for each document.

    The row of a document must not depend on the other documents. Without workers the method is called as it is.

    Parameters
    ----------
    method : callable
        Method of a model and X; its result is an array or a sparse array.
    """

    @wraps(method)
    def call(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        workers = workers_now()
        if workers is None:
            return method(self, X)
        corpus = self._corpus(X)
        blocks = list(row_blocks(corpus.counts, JOB_COUNTS))
        if not blocks:
            return method(self, X)
        source = Stored(workers.place(corpus))
        parts = workers.run(_rows, [source.part(rows) for rows in blocks], (method.__name__, _bare(self)))
        return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)

    return call


def _bare(model: Any) -> Any:
    """Return a copy of a fitted model that predicts as it does, without the state of its fit and where that began."""
    bare = copy.copy(model)
    bare.forget_state()
    bare.init = bare.n_jobs = None
    return bare


def _rows(shared: tuple[str, Any], documents: Source) -> Any:
    """Return the rows of the documents of a job."""
    name, model = shared
    return getattr(model, name)(documents.load())
