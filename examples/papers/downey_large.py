"""Downey, Bhagavatula and Yang 2015, Table 4 and section 5.2, at its size: a hundred million tokens.

Wide trees of several sizes, each grown level by level, are scored beside LDA. The documents are those of `python -m
benchmarks large-planted`.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.machine import PeakMemory
from benchmarks.harness.records import Record
from benchmarks.large import planted

from stickbreak import BackoffTreeTopics, TopicModel
from stickbreak.backoff_tree.shape import shape_of
from stickbreak.corpus import open_corpus

from .study import NOT_RUN, Claim, Study, Verdict, in_all, main

PAPER = {"scale": 0.33, "scored": 200, "topics": [108, 972, 8748, 104_976], "stage_sweeps": 10, "passes": 60,
         "lda": [200, 972], "lda_passes": 100, "particles": 20}  # fmt: skip
QUICK = {"scale": 0.0002, "scored": 4, "topics": [3, 18], "stage_sweeps": 1, "passes": 4, "lda": [6], "lda_passes": 4,
         "particles": 2}  # fmt: skip
ENOUGH = 90_000_000  # tokens: fewer say little of a hundred million


def keys(settings: Record) -> list[Record]:
    """Return a run for each size of the tree and of LDA."""
    rest = {name: settings[name] for name in ("scale", "scored", "particles")}
    of_tree = {name: settings[name] for name in ("stage_sweeps", "passes")}
    trees = [{"system": "tree", "topics": K, **of_tree, **rest} for K in settings["topics"]]
    of_lda = {"passes": settings["lda_passes"], **rest}
    return [*trees, *({"system": "LDA", "topics": K, **of_lda} for K in settings["lda"])]


def measure(key: Record) -> Record:
    """Fit a model; return its perplexity, the objective of each pass, processor seconds and memory."""
    with tempfile.TemporaryDirectory() as place:
        planted.generate(Path(place) / "planted", key["scale"])
        whole = open_corpus(Path(place) / "planted")
        first = whole.n_documents - key["scored"]
        held, train = whole[np.arange(first, whole.n_documents)], whole[np.arange(first)]
        peak, begin = PeakMemory(), time.process_time()
        model = model_of(key).fit(train, callback=_show)
        spent = time.process_time() - begin
        peak.end()
    score = model.left_to_right(held, n_particles=key["particles"], resample=False)
    return {
        "perplexity": float(score.perplexity),
        "objective": [float(value) for value in model.trace_["objective"]],
        "tokens": train.n_tokens,
        "seconds": spent,
        "peak": peak.mebibytes,
    }


def model_of(key: Record) -> Any:
    """Return the model of a key before its fit; threads change no number.

    A tree makes `stage_sweeps` passes with each number of levels, and then `passes` with all of them.
    """
    shared: Record = {"n_topics": key["topics"], "random_state": 0, "n_jobs": -1}
    if key["system"] == "LDA":
        return TopicModel(n_laps=key["passes"], tolerance=None, **shared)
    levels, sweeps = range(1, shape_of("wide", key["topics"]).depth), key["stage_sweeps"]
    n_laps = len(levels) * sweeps + key["passes"]
    return BackoffTreeTopics(stages=tuple(levels), stage_sweeps=sweeps, n_laps=n_laps, **shared)


def _show(event: Record) -> None:
    """Print a pass, which takes minutes."""
    if "lap" in event:
        print(event["lap"], f"{event['objective']:.4f}", flush=True)


def by_size(records: list[Record], system: str) -> dict[int, float]:
    """Return the perplexities of a system by the number of topics."""
    runs = [r for r in records if r["system"] == system]
    return {r["topics"]: r["perplexity"] for r in runs}


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each size."""
    return [
        {
            "tokens": f"{r['tokens']:,}",
            "system": r["system"],
            "topics": f"{r['topics']:,}",
            "perplexity": f"{r['perplexity']:.0f}",
            "processor s": f"{r['seconds']:.0f}",
            "peak memory, MiB": f"{r['peak']:.0f}",
        }
        for r in records
    ]


def more(records: list[Record]) -> Verdict:
    """Judge whether the largest tree is the best tree, and ahead of LDA."""
    tree, lda = by_size(records, "tree"), by_size(records, "LDA")
    if not (tree and lda):
        return NOT_RUN, None
    tokens = min(r["tokens"] for r in records)
    text = f"{tokens:,} tokens, trees: {_said(tree)}; LDA: {_said(lda)}"
    largest = tree[max(tree)]
    fine = [largest <= min(tree.values()), largest < min(lda.values())]
    return text, in_all(fine) if tokens >= ENOUGH else None


def far_below(records: list[Record]) -> Verdict:
    """Judge whether the largest tree is 28 % or more below the LDA with most topics."""
    tree, lda = by_size(records, "tree"), by_size(records, "LDA")
    if not (tree and lda):
        return NOT_RUN, None
    change = tree[max(tree)] / lda[max(lda)] - 1
    tokens = min(r["tokens"] for r in records)
    text = f"{max(tree)} topics: {tree[max(tree)]:.0f}, LDA with {max(lda)}: {lda[max(lda)]:.0f} ({change:+.0%})"
    return text, change <= -0.28 if tokens >= ENOUGH else None


def _said(found: dict[int, float]) -> str:
    return ", ".join(f"{K} {value:.0f}" for K, value in found.items())


STUDY = Study(
    "downey_large", PAPER, QUICK,
    "Generated documents with 200 topics take the place of Wikipedia's links: nothing in them is a tree. The tree is "
    "wide; its first passes read a part of the documents. Perplexity is the unbiased estimate, nothing drawn again.",
    keys, measure, rows,
    (
        Claim("On a hundred million tokens the largest tree predicts best", "Table 4", more,
              "These documents have 200 topics and no tree. The tree of 972 leaves is ahead of LDA with 972 topics."),
        Claim("There a tree of 104,976 topics has a perplexity 28 % or more below that of LDA with 972", "Sec. 5.2",
              far_below, "The same runs. The tree took eight times the processor seconds, for four passes over all."),
    ),
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
