"""A long stream of generated documents of 30,000 words through `HybridHDP.partial_fit`, by tenths.

The table has the rate and the resident memory (Linux only).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks.harness.tables import table
from stickbreak import HybridHDP
from stickbreak.corpus import Corpus


def resident() -> float:
    """Return the resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def generated(n_words: int, n_documents: int, seed: int) -> Iterator[Corpus]:
    """Yield minibatches without end: 150 tokens a document, of three out of 50 topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.05), 50)
    edges = np.cumsum(topics, axis=1)
    while True:
        rows, words = [], []
        for d in range(n_documents):
            for k in rng.choice(50, 3, replace=False):
                found = np.searchsorted(edges[k], rng.random(50))
                words.append(np.minimum(found, n_words - 1))
                rows.append(np.full(50, d))
        pairs = np.concatenate(rows), np.concatenate(words)
        ones = np.ones(pairs[0].size, dtype=np.int64)
        yield Corpus.from_counts(sp.coo_matrix((ones, pairs), shape=(n_documents, n_words)).tocsr())


def stream(n_topics: int, n_tokens: int) -> list[dict[str, object]]:
    """Return the rows of a stream, a tenth each."""
    n_documents = 200
    per_step = n_documents * 150
    model = HybridHDP(
        n_topics=n_topics,
        alpha=5.0,
        eta=0.02,
        init="random",
        total_documents=n_tokens // 150 + n_documents,
        random_state=0,
    )
    minibatches = generated(30_000, n_documents, 0)
    rows: list[dict[str, object]] = []
    for tenth in range(1, 11):
        seconds = 0.0
        for _ in range(n_tokens // per_step // 10):
            minibatch = next(minibatches)
            began = time.process_time()
            model.partial_fit(minibatch)
            seconds += time.process_time() - began
        done = n_tokens // per_step // 10 * per_step
        rows.append(
            {
                "K": n_topics,
                "tokens so far": f"{tenth * done:,}",
                "tokens a second": f"{done / seconds:,.0f}",
                "memory, MiB": f"{resident():.0f}",
                "predictive, nats": f"{model.objective_:.3f}",
                "topics": model.n_topics_,
            }
        )
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--tokens", type=int, default=10_000_000)


@threadpool_limits.wrap(limits=1, user_api="blas")
def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table([row for n_topics in options.topics for row in stream(n_topics, options.tokens)])
