"""The held-out score of a fit, which stays with the model until its topics change."""

from __future__ import annotations

from typing import Self

from sklearn.utils.validation import check_is_fitted

from stickbreak.exceptions import InputError
from stickbreak.fitting.bases import BaseEstimator
from stickbreak.prediction.completion import Completion
from stickbreak.prediction.held_out import HeldOutScore, Unscored
from stickbreak.storage.amending import replace_value
from stickbreak.storage.places import PathLike


class Scored(BaseEstimator, Unscored):
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
            raise InputError(
                f"{error}; give what document_completion or score returns, and what unigram_completion returns."
            ) from None
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
