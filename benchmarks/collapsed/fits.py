"""Fits of collapsed inference with the defaults of the tables in docs/benchmarks/collapsed.md."""

from __future__ import annotations

import argparse

from benchmarks.harness.ours import own_prior
from benchmarks.harness.records import Record
from benchmarks.harness.units import Answer
from stickbreak import CollapsedHDP

LAPS = 100
THEN: Record = {"eta": 0.1, "learn": ["alpha", "eta"], "n_laps": LAPS, "tolerance": None}


def fit_of(**settings: object) -> CollapsedHDP:
    """Return an estimator with the defaults of the tables but for some settings."""
    return CollapsedHDP(**{**THEN, "random_state": 0, **settings})


def model_answer(model: CollapsedHDP) -> Answer:
    """Return the topics of collapsed inference with its own concentrations."""
    return model.topic_word_, own_prior(model)


def splits_and_topics(parser: argparse.ArgumentParser, *, splits: list[str], topics: list[int]) -> None:
    """Add the options that say on what is measured."""
    parser.add_argument("--splits", nargs="+", default=splits)
    parser.add_argument("--topics", nargs="+", type=int, default=topics, help="K at the start")
