"""What is known of how well topics do on what their fit has not seen."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, Self

from stickbreak.prediction.completion import Completion

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
        plain = {name: int(value) if isinstance(value, Integral) else float(value) for name, value in values.items()}
        return {**plain, "unigram": None if self.unigram is None else float(self.unigram)}

    @classmethod
    def unpacked(cls, values: Any) -> Self:
        """Return what `packed` returned; a ValueError or TypeError for what it cannot have."""
        score = {name: value for name, value in values.items() if name != "unigram"}
        return cls(score["score"] if score.keys() == {"score"} else Completion(**score), values["unigram"])


class Unscored:
    """Topics of which no held-out score is known: those of a model of another make."""

    @property
    def held_out_(self) -> HeldOutScore | None:
        """None: nothing is known."""
        return None


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, _TRUTH) and math.isfinite(value)
    except OverflowError:  # a whole number that no float is near to
        return False
