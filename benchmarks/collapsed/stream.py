"""A stream of generated documents through collapsed inference beside its batch form, with the memory on the way."""

from __future__ import annotations

import argparse
import resource
import sys
import time

from benchmarks.collapsed.fits import fit_of
from benchmarks.harness.tables import table
from stickbreak.corpus import planted_lda
from stickbreak.evaluation import document_completion

BATCH_SIZE = 1000


def stream(n_tokens: int, n_topics: int) -> list[dict[str, object]]:
    """Return what a stream and the batch form reach on generated documents, and the memory as the stream goes."""
    documents, _ = planted_lda(n_tokens // 100 + 1000, 5000, n_topics=50, mean_tokens=100, seed=0)
    held, train = documents[:1000], documents[1000:]
    halves = held.halves(seed=0)
    model = fit_of(n_topics=n_topics, total_documents=train.n_documents)
    rows: list[dict[str, object]] = []
    began = time.process_time()

    def note(form: str) -> None:
        rows.append(
            {
                "form": form,
                "documents": model.n_documents_seen_,
                "completion": f"{document_completion(model, *halves).active:.4f}",
                "K": model.n_topics_,
                "processor seconds": f"{time.process_time() - began:.1f}",
                "MiB of the process, at most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            }
        )
        # It takes a while.
        sys.stderr.write(f"{rows[-1]}\n")

    for first in range(0, train.n_documents, BATCH_SIZE):
        model.partial_fit(train[first : first + BATCH_SIZE])
        if (first // BATCH_SIZE) % max(1, train.n_documents // BATCH_SIZE // 5) == 0:
            note("stream")
    note("stream")
    began = time.process_time()
    model = fit_of(n_topics=n_topics, n_laps=40, merge_laps=30).fit(train)
    note("batch, 40 passes")
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--tokens", type=int, default=10_000_000)
    parser.add_argument("--topics", type=int, default=100, help="K at the start")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table(stream(options.tokens, options.topics))
