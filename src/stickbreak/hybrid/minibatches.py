"""The minibatches of a step, sampled at the same globals: here with all threads, or each as a job on a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.csr import entries_of
from stickbreak.corpus.sources import Held, Source
from stickbreak.corpus.tokens import Tokens, written_out
from stickbreak.fitting.engine import engine_of, workers_of
from stickbreak.fitting.executor import Executor, ThreadExecutor
from stickbreak.hybrid.document_sampler import Found, Part, Sweeps, TableFactors, in_own_words, sample_parts
from stickbreak.hybrid.state import HybridState, Priors
from stickbreak.hybrid.word_weights import Tables, weigh
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.numerics.streams import key_of

LARGEST_FACTORS = 1 << 24  # bytes of factors that a stream keeps from step to step


@dataclass(frozen=True, slots=True)
class Drawn:
    """The minibatches of a step: rows of some documents."""

    documents: Source
    rows: Sequence[Int]

    @classmethod
    def of(cls, minibatch: Corpus) -> Drawn:
        """Return one minibatch that is at hand."""
        return cls(Held(minibatch), [np.arange(minibatch.n_documents)])

    def tokens(self) -> tuple[Int32, Tokens]:
        """Return what `in_own_words` does of the documents of all of them, one minibatch after the other."""
        return _tokens_of(self.documents, np.concatenate(self.rows))

    def keys(self, seed: int, step: int) -> list[np.uint64]:
        """Return the key of the random numbers of each."""
        purposes = [f", minibatch {number}" if number > 1 else "" for number in range(1, len(self.rows) + 1)]
        return [key_of(seed, step, f"documents of the step{purpose}") for purpose in purposes]


class Asked(NamedTuple):
    """What the minibatches of a step have in common."""

    state: HybridState
    priors: Priors
    sweeps: Sweeps


class Job(NamedTuple):
    """One minibatch."""

    documents: Source
    rows: Int
    key: np.uint64


class Room:
    """What steps work in, made once for many of them: factors of the tables, weights of the words."""

    def __init__(self) -> None:
        self.factors, self.tables = TableFactors(), Tables()

    @property
    def small(self) -> bool:
        """Whether the factors are worth keeping: one very long document may have made them large."""
        return self.factors.n_bytes < LARGEST_FACTORS


def sample_minibatch(asked: Asked, job: Job) -> Found:
    """Sample one minibatch; topics are numbered in as few bytes as they need, for the way back."""
    words, tokens = _tokens_of(job.documents, job.rows)
    (found,) = _sampled(asked, words, [Part(tokens.start, tokens.word, job.key)], Room(), ThreadExecutor())
    narrow = np.uint16 if asked.state.n_topics <= 1 << 16 else np.int32
    return replace(found, z=found.z.astype(narrow))


def sample_all(
    asked: Asked, drawn: Drawn, keys: Sequence[np.uint64], tokens: Tokens, words: Int32, room: Room, executor: Executor
) -> Found:
    """Sample the minibatches of a step, and return what they found together.

    `keys`: of each minibatch. `tokens`: of all of them, one minibatch after the other; the words are numbered by their
    places in `words`. `words` (B,).
    """
    if workers_of(executor) is not None and not isinstance(drawn.documents, Held):
        jobs = [Job(drawn.documents, rows, key) for rows, key in zip(drawn.rows, keys, strict=True)]
        return _together(engine_of(executor).run(sample_minibatch, jobs, asked))
    bounds, parts = np.cumsum([0, *(rows.size for rows in drawn.rows)]).tolist(), []
    for (first, last), key in zip(pairwise(bounds), keys, strict=True):
        start = tokens.start[first : last + 1]
        parts.append(Part(start - start[0], tokens.word[start[0] : start[-1]], key))
    return _together(_sampled(asked, words, parts, room, executor))


def _tokens_of(documents: Source, rows: Int) -> tuple[Int32, Tokens]:
    """Return what `in_own_words` does of some documents; of those at hand no corpus is made."""
    if not isinstance(documents, Held) or not documents.corpus.is_integer:
        return in_own_words(*written_out(documents.load(rows)))
    counts = documents.corpus.counts
    ends, places = entries_of(counts, rows)
    times = counts.data[places]
    word = np.repeat(counts.indices[places], times).astype(np.int32, copy=False)
    start = np.concatenate(([0], np.cumsum(times, dtype=np.int64)))[ends]
    return in_own_words(start, word)


def _sampled(asked: Asked, words: Int32, parts: Sequence[Part], room: Room, executor: Executor) -> list[Found]:
    """Sample minibatches under the weights of all their words."""
    state, priors, sweeps = asked
    weights = weigh(words, state, priors, room.tables, executor, sparse=sweeps.sampler == "sparse")
    found = sample_parts(parts, weights, priors.alpha, room.factors, sweeps, executor)
    room.tables.give_back(weights, executor)
    return found


def _together(found: Sequence[Found]) -> Found:
    """Return what several minibatches found, one after the other."""
    z = found[0].z if len(found) == 1 else np.concatenate([part.z for part in found], axis=1)
    tokens, tables = (np.sum(parts, axis=0) for parts in zip(*((p.tokens, p.tables) for p in found), strict=True))
    return Found(z.astype(np.int32, copy=False), tokens, tables, float(sum(part.log_p for part in found)))
