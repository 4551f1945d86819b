"""What rounding small shares of a token to zero changes: held-out completion, time and memory."""

from __future__ import annotations

import argparse
from functools import partial

from benchmarks.collapsed.fits import fit_of, model_answer, splits_and_topics
from benchmarks.harness.corpora import load_split
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds


def shares(names: list[str], topics: list[int]) -> list[dict[str, object]]:
    """Return what rounding small shares changes, without merges: held-out completion, time and memory."""
    rows: list[dict[str, object]] = []
    for name in names:
        split = load_split(name)
        for n_topics in topics:
            for smallest in (0.0, 1 / 31, 1 / 15, 1 / 7):
                model = fit_of(n_topics=n_topics, smallest_share=smallest, merge_laps=0, n_jobs=1)
                seconds = processor_seconds(partial(model.fit, split.train))
                kept = model._kept.arrays
                rows.append(
                    {
                        "corpus": name,
                        "K": n_topics,
                        "smallest share": f"{smallest:.3f}",
                        "completion": f"{completion(split, *model_answer(model)):.4f}",
                        "topics of a count": f"{kept['topic'].size / split.train.counts.nnz:.1f}",
                        "MiB of q(z)": f"{sum(array.nbytes for array in kept.values()) / 2**20:.0f}",
                        "processor seconds": f"{seconds:.1f}",
                    }
                )
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    splits_and_topics(parser, splits=["kos"], topics=[100])


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table(shares(options.splits, options.topics))
