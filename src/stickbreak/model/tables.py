"""Tables that are given to an estimator, checked as scikit-learn does, with a sentence where it shows the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from stickbreak.corpus.mistakes import Mistake, mistake_in, obvious_mistake
from stickbreak.exceptions import InputError


def checked_table(
    model: BaseEstimator, X: Any, sentence: Callable[[Mistake], str], refused: type[InputError], **options: Any
) -> Any:
    """Return what scikit-learn's `validate_data` makes of X.

    Parameters
    ----------
    model : estimator
    X : object
    sentence : callable
        Makes of a mistake what the user is told.
    refused : subclass of InputError
        The error.
    **options
        Of `validate_data`.

    Raises
    ------
    InputError
        In one sentence, without the data: texts, a path or a dict in place of a table, or another shape.
    """
    mistake = obvious_mistake(X)
    if mistake is None:
        try:
            return validate_data(model, X, **options)
        except (TypeError, ValueError) as error:
            mistake = mistake_in(X)
            if mistake is None and isinstance(error, TypeError):
                raise
            text = _in_one_sentence(str(error))
    raise refused(text if mistake is None else sentence(mistake)) from None


def _in_one_sentence(text: str) -> str:
    """Return what scikit-learn says without the numbers that it shows."""
    if text.startswith("Expected 2D"):
        return "X has fewer than two dimensions. Reshape your data: a single row is X.reshape(1, -1)."
    if text.startswith("Complex data"):
        return "Complex data not supported: X holds complex numbers; give real ones."
    if text.startswith("Input X contains"):
        return f"{text.splitlines()[0].rstrip('.')}; remove or repair these values."
    return text
