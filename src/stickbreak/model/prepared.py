"""What predictions need of a fitted model and is the same for all of them: made once, for the model as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Self, TypeVar

Model = TypeVar("Model", bound="Prepared")
Result = TypeVar("Result")


class Prepared:
    """Base of models with methods that are `once`.

    What such a method returned is dropped when any attribute of the model is set: by a fit, a step, a join. It is not
    in copies, pickles and files. Threads may ask at the same time: at worst two make the same.
    """

    _prepared: dict[str, Any]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make the place at once: scikit-learn goes through the attributes, which may then not become more."""
        model = super().__new__(cls)
        model.__dict__["_prepared"] = {}
        return model

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self.__dict__["_prepared"] = {}

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_prepared", None)
        return state


def once(method: Callable[[Model], Result]) -> Callable[[Model], Result]:
    """Let a method of a model answer what it returned before, as long as the model has not changed.

    Parameters
    ----------
    method : callable
        Of a model alone. Nobody changes what it returns.
    """
    name = method.__name__

    @wraps(method)
    def call(model: Model) -> Result:
        prepared: dict[str, Result] = model._prepared  # if the model changes meanwhile, nobody has this one any more
        if name not in prepared:
            prepared[name] = method(model)
        return prepared[name]

    return call
