"""Shares in files, one for each block of documents, worked on by jobs: memory follows a block, not the collection.

A job reads the documents of some blocks and their shares, and writes new shares to new files. No file is ever changed,
so a job that is done twice reads the same and writes the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed import aside as left_aside
from stickbreak.collapsed.cutting import blocks_of, groups_of, shards_of
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.packing import PART_ENTRIES, Entries, packed_shares, unpacked_shares
from stickbreak.collapsed.shards import Aside, Shard, joined
from stickbreak.collapsed.walking import Count, Found, Outcome, Work, keep, keep_apart
from stickbreak.corpus import Corpus
from stickbreak.corpus.sources import Source
from stickbreak.fitting.block_files import File, Folder, remove, write
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int
from stickbreak.storage.memory import give_back

JOBS_AT_ONCE = 32  # whose results are in memory at a time
IN_MEMORY = 1 << 20  # stored counts up to which a sample stays in memory: it is soon gone
MOST_PARTS = 16  # of a table of changes

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Task:
    """What all jobs of a walk share."""

    work: Work
    given: Any
    aside: Aside
    count: Count | None
    shape: tuple[int, int]  # of the tables that are counted into
    whole: bool = False  # whether work is done with the block as one shard


@dataclass(frozen=True, slots=True)
class Job:
    """A block: where its documents and shares are, and how its new files are named."""

    documents: Source
    first: int  # number of the first document
    shares: File | None
    half: File | None
    held: File | None  # tokens of each count that are held out; None: they are yet to be drawn, or there are none
    new: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a job returns."""

    sums: tuple[Array, ...]
    listed: list[Any]
    shares: File | None
    half: File | None
    held: File | None


@dataclass(frozen=True, slots=True)
class Block:
    """A block whose work is done: its shards, and what is found in each, or in all of them as one."""

    job: Job
    shards: list[Shard]
    found: Found
    made: list[tuple[Shard, Outcome]]


def done(task: Task, jobs: Sequence[Job]) -> tuple[list[Result], Entries | None]:
    """Do the work of a walk with some blocks; return what it finds in each, and what all of them change in the counts.

    One list of changes for several blocks is shorter than theirs together, and made, sent and added in less time.
    """
    blocks = [_worked(task, job) for job in jobs]
    made = [each for block in blocks for each in block.made]
    counts = None if task.count is None else change_of_counts(task.count, task.shape, made)
    return [_kept(task, block) for block in blocks], counts


def _worked(task: Task, job: Job) -> Block:
    """Do the work with a block."""
    held = None if job.held is None else job.held.read()
    shards = shards_of(job.documents.load(), job.first, task.aside, held)
    _load(shards, job)
    found, made = Found(), []
    for shard in [joined(shards)] if task.whole else shards:
        outcome = task.work(task.given, shard)
        found.add(outcome.sums, outcome.listed)
        made.append((shard, replace(outcome, sums=(), listed=[])))
    return Block(job, shards, found, made)


def _kept(task: Task, block: Block) -> Result:
    """Write new files for what is new of a block; return where they are, and what was found."""
    job, shards, made = block.job, block.shards, block.made
    if task.whole:
        keep_apart(shards, made[0][1])
    else:
        for shard, outcome in made:
            keep(shard, outcome)
    new_shares = any(outcome.shares is not None for _, outcome in made)
    new_half = any(outcome.half is not None for _, outcome in made)
    new_held = task.aside.held and job.held is None
    return Result(
        block.found.sums,
        block.found.listed,
        write(f"{job.new}.shares", packed_shares(shards)) if new_shares else job.shares,
        write(f"{job.new}.half", np.concatenate([shard.half for shard in shards])) if new_half else job.half,
        write(f"{job.new}.held", _held_out(shards)) if new_held else job.held,
    )


def changes(parts: Sequence[Entries | None]) -> Entries | None:
    """Return what several blocks change in the counts."""
    there = [part for part in parts if part is not None]
    return Entries.total(there) if there else None


def change_of_counts(count: Count, shape: tuple[int, int], made: Sequence[tuple[Shard, Outcome]]) -> Entries:
    """Return what blocks change in a table of counts (W, K): rows of their own words, some of them at a time."""
    occurs = np.zeros(shape[0], np.bool_)
    for shard, _ in made:
        occurs[shard.word] = True
    words, (n_words, K) = np.flatnonzero(occurs).astype(np.int32), shape
    number = np.zeros(n_words, np.int32)  # of each of these words among them
    number[words] = np.arange(words.size, dtype=np.int32)
    own = [(replace(shard, word=number[shard.word]), outcome) for shard, outcome in made]
    at_once = min(max(1, PART_ENTRIES // K, words.size // MOST_PARTS + 1), words.size)

    def parts() -> Iterator[Float]:
        table, N = np.zeros((at_once, K)), np.zeros(K)
        for first in range(0, words.size, max(at_once, 1)):
            for shard, outcome in own:
                count(shard, outcome, 0, at_once, table, N)
                shard.word -= at_once  # those of the next part, from 0
            yield table[: words.size - first]
            table[:] = 0.0

    return Entries.of_parts(n_words, words, K, parts())


def _table_of_changes(into: tuple[Float, Float] | None, apart: bool) -> Float | None:
    """Return what changes are added to: the counts, or a table apart where later jobs still read the counts."""
    if into is None:
        return None
    return np.zeros_like(into[0]) if apart else into[0]


def _held_out(shards: Sequence[Shard]) -> Array:
    """Return the tokens of each count that are held out, in few bytes: to draw them takes longer than to read them."""
    held = np.concatenate([np.zeros(0), *(shard.held for shard in shards if shard.held is not None)])
    return held.astype(np.min_scalar_type(int(held.max(initial=0.0))))


def _load(shards: Sequence[Shard], job: Job) -> None:
    """Give shards what the files of their block hold."""
    if job.shares is not None:
        found = unpacked_shares(job.shares.read(), [shard.word.size for shard in shards])
        for shard, shares in zip(shards, found, strict=True):
            shard.shares = shares
    if job.half is not None:
        half, ends = job.half.read(), accumulate(shard.shares.topic.size for shard in shards)
        for shard, end in zip(shards, ends, strict=True):
            shard.half = half[end - shard.shares.topic.size : end]


class InFiles:
    """All documents with their shares: `Documents` of a fit that is larger than memory, or on many machines.

    Parameters
    ----------
    corpus : Corpus
    engine : Engine
        Names the documents as its jobs load them.
    folder : Folder
        Seen by all its workers.
    """

    def __init__(self, corpus: Corpus, engine: Engine, folder: Folder) -> None:
        self.aside, self._corpus, self._folder = Aside(), corpus, folder
        self.n_documents, self.n_words, self.n_counts = corpus.n_documents, corpus.n_words, int(corpus.counts.nnz)
        turns, source = blocks_of(corpus), engine.source(corpus)
        self.n_turns, rows = len(turns), list(chain.from_iterable(turns))
        self._sizes = [block.n_counts for block in rows]
        self._jobs = [Job(source.part(slice(b.first, b.last)), b.first, None, None, None, "") for b in rows]
        ends = list(accumulate(map(len, turns)))
        self._turns = [range(end - len(turn), end) for end, turn in zip(ends, turns, strict=True)]
        self._kept: list[File] | None = None
        self._lengths: Float | None = None

    def walk(
        self,
        engine: Engine,
        work: Work,
        given: Any = None,
        *,
        turns: range | None = None,
        whole: bool = False,
        count: Count | None = None,
        into: tuple[Float, Float] | None = None,
        at_once: int | None = None,
    ) -> Found:
        """Do work with every shard, some blocks in each job."""
        shape = (0, 0) if into is None else (into[0].shape[0], into[0].shape[1])
        task, found, numbers = Task(work, given, self.aside, count, shape, whole), Found(), range(len(self._jobs))
        if turns:
            numbers = range(self._turns[turns[0]].start, self._turns[turns[-1]].stop)
        n_jobs = engine.at_once(JOBS_AT_ONCE)
        change = _table_of_changes(into, len(numbers) > n_jobs)
        for first in range(0, len(numbers), n_jobs):
            own = numbers[first : first + n_jobs]
            stem = f"{self._folder.path}/{self._folder.next()}"
            jobs = [replace(self._jobs[number], new=f"{stem}-{number}") for number in own]
            groups = groups_of(len(own), sum(self._sizes[number] for number in own), engine.n_at_once)
            several, counts = engine.run_summed(done, [jobs[a:b] for a, b in groups], task, changes)
            for entries in counts:
                if change is not None and entries is not None:
                    entries.add_to(change)
            for number, result in zip(own, chain.from_iterable(several), strict=True):
                found.add(result.sums, result.listed)
                self._replace(number, result.shares, result.half, result.held)
        if into is not None and change is not None:
            if change is not into[0]:
                into[0][:] += change
            into[1][:] = into[0].sum(axis=0)
        return found

    def _replace(self, number: int, shares: File | None, half: File | None, held: File | None) -> None:
        """Note the files of a block, and remove those in whose place they are."""
        old = self._jobs[number]
        self._jobs[number] = replace(old, shares=shares, half=half, held=held)
        if shares != old.shares and (self._kept is None or self._kept[number] != old.shares):
            remove(old.shares)
        for file, before in ((half, old.half), (held, old.held)):
            if file != before:
                remove(before)

    def set_aside(self, aside: Aside, engine: Engine) -> None:
        """Leave these tokens aside: the next jobs draw them, and those after them read them."""
        self.aside, self._lengths = aside, None
        for number, job in enumerate(self._jobs):
            self._replace(number, job.shares, job.half, None)

    def lengths(self, engine: Engine) -> Float:
        """Return the tokens of each document that take part, (D,)."""
        if self._lengths is None:
            self._lengths = np.concatenate(self.walk(engine, left_aside.lengths).listed)
        return self._lengths

    def end_halves(self) -> None:
        """Remove the halves of topics."""
        for number, job in enumerate(self._jobs):
            self._replace(number, job.shares, None, job.held)

    def remember(self) -> None:
        """Keep the files of these shares."""
        self._kept = self._now()

    def exchange(self) -> None:
        """Take up the shares that are kept, and keep these."""
        assert self._kept is not None
        now = self._now()
        self._jobs = [replace(job, shares=file) for job, file in zip(self._jobs, self._kept, strict=True)]
        self._kept = now

    def forget(self) -> None:
        """Remove the files of the shares that are kept."""
        kept, self._kept = self._kept or [], None
        for job, file in zip(self._jobs, kept, strict=False):
            if job.shares != file:
                remove(file)

    def _now(self) -> list[File]:
        """Return the files of the shares."""
        return [job.shares for job in self._jobs if job.shares is not None]

    def chosen(self, rows: Int) -> Corpus:
        """Return the counts of some of the documents."""
        return self._corpus[rows]

    def sample(self, rows: Int, engine: Engine) -> InFiles | InMemory:
        """Return some of the documents, without shares; in memory if they are few."""
        corpus = self.chosen(rows)
        if corpus.counts.nnz < IN_MEMORY:
            return InMemory(corpus)
        return InFiles(corpus, engine, Folder(Path(self._folder.path).parent))

    def twin(self) -> Self:
        """Return the same documents without shares, with the same tokens left aside."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, _kept=None, _lengths=None)
        other._jobs = [replace(job, shares=None, half=None, held=None) for job in self._jobs]
        return other

    def take(self, twin: Self) -> None:
        """Take the shares of a twin."""
        for number, job in enumerate(twin._jobs):
            self._replace(number, job.shares, None, self._jobs[number].held)
            remove(job.held)

    def clear(self) -> None:
        """Remove all shares."""
        self.forget()
        for number in range(len(self._jobs)):
            self._replace(number, None, None, None)

    def packed(self) -> dict[str, Array]:
        """Return the shares of each block as an array that is read when it is used, and those that are kept."""
        files = {f"shares.{number}": file for number, file in enumerate(self._now())}
        files |= {f"kept.{number}": file for number, file in enumerate(self._kept or [])}
        return {name: file.read(mapped=True) for name, file in files.items()}

    def restore(self, arrays: Mapping[str, Array], n_topics: int) -> None:
        """Take up what `packed` returned."""
        if "kept.0" in arrays:
            self._restore("kept", arrays, n_topics)
            self.remember()
        self._restore("shares", arrays, n_topics)

    def _restore(self, name: str, arrays: Mapping[str, Array], n_topics: int) -> None:
        stem = f"{self._folder.path}/{self._folder.next()}"
        for number, size in enumerate(self._sizes):
            content = arrays[f"{name}.{number}"]
            unpacked_shares(content, [size], n_topics)  # refuses what cannot be
            self._replace(number, write(f"{stem}-{number}.shares", np.asarray(content)), None, None)
            give_back(content)
