"""How a collection is cut: turns of a lap, blocks of a turn, shards of a block."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.aside import parted
from stickbreak.collapsed.shards import Aside, Shard, Shares
from stickbreak.corpus import Corpus
from stickbreak.fitting.executor import blocks, shards

TURNS = 16  # of a lap: the counts S are brought up to date after each
BLOCKS = 4  # of a turn, unless they would be too small or too large ...
BLOCK_COUNTS = (1 << 15, 1 << 20)  # ... stored counts: a block is a job, and its shares are a file
SHARD_COUNTS = 4096  # stored counts of a shard: documents that one thread works on


class Rows(NamedTuple):
    """Consecutive documents."""

    first: int
    last: int  # the one after them
    n_counts: int


def blocks_of(corpus: Corpus) -> list[list[Rows]]:
    """Cut documents into turns and these into blocks, by their sizes alone."""
    indptr = corpus.counts.indptr
    sizes = np.diff(indptr).astype(np.int64)
    turns = []
    for low, high in shards(sizes, max(1, int(indptr[-1]) // TURNS)):
        edges = [(low + a, low + b) for a, b in blocks(sizes[low:high], BLOCKS, BLOCK_COUNTS)]
        turns.append([Rows(a, b, int(indptr[b]) - int(indptr[a])) for a, b in edges])
    return turns


def groups_of(n_blocks: int, n_counts: int, at_once: int) -> list[tuple[int, int]]:
    """Put consecutive blocks together to jobs: [(first, the one after the last), ...].

    There are as many jobs as are done at once, or several times as many: together, blocks have about as many
    counts as one may have at most, so that memory follows a block.

    Parameters
    ----------
    n_blocks : int
    n_counts : int
        Stored counts of all.
    at_once : int
        Number of jobs that are done at the same time.
    """
    n_jobs = at_once * max(1, ceil(n_counts / BLOCK_COUNTS[1] / at_once))
    return list(pairwise(np.linspace(0, n_blocks, min(n_blocks, n_jobs) + 1).astype(int).tolist()))


def shards_of(corpus: Corpus, first: int, aside: Aside, held: NDArray[Any] | None = None) -> list[Shard]:
    """Cut the documents of a block into shards, without shares.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    first : int
        The number of the first.
    aside : Aside
    held : ndarray of shape (n,), optional
        The tokens that are held out, where they were drawn before.
    """
    found, end = [], 0
    for low, high in edges_of(corpus):
        indptr, word, count = counts_of(corpus, low, high)
        begin, end = end, end + word.size
        drawn = None if held is None else held[begin:end].astype(np.float64)
        kept, own, apart = parted(count, indptr, first + low, aside, drawn)
        found.append(Shard(first + low, indptr, word, kept, Shares.none(word.size), own, apart))
    return found


def edges_of(corpus: Corpus) -> list[tuple[int, int]]:
    """Return the first document of each shard of a block, and the one after its last."""
    return shards(np.diff(corpus.counts.indptr).astype(np.int64), SHARD_COUNTS)


def counts_of(corpus: Corpus, low: int, high: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return the stored counts of consecutive documents: where each begins, words and numbers."""
    counts = corpus.counts
    indptr = counts.indptr[low : high + 1].astype(np.int64)
    part = slice(int(indptr[0]), int(indptr[-1]))
    return indptr - indptr[0], counts.indices[part].astype(np.int32), counts.data[part].astype(np.float64)
