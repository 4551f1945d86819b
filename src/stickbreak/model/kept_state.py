"""What a fit leaves behind so that it can go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from stickbreak.fitting.checkpoint import saved_seed
from stickbreak.fitting.run import Identity


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
