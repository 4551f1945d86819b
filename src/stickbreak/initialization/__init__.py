"""Starts: where the topics of a fit begin."""

from stickbreak.initialization.base import Start, StartSettings
from stickbreak.initialization.start import RESPONSIBILITY_BYTES, SMOOTHING, STARTS, make_start, start_from_topics

__all__ = ["RESPONSIBILITY_BYTES", "SMOOTHING", "STARTS", "Start", "StartSettings", "make_start", "start_from_topics"]
