"""Starts: where the topics of a fit begin."""

from stickbreak.initialization.base import Start, StartSettings
from stickbreak.initialization.start import (
    RESPONSIBILITY_BYTES,
    STARTS,
    make_start,
    smoothed_cvb0,
    start_from_topics,
)

__all__ = [
    "RESPONSIBILITY_BYTES",
    "STARTS",
    "Start",
    "StartSettings",
    "make_start",
    "smoothed_cvb0",
    "start_from_topics",
]
