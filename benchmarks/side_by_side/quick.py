"""All systems for some seconds each, on planted topics and on the smallest split that is there: a couple of minutes."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.harness import corpora
from benchmarks.side_by_side import run as whole

TOPICS, SECONDS = 50, 3.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    whole.which_systems(parser)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/quick.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Run all systems; return the tables."""
    options.corpora = ["planted", *list(corpora.splits())[:1]]
    options.topics, options.seconds, options.seeds, options.repeats = [TOPICS], SECONDS, [0], 1
    return whole.run(options)
