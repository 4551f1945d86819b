"""Peak memory of a fit with many topics, words and batches, in a process of its own.

Documents are drawn from planted topics (stickbreak.corpus.planted_lda) and written as a corpus folder first, so that
neither drawing them nor their counts in memory hide what the fit needs: the peak is that of the process which opens the
folder memory-mapped and fits it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.harness.machine import peak_mebibytes
from benchmarks.harness.processes import apart
from benchmarks.harness.tables import table
from stickbreak import VariationalHDP
from stickbreak.corpus import open_corpus, planted_lda, write_corpus


def fit(folder: Path, options: argparse.Namespace) -> dict[str, object]:
    """Fit the documents of a folder; return a row of the table."""
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    # Compiles.
    VariationalHDP(n_topics=5, n_laps=2, n_batches=2, init=options.init, random_state=0).fit(tiny)
    corpus = open_corpus(folder)
    before = peak_mebibytes()
    model = VariationalHDP(
        n_topics=options.topics,
        learn=(),
        n_laps=options.laps,
        n_batches=options.batches,
        tolerance=0.0,
        init=options.init,
        init_sweeps=options.sweeps,
        random_state=0,
        n_jobs=options.jobs,
    )
    begin = time.process_time()
    model.fit(corpus)
    processor = time.process_time() - begin
    seconds = model.trace_["seconds"]
    return {
        "D": corpus.n_documents,
        "W": corpus.n_words,
        "K": options.topics,
        "batches": options.batches,
        "start": options.init,
        "counts stored": corpus.counts.nnz,
        "peak before the fit, MiB": f"{before:.0f}",
        "peak, MiB": f"{peak_mebibytes():.0f}",
        "first pass, s": f"{seconds[0]:.1f}",
        "later passes, s": f"{np.median(seconds[1:]):.1f}" if seconds.size > 1 else "",
        "processor, s in all": f"{processor:.0f}",
        "objective": f"{model.objective_:.6f}",
    }


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--tokens", type=float, default=150.0, help="mean tokens of a document")
    parser.add_argument("--planted", type=int, default=100, help="topics that the documents are drawn from")
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--laps", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--init", default="near-uniform")
    parser.add_argument("--sweeps", type=int, default=20, help="sweeps of the start by LDA")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    corpus, _ = planted_lda(
        options.documents,
        options.words,
        n_topics=options.planted,
        alpha=0.05,
        eta=0.02,
        mean_tokens=options.tokens,
        seed=0,
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "documents"
        write_corpus(corpus, folder)
        return table([apart(fit, folder, options)])
