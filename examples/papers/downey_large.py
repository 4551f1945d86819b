"""Downey, Bhagavatula and Yang 2015, Table 4 and section 5.2, at its size: a hundred million tokens.

A wide tree grows to 104,976 topics, with as many passes for each size, and is scored at each. LDA makes as
many passes as the tree in all. The documents are those of `python -m benchmarks large-planted`.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.machine import PeakMemory
from benchmarks.harness.records import Record
from benchmarks.large import planted

import stickbreak
from stickbreak import BackoffTreeTopics, TopicModel
from stickbreak.backoff_tree.shape import shape_of
from stickbreak.corpus import Corpus, open_corpus

from .study import Claim, Study, Verdict, in_all, main

PAPER = {"scale": 0.33, "scored": 200, "topics": [108, 972, 8748, 104_976], "lda": [200, 972], "passes": 10,
         "particles": 20}  # fmt: skip
QUICK = {"scale": 0.0002, "scored": 4, "topics": [3, 18], "lda": [6], "passes": 2, "particles": 2}
SAVED = Path("benchmarks/results/papers/downey_large.models")
ENOUGH = 90_000_000  # tokens: fewer say little of a hundred million


def keys(settings: Record) -> list[Record]:
    """Return the run of the tree, which passes through all sizes, and one for each LDA."""
    rest = {name: settings[name] for name in ("scale", "scored", "passes", "particles")}
    all_passes = settings["passes"] * len(settings["topics"])
    runs = [{"system": "LDA", "topics": [K], **rest, "passes": all_passes} for K in settings["lda"]]
    return [{"system": "tree", "topics": settings["topics"], **rest}, *runs]


def measure(key: Record) -> Record:
    """Fit one system; return perplexity and processor seconds at each of its sizes."""
    with tempfile.TemporaryDirectory() as place:
        planted.generate(Path(place) / "planted", key["scale"])
        whole = open_corpus(Path(place) / "planted")
        first = whole.n_documents - key["scored"]
        held, train = whole[np.arange(first, whole.n_documents)], whole[np.arange(first)]
        found: Record = {"perplexity": [], "by size": [], "tokens": int(train.counts.data.sum(dtype=np.int64))}
        peak, begin, spent = PeakMemory(), time.process_time(), 0.0
        for model in models(key, train, Path(place) / "scratch"):
            spent += time.process_time() - begin
            found["by size"].append(spent)
            print(key["system"], model.n_topics_, f"{spent:.0f} s", flush=True)
            score = model.left_to_right(held, n_particles=key["particles"], resample=False)
            found["perplexity"].append(float(score.perplexity))
            begin = time.process_time()
        peak.end()
    return {**found, "peak": peak.mebibytes, "seconds": spent}


def models(key: Record, train: Corpus, scratch: Path) -> Any:
    """Yield the model of a key, fitted, at each of its sizes."""
    shared: Record = {"n_laps": key["passes"], "random_state": 0, "n_jobs": 1}
    if key["system"] == "LDA":
        yield TopicModel(n_topics=key["topics"][0], tolerance=None, **shared).fit(train)
        return
    SAVED.mkdir(parents=True, exist_ok=True)
    model: Any = None
    before = 0
    for K in key["topics"]:
        place = SAVED / f"{key['scale']}-{key['passes']}-{K}"
        if place.exists():  # of a run that was cut off
            model = stickbreak.load(place).set_params(scratch=scratch)
        elif not before:
            model = BackoffTreeTopics(branching=shape_of("wide", K).branching, stages=(), scratch=scratch, **shared)
            model.fit(train)
        else:
            model.expand(train, K // before, n_laps=key["passes"])
        model.save(place, overwrite=True)
        yield model
        before = K
    shutil.rmtree(SAVED)


def by_size(records: list[Record], system: str) -> dict[int, float]:
    """Return the perplexities of a system by the number of topics."""
    runs = [r for r in records if r["system"] == system]
    return {K: value for r in runs for K, value in zip(r["topics"], r["perplexity"], strict=True)}


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each size."""
    return [
        {
            "tokens": f"{r['tokens']:,}",
            "system": r["system"],
            "topics": f"{K:,}",
            "perplexity": f"{value:.0f}",
            "processor s, with the sizes before": f"{seconds:.0f}",
            "peak memory of the run, MiB": f"{r['peak']:.0f}",
        }
        for r in records
        for K, value, seconds in zip(r["topics"], r["perplexity"], r["by size"], strict=True)
    ]


def more(records: list[Record]) -> Verdict:
    """Judge whether the largest tree is the best tree, and ahead of LDA."""
    tree, lda = by_size(records, "tree"), by_size(records, "LDA")
    tokens = min(r["tokens"] for r in records)
    text = f"{tokens:,} tokens, trees: {_said(tree)}; LDA: {_said(lda)}"
    largest = tree[max(tree)]
    fine = [largest <= min(tree.values()), largest < min(lda.values())]
    return text, in_all(fine) if tokens >= ENOUGH else None


def far_below(records: list[Record]) -> Verdict:
    """Judge whether the largest tree is 28 % or more below the LDA with most topics."""
    tree, lda = by_size(records, "tree"), by_size(records, "LDA")
    change = tree[max(tree)] / lda[max(lda)] - 1
    tokens = min(r["tokens"] for r in records)
    text = f"{max(tree)} topics: {tree[max(tree)]:.0f}, LDA with {max(lda)}: {lda[max(lda)]:.0f} ({change:+.0%})"
    return text, change <= -0.28 if tokens >= ENOUGH else None


def _said(found: dict[int, float]) -> str:
    return ", ".join(f"{K} {value:.0f}" for K, value in found.items())


STUDY = Study(
    "downey_large", PAPER, QUICK,
    "Generated documents with 200 topics take the place of Wikipedia's links: nothing in them is a tree. The tree is "
    "wide. Perplexity is the unbiased estimate, nothing drawn again.",
    keys, measure, rows,
    (
        Claim("On a hundred million tokens the largest tree predicts best", "Table 4", more,
              "A tenth of the tokens, 24 passes. These documents have 200 topics without a tree, and LDA is ahead."),
        Claim("There a tree of 104,976 topics has a perplexity 28 % or more below that of LDA with 972", "Sec. 5.2",
              far_below, "The same runs. A pass of the tree takes twenty times as long."),
    ),
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
