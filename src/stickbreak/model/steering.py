"""What of a model of words can be steered: labels of documents, and updates. Most families say that they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Self

from stickbreak.exceptions import InputError
from stickbreak.fitting.laps import Callback
from stickbreak.storage.places import PathLike

if TYPE_CHECKING:
    import pandas as pd


_LABELLED = "a TopicModel or a GibbsHDP(representation='direct')"


class SteeredTopics:
    """The side of `TopicEstimator` that labels and new documents steer; families that can override it."""

    def update(
        self,
        X: Any,
        y: Any = None,
        *,
        labels: Any = None,
        callback: Callback | None = None,
        checkpoint: PathLike | None = None,
        resume: bool = False,
    ) -> Self:
        """Go on with new documents, topics keeping their numbers: only a `TopicModel` can.

        Raises
        ------
        InputError
        """
        self._refuse("cannot go on with new documents under the same numbers", "take a TopicModel")

    def label_probabilities(self, X: Any) -> pd.DataFrame:
        """Return how probable each label of the fit is for each document: only families with labels can.

        Raises
        ------
        InputError
        """
        self._refuse("has no labels to predict", f"fit {_LABELLED} with labels (--labels COLUMN)")

    def predict_labels(self, X: Any) -> list[list[str]]:
        """Return the labels of each document: only families with labels can.

        Raises
        ------
        InputError
        """
        self._refuse("has no labels to predict", f"fit {_LABELLED} with labels (--labels COLUMN)")

    def _take_labels(self, X: Any, labels: Any) -> None:
        """Note labels of documents that a fit is given."""
        if labels is not None:
            self._refuse("takes no labels", f"fit {_LABELLED}, or leave them out")

    def _refuse(self, what: str, advice: str) -> NoReturn:
        raise InputError(f"{type(self).__name__} {what}; {advice}.")
