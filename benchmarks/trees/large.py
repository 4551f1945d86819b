"""A tree of 1,259,712 leaves over 100 million generated tokens of 281,000 types: memory, and seconds of a pass.

Documents have 200 tokens of five leaves, three of them close to each other. The rank of a word follows Zipf's law; a
word is that of the rank, or one of about the same rank that a node above the leaf prefers. Two states are timed: leaves
at random, as a fit without expansion begins, and the leaves that the tokens were made from, as it might end. Lists of
all words are made; then a part of the documents is sampled, one thread, by the processor's clock, and a pass is
extrapolated: documents cost the same, as the words stay what they were at the beginning of a pass.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse

from benchmarks.harness.machine import peak_mebibytes
from benchmarks.harness.tables import table
from benchmarks.trees.passes import ONE, compile_kernels
from stickbreak.backoff_tree.blocks import LEAVES, Blocks
from stickbreak.backoff_tree.passes import sampled
from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.shape import TreeShape, shape_of
from stickbreak.corpus import Corpus
from stickbreak.fitting.shelves import InMemory

# Tokens of a document.
LENGTH = 200
DISCOUNTS = 0.5


def generate(n_tokens: int, n_words: int, shape: TreeShape, seed: int = 0) -> tuple[Corpus, np.ndarray]:
    """Return documents, and the leaves that their tokens were made from, (N,)."""
    rng = np.random.default_rng(seed)
    n_documents = max(1, n_tokens // LENGTH)
    word, leaf = (np.empty(n_documents * LENGTH, np.int32) for _ in range(2))
    zipf = np.cumsum(1.0 / np.arange(1, n_words + 1))
    below = shape.leaves_below
    for first in range(0, n_documents, 5000):
        last = min(first + 5000, n_documents)
        own = rng.integers(shape.n_leaves, size=(last - first, 5))
        near = int(below[-3])
        own[:, :3] = own[:, :1] // near * near + rng.integers(near, size=(last - first, 3))
        z = np.take_along_axis(own, rng.integers(5, size=(last - first, LENGTH)), axis=1).ravel()
        w = words_of(z, zipf, shape, rng).reshape(-1, LENGTH)
        # Equal words stand together.
        order = np.argsort(w, axis=1, kind="stable")
        here = slice(first * LENGTH, last * LENGTH)
        word[here] = np.take_along_axis(w, order, axis=1).ravel()
        leaf[here] = np.take_along_axis(z.reshape(-1, LENGTH), order, axis=1).ravel()
    new = np.append(True, word[1:] != word[:-1])
    new[::LENGTH] = True
    begin = np.flatnonzero(new)
    indptr = np.searchsorted(begin, np.arange(n_documents + 1) * LENGTH)
    count = np.diff(np.append(begin, word.size)).astype(np.int32)
    return Corpus.from_counts(sparse.csr_matrix((count, word[begin], indptr), shape=(n_documents, n_words))), leaf


def words_of(z: np.ndarray, zipf: np.ndarray, shape: TreeShape, rng: np.random.Generator) -> np.ndarray:
    """Draw a word at each leaf."""
    rank = np.searchsorted(zipf, rng.uniform(size=z.size) * zipf[-1])
    level = rng.integers(shape.depth + 1, size=z.size)
    node = (z // shape.leaves_below[level] + 1) * (level + 1)
    # Ranks size - 1 .. 2 size - 2 are alike.
    size = 1 << np.log2(rank + 1).astype(np.int64)
    moved = size - 1 + (rank + node * 0x9E3779B1) % size
    return np.where(level == 0, rank, np.minimum(moved, zipf.size - 1)).astype(np.int32)


def time_part(sampler: TreeSampler, n_tokens: int) -> tuple[int, float]:
    """Sample the first blocks, as a pass does; return their tokens, and processor seconds."""
    task, sizes = sampler._pass(ONE), np.cumsum(sampler.blocks.sizes)
    n_blocks = int(np.searchsorted(sizes, n_tokens)) + 1
    begin = time.process_time()
    for job in sampler.blocks.jobs()[:n_blocks]:
        sampled(task, job)
    return int(sizes[:n_blocks][-1]), time.process_time() - begin


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--tokens", type=int, default=100_000_000)
    parser.add_argument("--words", type=int, default=281_000)
    parser.add_argument("--leaves", type=int, default=1_259_712)
    parser.add_argument("--shape", choices=("wide", "tall"), default="wide")
    parser.add_argument("--part", type=int, default=2_000_000, help="tokens that are sampled")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    compile_kernels()
    shape = shape_of(options.shape, options.leaves)
    corpus, leaf = generate(options.tokens, options.words, shape)
    generated = peak_mebibytes()
    delta = np.full(shape.depth, DISCOUNTS / shape.depth)
    blocks = Blocks(corpus, ONE, InMemory(LEAVES))
    sampler, N = TreeSampler(blocks, shape, delta, delta, 0, at_once=False), blocks.n_tokens
    rows: list[dict[str, object]] = []
    for state in ("random leaves", "leaves of the truth"):
        if state == "random leaves":
            sampler.begin()
        else:
            blocks.put(np.split(leaf, np.cumsum(blocks.sizes)[:-1]))
            sampler.recount()
        begin = time.process_time()
        sampler._pass(ONE)
        lists = time.process_time() - begin
        part, seconds = time_part(sampler, options.part)
        rows.append(
            {
                "state": state,
                "tokens": f"{N:,}",
                "leaves": f"{shape.n_leaves:,}",
                "pairs of word and leaf": f"{sampler.counts(ONE)[0].leaf.size:,}",
                "lists of all words, s": f"{lists:.0f}",
                "tokens sampled": f"{part:,}",
                "tokens a second": f"{part / seconds:,.0f}",
                "a pass, extrapolated, s": f"{lists + seconds * N / part:,.0f}",
                "peak memory, GiB": f"{peak_mebibytes() / 1024:.1f}",
                "of which making the documents": f"{generated / 1024:.1f}",
            }
        )
    return table(rows)
