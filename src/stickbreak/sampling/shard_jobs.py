"""Shards of one chain as jobs: a pass over some documents on a worker, with their part of the state.

A job is given the counts of all documents as they were at the beginning of the pass, which all jobs share, and the
state of its own documents. It returns that state, and what it left of the topics. The state travels without gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import Tokens, written_out
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.sampling.counts import packed_words, rows_of, unpacked_words
from stickbreak.sampling.state import DocumentTopics, TopicCounts
from stickbreak.sampling.sweeping import Left, Shard, cut, joined, left_by, room_for, run_pass


class PassState(NamedTuple):
    """What a pass changes."""

    token: Int32  # (N,)  of each token: its topic, or its table
    size: Int32  # (D,)  of each document: how many topics, or tables
    rows: tuple[Int32, ...]  # of each of these, from the place of the document's first token on; each (N,)


def state_of(z: Int32, documents: DocumentTopics) -> PassState:
    """Return what passes over topics of tokens change."""
    return PassState(z, documents.size, (documents.topic, documents.n, documents.m))


class Rule(Protocol):
    """How a pass samples documents; plain data, which travels."""

    def sample(self, start: Int, word: Int32, state: PassState, first: int, last: int, *given: Any) -> int:
        """Sample the documents first .. last - 1, given what a kernel is given beside them; return where it stopped."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """What all shards of a pass share."""

    rule: Rule
    n: Int  # (K,)
    m: Int  # (K,)
    room: int
    beta: Float
    word_start: Int  # (W + 1,)
    word_size: Int32  # (W,)
    entry: Any  # of `WordTopics`, without gaps

    def counts(self) -> TopicCounts:
        """Return counts of all documents that one shard may change."""
        words = unpacked_words(self.word_start, self.word_size, self.entry)
        return TopicCounts(self.n.size, self.n, self.m, words)


@dataclass(frozen=True, slots=True)
class Job:
    """Some documents, by where they are stored, and their state without gaps."""

    source: Source
    first: int
    last: int
    offset: int  # place of their first token: 0 only where it is the first of all
    state: PassState

    @classmethod
    def of(cls, tokens: Tokens, state: PassState, source: Source, part: tuple[int, int]) -> Self:
        """Describe the documents first .. last - 1."""
        first, last = part
        begin, end = tokens.start[first], tokens.start[last]
        size = state.size[first:last]
        at = rows_of(tokens.start[first:last], size)
        own = PassState(state.token[begin:end], size, tuple(row[at] for row in state.rows))
        return cls(source.part(slice(first, last)), first, last, int(begin > 0), own)

    def opened(self) -> tuple[Int, Int32, PassState]:
        """Return where documents begin, the word of each token, and the state; documents have their own numbers."""
        found, word = written_out(self.source.load())
        start = np.concatenate((np.zeros(self.first, np.int64), found)) + self.offset
        size = np.concatenate((np.zeros(self.first, np.int32), self.state.size))
        before = np.zeros(self.offset, np.int32)
        rows = tuple(np.zeros(start[-1], np.int32) for _ in self.state.rows)
        for row, given in zip(rows, self.state.rows, strict=True):
            row[rows_of(start[:-1], size)] = given
        state = PassState(np.concatenate((before, self.state.token)), size, rows)
        return start, np.concatenate((before, word)), state

    def closed(self, start: Int, state: PassState) -> PassState:
        """Return the state without gaps again."""
        at = rows_of(start[:-1], state.size)
        return PassState(state.token[self.offset :], state.size[self.first :], tuple(row[at] for row in state.rows))


def sample_shard(task: Task, job: Job) -> tuple[PassState, Left]:
    """Sample the documents of a shard; return their state, and what is left of the topics."""
    start, word, state = job.opened()
    kernel = partial(task.rule.sample, start, word, state)
    left = left_by(kernel, task.counts(), task.beta, task.room, (job.first, job.last), alone=False)
    return job.closed(start, state), left


def pass_over(
    tokens: Tokens, counts: TopicCounts, beta: Float, rule: Rule, state: PassState, sweep: Any
) -> tuple[int, list[Shard]]:
    """Run a pass over all documents, as `run_pass` does: its shards in threads, or on the workers of a cluster.

    Parameters
    ----------
    tokens : Tokens
    counts : TopicCounts
        Changed where there is one shard.
    beta : ndarray of shape (K + 1,)
    rule : Rule
    state : PassState
        Changed.
    sweep : Sweep
    """
    parts = cut(tokens, sweep.n_shards)
    if sweep.source is None or len(parts) == 1:
        kernel = partial(rule.sample, tokens.start, tokens.word, state)
        return run_pass(tokens, counts, beta, kernel, sweep.n_shards, sweep.executor, sweep.max_topics)
    K = counts.n_topics
    words = counts.words.start, counts.words.size, packed_words(counts.words)
    task = Task(rule, counts.n[:K], counts.m[:K], room_for(tokens, K), beta, *words)
    jobs = [Job.of(tokens, state, sweep.source, part) for part in parts]
    found = sweep.executor.run(sample_shard, jobs, task)
    for job, (own, _) in zip(jobs, found, strict=True):
        _put_back(tokens, state, job, own)
    return joined(parts, [left for _, left in found], K)


def _put_back(tokens: Tokens, state: PassState, job: Job, own: PassState) -> None:
    """Take up the state of some documents."""
    begin, end = tokens.start[job.first], tokens.start[job.last]
    state.token[begin:end], state.size[job.first : job.last] = own.token, own.size
    at = rows_of(tokens.start[job.first : job.last], own.size)
    for row, found in zip(state.rows, own.rows, strict=True):
        row[at] = found
