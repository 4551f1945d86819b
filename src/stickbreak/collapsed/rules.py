"""What a fit of collapsed inference goes by."""

from __future__ import annotations

from dataclasses import dataclass

from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.steering import UNSTEERED, Steering
from stickbreak.numerics.arrays import Float


@dataclass(frozen=True, slots=True)
class Rules:
    """What does not change from lap to lap."""

    n_topics: int  # at the start, with those that are kept
    max_topics: int
    priors: Priors  # to begin with
    smallest: float  # share that is kept
    learn: tuple[str, ...]
    seed: int
    merge_laps: int  # laps, from the first, in which topics are split and merged
    births: bool
    held_back: float  # share of the tokens that are held out meanwhile
    final_passes: str
    apart: float = 0.0  # share of the documents that are set apart, to decide about the last passes
    given: Float | None = None  # (K, W)  expected counts of the topics to start from
    steering: Steering = UNSTEERED
