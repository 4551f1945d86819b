"""Models that keep where their fit stood, so that they can go on, also after they were saved and loaded."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.fitting.checkpoint import saved_seed
from stickbreak.fitting.run import Identity
from stickbreak.model.topic_model import TopicModel

Packed = tuple[dict[str, NDArray], dict[str, Any]]  # arrays and plain values


class Stopped(Protocol):
    """An algorithm that stands between two laps."""

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""

    def restore(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        """Take up what `snapshot` returned."""


@dataclass(frozen=True, slots=True)
class KeptState:
    """What a fit left behind after its last lap, and what documents and parameters must agree with."""

    arrays: dict[str, NDArray]
    values: dict[str, Any]
    identity: Identity

    def __post_init__(self) -> None:
        """Raise a ValueError where a loaded identity is not one."""
        if not isinstance(self.identity, dict):
            raise ValueError("it does not say of which fit its kept state is")
        saved_seed(self.identity.get("random_state"))


class ContinuedModel(TopicModel):
    """Base of the estimators that go on where they stood."""

    kept_noun: ClassVar[str]  # what is kept

    _kept: KeptState | None

    @abstractmethod
    def _identity(self, corpus: Corpus, seed: int) -> Identity:
        """Return what documents and parameters must agree with."""

    def _keep(self, course: Stopped, identity: Identity) -> None:
        """Keep where an algorithm stands."""
        self._kept = KeptState(*course.snapshot(), identity)

    def _kept_for(self, corpus: Corpus) -> KeptState:
        """Return what is kept; words have been compared with those of the model.

        Raises
        ------
        InputError
            If nothing is, or documents or parameters are not those of the fit.
        """
        check_is_fitted(self)
        kept = self._kept
        if kept is None:
            raise InputError(f"this model has forgotten its {self.kept_noun}; fit it anew.")
        now = self._identity(corpus, kept.identity["random_state"])
        different = [name for name, value in now.items() if name != "vocabulary" and kept.identity.get(name) != value]
        if different:
            raise InputError(
                f"the {self.kept_noun} of this model are of a fit with another {different[0]}; give the documents of "
                "the fit, and set its parameters."
            )
        return kept

    def _give_back(self, kept: KeptState, course: Stopped) -> None:
        """Put an algorithm where it stood.

        Raises
        ------
        ModelFormatError
            If that cannot be of this fit: the model was loaded from a damaged folder.
        """
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # sums of what is checked
                course.restore(kept.arrays, kept.values)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ModelFormatError(f"the {self.kept_noun} of this model are damaged ({error}); fit it anew.") from None

    def _kept_state(self) -> Packed:
        kept = self._kept
        return ({}, {}) if kept is None else (kept.arrays, {"values": kept.values, "identity": kept.identity})

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        self._kept = KeptState(arrays, values["values"], values["identity"]) if values else None
