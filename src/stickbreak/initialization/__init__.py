"""Starts: where the topics of a fit begin."""

from stickbreak.initialization.base import Start, StartSettings, weights_of
from stickbreak.initialization.births import births
from stickbreak.initialization.companions import companions
from stickbreak.initialization.seeding import SAMPLE, SAMPLE_PER_COMPONENT, gains_alone, seeded
from stickbreak.initialization.start import (
    RESPONSIBILITY_BYTES,
    STARTS,
    check_init,
    make_start,
    sample_bytes,
    smoothed_cvb0,
    start_from_topics,
)

__all__ = [
    "RESPONSIBILITY_BYTES",
    "SAMPLE",
    "SAMPLE_PER_COMPONENT",
    "STARTS",
    "Start",
    "StartSettings",
    "births",
    "check_init",
    "companions",
    "gains_alone",
    "make_start",
    "sample_bytes",
    "seeded",
    "smoothed_cvb0",
    "start_from_topics",
    "weights_of",
]
