"""What a fit keeps of its tokens, so that it can go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from stickbreak.backoff_tree.course import TreeCourse
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.inference.run import Identity


@dataclass(frozen=True, slots=True)
class KeptTokens:
    """The leaves of the tokens of a fit after its last pass, as arrays and plain values."""

    arrays: dict[str, NDArray]
    values: dict[str, Any]
    identity: Identity

    def check_same(self, identity: Identity) -> None:
        """Refuse documents or parameters that are not those of the fit; words are compared with those of the model.

        Raises
        ------
        InputError
        """
        compared = {name: value for name, value in identity.items() if name != "vocabulary"}
        different = [name for name, value in compared.items() if self.identity.get(name) != value]
        if different:
            raise InputError(
                f"the leaves of this model are of a fit with another {different[0]}; give the documents of the fit, "
                "and set its parameters."
            )

    def give_back(self, course: TreeCourse) -> None:
        """Put the tokens where they stood.

        Raises
        ------
        ModelFormatError
            If they cannot be of this fit: the model was loaded from a damaged folder.
        """
        try:
            course.restore(self.arrays, self.values)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ModelFormatError(f"the leaves of this model are damaged ({error}); fit it anew.") from None
