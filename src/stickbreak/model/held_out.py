"""The held-out score of a fit, which stays with the model until its topics change."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from stickbreak.exceptions import InputError
from stickbreak.fitting.bases import BaseEstimator
from stickbreak.prediction.completion import Completion
from stickbreak.storage.amending import replace_value
from stickbreak.storage.places import PathLike

_TRUTH: type = bool  # to Python a number


@dataclass(frozen=True, slots=True)
class HeldOutScore:
    """Score of a model on what its fit has not seen.

    Attributes
    ----------
    score : Completion or float
        In nats per token, or per vector.
    unigram : float or None
        What word frequencies alone score on the same words; None where it is not known, or there are no words.
    """

    score: Completion | float
    unigram: float | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError for anything but a score."""
        score = self.score
        numbers: list[Any] = [score]
        sizes: list[Any] = []
        if isinstance(score, Completion):
            numbers, sizes = [score.active, score.with_inactive], [score.n_tokens, score.n_documents]
        if not (all(map(_is_number, numbers + sizes)) and all(size > 0 for size in sizes)):
            raise ValueError(f"a held-out score is {score!r:.90}, not a finite number of nats or a Completion of such")
        if not (self.unigram is None or _is_number(self.unigram)):
            raise ValueError(f"a score of word frequencies is {self.unigram!r:.40}, not a finite number of nats")

    @property
    def completion(self) -> Completion | None:
        """All that is known of a document completion; None where only its score is known, or it is of vectors."""
        return self.score if isinstance(self.score, Completion) else None

    @property
    def value(self) -> float:
        """The score in nats."""
        return self.score.active if isinstance(self.score, Completion) else float(self.score)

    def packed(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        score = self.score
        values = asdict(score) if isinstance(score, Completion) else {"score": score}
        plain = {name: value if isinstance(value, int) else float(value) for name, value in values.items()}
        return {**plain, "unigram": None if self.unigram is None else float(self.unigram)}

    @classmethod
    def unpacked(cls, values: Any) -> Self:
        """Return what `packed` returned; a ValueError or TypeError for what it cannot have."""
        score = {name: value for name, value in values.items() if name != "unigram"}
        return cls(score["score"] if score.keys() == {"score"} else Completion(**score), values["unigram"])


class Scored(BaseEstimator):
    """The side of an estimator that knows how well it does on what its fit has not seen."""

    _held_out: HeldOutScore | None = None

    @property
    def held_out_(self) -> HeldOutScore | None:
        """The held-out score that was noted for these topics; None without one."""
        check_is_fitted(self)
        return self._held_out

    def note_held_out(self, score: Completion | float, *, unigram: float | None = None) -> Self:
        """Keep the score on documents or vectors that were held out of the fit. It is saved, and reports show it.

        A call that changes topics drops it.

        Parameters
        ----------
        score : Completion or float
            As from `evaluation.document_completion` or `score`, in nats per token or vector.
        unigram : float, optional
            What word frequencies alone score on the same words (`evaluation.unigram_completion`).

        Returns
        -------
        self

        Raises
        ------
        InputError
            If they are not finite numbers.
        """
        check_is_fitted(self)
        try:
            self._held_out = HeldOutScore(score, unigram)
        except ValueError as error:
            raise InputError(f"{error}; give what document_completion or score returns.") from None
        return self


def save_held_out(model: Scored, path: PathLike) -> None:
    """Write the held-out score of a model into the folder that it is saved in; all else there stays as it is.

    Parameters
    ----------
    model : fitted model
        With a score.
    path : path-like
        Where it is saved.

    Raises
    ------
    WriteError
        If the folder cannot be written.
    """
    if model.held_out_ is not None:
        replace_value(path, "held_out", model.held_out_.packed())


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, _TRUTH) and math.isfinite(value)
    except OverflowError:  # a whole number that no float is near to
        return False
