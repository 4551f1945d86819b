"""Starts: where the topics of a fit begin."""

from stickbreak.initialization.base import Start, StartSettings, weights_of
from stickbreak.initialization.start import (
    MOST_TOKENS,
    STARTS,
    check_init,
    make_start,
    resampled,
    sample_bytes,
    start_from_topics,
    topic_model,
)
from stickbreak.initialization.vectors import SAMPLE, SAMPLE_PER_COMPONENT, gains_alone, start_of_components

__all__ = [
    "MOST_TOKENS",
    "SAMPLE",
    "SAMPLE_PER_COMPONENT",
    "STARTS",
    "Start",
    "StartSettings",
    "check_init",
    "gains_alone",
    "make_start",
    "resampled",
    "sample_bytes",
    "start_from_topics",
    "start_of_components",
    "topic_model",
    "weights_of",
]
