"""Seconds of a pass by the number of leaves: trees from random leaves and through expansion, beside tomotopy's LDA.

Each fit makes ten passes, discounts learned; a pass counts by the processor's clock, one thread. Through expansion a
tree begins with few levels and makes ten passes with each further one, so that the row of a size is a part of one fit.
tomotopy's LDAModel (SparseLDA's class of samplers) does ten passes with each number of topics that it can do.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.harness.corpora import load_split
from benchmarks.harness.peers import add_documents
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from stickbreak.backoff_tree.document_blocks import DocumentBlocks, leaves_in
from stickbreak.backoff_tree.laps import TreeLaps, TreeSettings
from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.shape import TreeShape, shape_of
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import Engine

ONE = Engine(1)
# Their sums along a path, to begin with: of documents, of words.
DISCOUNTS = (0.9, 0.5)


def laps_of(corpus: Corpus, shape: TreeShape, stages: tuple[int, ...], n_passes: int, seed: int) -> TreeLaps:
    """Return a fit before its first pass."""
    deltas = (np.full(shape.depth, total / shape.depth) for total in DISCOUNTS)
    settings = TreeSettings(shape, *deltas, stages=stages, stage_sweeps=n_passes, learn=("alpha", "eta"))
    work = TreeLaps(DocumentBlocks(corpus, ONE, leaves_in(None)), settings, seed, ONE)
    work.sampler.begin()
    return work


def passes(work: TreeLaps) -> Iterator[tuple[float, TreeSampler]]:
    """Yield processor seconds of each pass, and the sampler after it."""
    laps = work.laps(0)
    while True:
        begin = time.process_time()
        next(laps)
        yield time.process_time() - begin, work.sampler


def compile_kernels() -> None:
    """Make some passes over a tiny collection: compilation is not on the clock."""
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    laps = passes(laps_of(tiny, TreeShape((2, 2, 2)), (2,), 3, 0))
    for _ in range(8):
        next(laps)


def measure(key: Record) -> Record:
    """Make the passes of one system; return seconds of each, by the number of leaves."""
    corpus = load_split(key["corpus"]).train
    if key["system"] == "tomotopy LDA":
        model = lda(corpus, key["leaves"], key["seed"])
        seconds = [processor_seconds(partial(model.train, 1, workers=1)) for _ in range(key["passes"])]
        return {"rows": [[key["leaves"], seconds, None]]}
    compile_kernels()
    shape = shape_of(key["shape"], key["leaves"])
    stages = levels_near(shape, key["stops"]) if key["system"] == "expansion" else ()
    rows: dict[int, list] = {}
    laps = passes(laps_of(corpus, shape, stages, key["passes"], key["seed"]))
    for _ in range(key["passes"] * (len(stages) + 1)):
        seconds, sampler = next(laps)
        row = rows.setdefault(sampler.shape.n_leaves, [sampler.shape.n_leaves, [], None])
        row[1].append(seconds)
        row[2] = sampler.counts(ONE)[0].leaf.size
    return {"rows": list(rows.values())}


def lda(corpus: Corpus, n_topics: int, seed: int):
    """Return tomotopy's LDA with the documents in it, before its first pass."""
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, alpha=5.0 / n_topics, eta=0.01, seed=seed)
    add_documents(model, corpus)
    return model


def levels_near(shape: TreeShape, stops: list[int]) -> tuple[int, ...]:
    """Return the levels at which a tree has about these numbers of leaves: stages of an expansion."""
    leaves = shape.n_leaves // shape.leaves_below
    chosen = {int(np.abs(np.log(leaves[1:-1] / stop)).argmin()) + 1 for stop in stops if stop < shape.n_leaves}
    return tuple(sorted(chosen))


def rows_of(record: Record) -> list[Record]:
    """Return rows of the table."""
    out = []
    for leaves, seconds, entries in record["rows"]:
        out.append(
            {
                "corpus": record["corpus"],
                "system": record["system"],
                "shape": record.get("shape", ""),
                "topics": f"{leaves:,}",
                "first pass, s": f"{seconds[0]:.1f}",
                "mean pass, s": f"{np.mean(seconds):.2f}",
                "last pass, s": f"{seconds[-1]:.2f}",
                "pairs of word and leaf": "" if entries is None else f"{entries:,}",
            }
        )
    return out


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["reuters21578"])
    parser.add_argument("--leaves", nargs="+", type=int, default=[18, 108, 972, 8748, 104_976, 1_259_712])
    parser.add_argument("--shapes", nargs="+", choices=("wide", "tall"), default=["wide", "tall"])
    parser.add_argument("--lda", nargs="*", type=int, default=[18, 108, 972, 8748])
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/tree_passes.jsonl"), help="runs done")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    keys: list[Record] = []
    for name in options.splits:
        common = {"corpus": name, "passes": options.passes, "seed": 0}
        for shape in options.shapes:
            keys += [{**common, "system": "random start", "shape": shape, "leaves": n} for n in options.leaves]
            most = max(options.leaves)
            keys.append({**common, "system": "expansion", "shape": shape, "leaves": most, "stops": options.leaves})
        keys += [{**common, "system": "tomotopy LDA", "leaves": n} for n in options.lda]
    records = Records(options.out).run(measure, keys)
    return table([row for record in records for row in rows_of(record)])
