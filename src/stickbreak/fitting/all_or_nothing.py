"""Calls that change a model wholly or not at all, and never with parameters that no fit could make sense of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from stickbreak.fitting.bases import BaseEstimator
from stickbreak.fitting.loop import Trace

Method = TypeVar("Method", bound=Callable[..., Any])


class AllOrNothing(BaseEstimator):
    """Base of the estimators: what they check before a fit and when they are loaded, and how a failed call ends."""

    def _check_parameters(self) -> None:
        """Refuse parameters that no fit could make sense of, whatever its data; families add their rules.

        A fit and the loading of a model both ask this.

        Raises
        ------
        ValueError
            Also where scikit-learn is told to skip its validation: kernels rely on it.
        """
        self._validate_params()

    def _undoing(self) -> Callable[[], None]:
        """Return what takes back the changes that calls make inside the current attributes, beyond replacing them."""
        trace: Trace | None = self.__dict__.get("_trace")
        n_rows = 0 if trace is None else len(trace)

        def undo() -> None:
            if trace is not None:
                trace.cut_back(n_rows)

        return undo

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Leave the model as it was, fitted or not, where what follows breaks off for any reason."""
        before, undo = dict(self.__dict__), self._undoing()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            undo()
            raise


def all_or_nothing(method: Method) -> Method:
    """Let a method that fits check the parameters first, and change the model only if it comes to its end."""

    @wraps(method)
    def call(model: AllOrNothing, *arguments: Any, **options: Any) -> Any:
        with model._unchanged_by_errors():
            model._check_parameters()
            return method(model, *arguments, **options)

    return cast(Method, call)
