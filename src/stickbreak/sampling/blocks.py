"""Blocks of documents whose topics are in files, worked on by jobs: memory follows a block, not the collection.

A job reads the documents of a block and the topics of their tokens, and writes new ones to a new file. No file is ever
changed, so a job that is done twice reads the same and writes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import refuse_fractions, written_out
from stickbreak.fitting.block_files import File, Folder, write
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import blocks
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.sampling.counts import packed
from stickbreak.sampling.joint import TablePairs
from stickbreak.sampling.kernels import cells as cell_kernels
from stickbreak.sampling.kernels import counts as count_kernels
from stickbreak.sampling.state import DocumentTopics

BLOCKS = 64  # of a collection, unless they would be too small or too large ...
BLOCK_TOKENS = (1 << 15, 1 << 20)  # ... tokens
JOBS_AT_ONCE = 16  # whose results are in memory at a time


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive documents, as a job names them."""

    source: Source
    first: int  # number of its first document ...
    last: int  # ... and of the one after its last
    token: int  # number of its first token ...
    end: int  # ... and of the one after its last


class Blocks:
    """The documents of chains whose topics are in files.

    Parameters
    ----------
    corpus : Corpus
    engine : Engine
        Does the jobs.
    folder : Folder
        Seen by all its workers.

    Raises
    ------
    InvalidCorpus
        If a count is not a whole number.
    """

    def __init__(self, corpus: Corpus, engine: Engine, folder: Folder) -> None:
        refuse_fractions(corpus)
        self.engine, self.folder, self.source = engine, folder, engine.source(corpus)
        self.n_words, self.n_documents = corpus.n_words, corpus.n_documents
        self.lengths: Int = corpus.document_lengths.astype(np.int64)
        start = np.concatenate(([0], np.cumsum(self.lengths)))
        self.n_tokens = int(start[-1])
        self.blocks = [
            Block(self.source.part(slice(a, b)), a, b, int(start[a]), int(start[b]))
            for a, b in blocks(self.lengths, BLOCKS, BLOCK_TOKENS)
        ]

    def stem(self) -> str:
        """Return how the names of new files begin."""
        return f"{self.folder.path}/{self.folder.next()}"


@dataclass(frozen=True, slots=True)
class Labels:
    """What became of the numbers of topics since the files were written: old ones, and of topics that were new then."""

    n_old: int  # numbers 0 .. n_old - 1 stand for themselves ..
    new: Int32  # .. above come these, ascending
    label: Int32  # (n_old + new.size,)

    @classmethod
    def none(cls, n_topics: int) -> Self:
        """Return those of topics that are as they were written."""
        return cls(n_topics, np.zeros(0, np.int32), np.arange(n_topics, dtype=np.int32))

    def of(self, z: Int32) -> Int32:
        """Return the topics of today."""
        return self.label[compact(z, self.n_old, self.new)]

    def then(self, label: Int32) -> Labels:
        """Return what became of them when numbers have changed once more."""
        return Labels(self.n_old, self.new, label[self.label])


def compact(z: Int32, n_old: int, new: Int32) -> Int32:
    """Return the numbers of topics without gaps: n_old, n_old + 1, .. for those that are new."""
    above = z >= n_old
    if not above.any():
        return z
    out = z.copy()
    out[above] = n_old + np.searchsorted(new, z[above])
    return out


@dataclass(frozen=True, slots=True)
class Moved:
    """Tokens whose topic has changed since the files were written."""

    token: Int  # numbers, ascending
    topic: int

    def within(self, block: Block) -> Int:
        """Return the tokens of a block, counted from its first."""
        a, b = np.searchsorted(self.token, (block.token, block.end))
        return self.token[a:b] - block.token


@dataclass(slots=True)
class Opened:
    """A block at work: its tokens, and their topics."""

    first: int  # number of the first document
    token: int  # number of the first token
    n_words: int
    start: Int
    word: Int32
    z: Int32
    m: Int32  # tables of the topics of each document, topics ascending; empty before they are drawn

    def no_documents(self) -> DocumentTopics:
        """Return the arrays for documents without topics."""
        return DocumentTopics(np.zeros(self.start.size - 1, np.int32), *np.zeros((3, self.z.size), np.int32))

    def documents(self, n_topics: int) -> DocumentTopics:
        """Return the topics of the documents, with tables where there are some."""
        found = self.no_documents()
        count_kernels.count_tokens(self.start, self.z, np.zeros(n_topics, np.int64), found)
        if self.m.size:
            place = packed(self.start, found.size, np.arange(self.z.size, dtype=np.int32))
            found.m[place] = self.m
        return found


@dataclass(frozen=True, slots=True)
class Counted:
    """What a block adds to the counts; topics 0 .. K - 1 as before the work, then those that are new."""

    new: Int32  # numbers of new topics, ascending
    cells: Int32  # (3, C)  word, topic, tokens
    n: Int
    m: Int
    pairs: TablePairs

    @classmethod
    def of(cls, opened: Opened, documents: DocumentTopics, n_topics: int) -> Self:
        """Count a block."""
        start, z, size = opened.start, opened.z, documents.size
        new = np.unique(z[z >= n_topics])
        topic, m = (packed(start, size, x) for x in (documents.topic, documents.m))
        z, topic = (compact(x, n_topics, new) for x in (z, topic))
        n_numbers, cells = n_topics + new.size, np.empty((3, z.size), np.int32)
        n_cells = cell_kernels.list_cells(opened.word, z, opened.n_words, n_numbers, cells)
        m_k = np.bincount(topic, weights=m, minlength=n_numbers).astype(np.int64)
        pairs = TablePairs.of_documents(start, documents)
        return cls(new, cells[:, :n_cells].copy(), np.bincount(z, minlength=n_numbers), m_k, pairs)


@dataclass(slots=True)
class Outcome:
    """What work on a block comes to."""

    found: Any
    z: Int32 | None = None  # in the place of the old
    m: Int32 | None = None


Work = Callable[[Any, Opened], Outcome]


@dataclass(frozen=True, slots=True)
class Task:
    """What all jobs of a visit share."""

    work: Work
    given: Any
    labels: Labels
    topic: int  # of the tokens that have moved


@dataclass(frozen=True, slots=True)
class Job:
    """A block: where its documents and topics are, and how its new file is named."""

    block: Block
    file: File | None  # None: there are no topics yet
    moved: Int | None  # tokens, counted from the first of the block
    new: str


def done(task: Task, job: Job) -> tuple[Any, File | None]:
    """Do the work of a visit with a block; return what is found, and the file of the topics."""
    block, corpus = job.block, job.block.source.load()
    start, word = written_out(corpus)
    stored = np.zeros(word.size, np.int32) if job.file is None else job.file.read()
    z, m = task.labels.of(stored[: word.size]), stored[word.size :]
    if job.moved is not None:
        z = z.copy()
        z[job.moved], m = task.topic, m[:0]
    outcome = task.work(task.given, Opened(block.first, block.token, corpus.n_words, start, word, z, m))
    if outcome.z is not None:
        new = outcome.z if outcome.m is None else np.concatenate((outcome.z, outcome.m))
        return outcome.found, write(job.new, new)
    if job.moved is not None:
        return outcome.found, write(job.new, np.concatenate((z, m)))
    return outcome.found, job.file


def moved_of(moved: Moved | None, blocks: Sequence[Block]) -> list[NDArray[np.int64] | None]:
    """Return the moved tokens of each block."""
    return [None if moved is None else moved.within(block) for block in blocks]
