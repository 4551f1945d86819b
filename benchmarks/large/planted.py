"""A planted collection of the size of the New York Times corpus, written to a corpus folder in bounded memory.

1.8 million documents over 8,000 words from 200 topics. A topic has its own order of the words, with probabilities by
Zipf's law. A document has one to five topics (drawn by shares that fall from the first to the last topic to a fifth),
with uniform weights, and about 170 tokens. The number of its block keys its random numbers, so that a smaller scale is
a beginning of the whole.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.harness.machine import PeakMemory
from benchmarks.harness.tables import table
from stickbreak.corpus.folder import corpus_writer

DOCUMENTS, WORDS, TOPICS = 1_800_000, 8_000, 200
MEAN_TOKENS, SPREAD = 170.0, 0.5
MOST_TOPICS = 5  # of a document
ZIPF_OFFSET = 2.7
BLOCK = 5_000  # documents that are drawn at once
TRUTH = "truth.npz"  # in the folder of the corpus


def planted_topics(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the order of the words of each topic (K, W), the probabilities of ranks (W,), the topics' shares (K,)."""
    rng = np.random.default_rng([seed, 0])
    order = np.stack([rng.permutation(WORDS) for _ in range(TOPICS)])
    zipf = 1.0 / (np.arange(WORDS) + ZIPF_OFFSET)
    shares = np.linspace(5.0, 1.0, TOPICS)
    return order, zipf / zipf.sum(), shares / shares.sum()


def draw_block(number: int, n_documents: int, seed: int = 0) -> sp.csr_matrix:
    """Return the documents of a block; its number and the seed are all that they depend on."""
    order, zipf, shares = planted_topics(seed)
    rng = np.random.default_rng([seed, 1, number])
    lengths = np.maximum(5, rng.lognormal(np.log(MEAN_TOKENS) - SPREAD**2 / 2, SPREAD, BLOCK)).astype(np.int64)
    topics = rng.choice(TOPICS, size=(BLOCK, MOST_TOPICS), p=shares)
    weights = rng.exponential(size=(BLOCK, MOST_TOPICS))
    weights[np.arange(MOST_TOPICS) >= rng.integers(1, MOST_TOPICS + 1, BLOCK)[:, None]] = 0
    ends = np.cumsum(weights, axis=1)
    ends /= ends[:, -1:]
    document = np.repeat(np.arange(BLOCK), lengths)
    place = (rng.random(document.size)[:, None] >= ends[document]).sum(axis=1)
    rank = np.searchsorted(np.cumsum(zipf), rng.random(document.size)).clip(max=WORDS - 1)
    word = order[topics[document, place], rank]
    counts = sp.coo_matrix((np.ones(word.size, np.int32), (document, word)), shape=(BLOCK, WORDS)).tocsr()
    return counts[:n_documents]


def generate(folder: Path, scale: float, seed: int = 0) -> int:
    """Write the collection; return its number of pairs of document and word."""
    n_documents = max(1, round(DOCUMENTS * scale))
    vocabulary = [f"w{word:04d}" for word in range(WORDS)]
    most, n_entries = int(2 * MEAN_TOKENS * n_documents) + 1_000, 0
    with corpus_writer(folder, WORDS, vocabulary=vocabulary, most_entries=most) as writer:
        for first in range(0, n_documents, BLOCK):
            counts = draw_block(first // BLOCK, min(BLOCK, n_documents - first), seed)
            writer.add(counts)
            n_entries += counts.nnz
    order, zipf, shares = planted_topics(seed)
    np.savez(folder / TRUTH, order=order, zipf=zipf, shares=shares)
    return n_entries


def true_topics(folder: Path) -> np.ndarray | None:
    """Return the word distributions that a corpus was drawn from, (K, W); None if it was not drawn here."""
    if not (folder / TRUTH).is_file():
        return None
    with np.load(folder / TRUTH) as truth:
        order, zipf = truth["order"], truth["zipf"]
    topics = np.empty(order.shape)
    np.put_along_axis(topics, order, np.broadcast_to(zipf, order.shape), axis=1)
    return topics


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--scale", type=float, default=1.0, help="share of the documents, such as 0.01")
    parser.add_argument("--folder", type=Path, default=Path("benchmarks/results/planted"), help="the corpus folder")


def run(options: argparse.Namespace) -> str:
    """Write the collection; return what it is and what it took."""
    options.folder.parent.mkdir(parents=True, exist_ok=True)
    peak, began = PeakMemory(), time.perf_counter()
    n_entries = generate(options.folder, options.scale)
    seconds = time.perf_counter() - began
    peak.end()
    row = {
        "documents": f"{max(1, round(DOCUMENTS * options.scale)):,}",
        "words": f"{WORDS:,}",
        "topics": TOPICS,
        "pairs": f"{n_entries:,}",
        "seconds": f"{seconds:.0f}",
        "peak memory, MiB": f"{peak.mebibytes:.0f}",
        "folder, MiB": f"{sum(file.stat().st_size for file in options.folder.iterdir()) / 2**20:.0f}",
    }
    return table([row])
