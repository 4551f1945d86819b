"""The minibatches of a step, the step, and the laps of a fit as its run sees them.

The minibatches of a step are sampled at the same globals: here with all threads, or each as a job on a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.csr import entries_of
from stickbreak.corpus.sources import Held, Source
from stickbreak.corpus.tokens import Tokens, written_out
from stickbreak.fitting.checkpoint import whole_number
from stickbreak.fitting.checks import check_many
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback, Lap, Packed, Stop
from stickbreak.fitting.step_sizes import step_size
from stickbreak.hybrid.document_sampler import (
    MinibatchTokens,
    SampledTopics,
    SweepSettings,
    TableFactors,
    in_own_words,
    sample_parts,
)
from stickbreak.hybrid.global_step import learn_from, make_room, take_step
from stickbreak.hybrid.state import HybridState, KnownTopics, LearnedPriors, Priors, WordTopics
from stickbreak.hybrid.word_weights import Tables, weigh
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.numerics.streams import key_of, stream

LARGEST_FACTORS = 1 << 24  # bytes of factors that a stream keeps from step to step
BYTES_OF_SWEEP = 4.0  # of a token: its topic
COLUMNS = ("step_size", "n_steps", "alpha", "gamma", "eta")  # of the trace, the hybrid's own

MakeStart = Callable[[Callback, Stop], HybridState]


@dataclass(frozen=True, slots=True)
class StepDocuments:
    """The minibatches of a step: rows of some documents."""

    documents: Source
    rows: Sequence[Int]

    @classmethod
    def of(cls, minibatch: Corpus) -> StepDocuments:
        """Return one minibatch that is at hand."""
        return cls(Held(minibatch), [np.arange(minibatch.n_documents)])

    def tokens(self) -> tuple[Int32, Tokens]:
        """Return what `in_own_words` does of the documents of all of them, one minibatch after the other."""
        return _tokens_of(self.documents, np.concatenate(self.rows))

    def keys(self, seed: int, step: int) -> list[np.uint64]:
        """Return the key of the random numbers of each."""
        purposes = [f", minibatch {number}" if number > 1 else "" for number in range(1, len(self.rows) + 1)]
        return [key_of(seed, step, f"documents of the step{purpose}") for purpose in purposes]


class StepWork(NamedTuple):
    """What the minibatches of a step have in common."""

    state: HybridState
    priors: Priors
    sweeps: SweepSettings


class MinibatchJob(NamedTuple):
    """One minibatch."""

    documents: Source
    rows: Int
    key: np.uint64


class StepScratch:
    """What steps work in, made once for many of them: factors of the tables, weights of the words."""

    def __init__(self) -> None:
        self.factors, self.tables = TableFactors(), Tables()

    @property
    def small(self) -> bool:
        """Whether the factors are worth keeping: one very long document may have made them large."""
        return self.factors.n_bytes < LARGEST_FACTORS


def sample_minibatch(work: StepWork, job: MinibatchJob) -> SampledTopics:
    """Sample one minibatch; topics are numbered in as few bytes as they need, for the way back."""
    words, tokens = _tokens_of(job.documents, job.rows)
    (found,) = _sampled(work, words, [MinibatchTokens(tokens.start, tokens.word, job.key)], StepScratch(), Engine())
    narrow = np.uint16 if work.state.n_topics <= 1 << 16 else np.int32
    return replace(found, z=found.z.astype(narrow))


def sample_all(
    work: StepWork,
    drawn: StepDocuments,
    keys: Sequence[np.uint64],
    tokens: Tokens,
    words: Int32,
    room: StepScratch,
    engine: Engine,
) -> SampledTopics:
    """Sample the minibatches of a step, and return what they found together.

    `keys`: of each minibatch. `tokens`: of all of them, one minibatch after the other; the words are numbered by their
    places in `words`. `words` (B,).
    """
    if engine.workers is not None and not isinstance(drawn.documents, Held):
        jobs = [MinibatchJob(drawn.documents, rows, key) for rows, key in zip(drawn.rows, keys, strict=True)]
        return _together(engine.run(sample_minibatch, jobs, work))
    bounds, parts = np.cumsum([0, *(rows.size for rows in drawn.rows)]).tolist(), []
    for (first, last), key in zip(pairwise(bounds), keys, strict=True):
        start = tokens.start[first : last + 1]
        parts.append(MinibatchTokens(start - start[0], tokens.word[start[0] : start[-1]], key))
    return _together(_sampled(work, words, parts, room, engine))


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


def _sampled(
    work: StepWork, words: Int32, parts: Sequence[MinibatchTokens], room: StepScratch, engine: Engine
) -> list[SampledTopics]:
    """Sample minibatches under the weights of all their words."""
    state, priors, sweeps = work
    weights = weigh(words, state, priors, room.tables, engine, sparse=sweeps.sampler == "sparse")
    found = sample_parts(parts, weights, priors.alpha, room.factors, sweeps, engine)
    room.tables.give_back(weights, engine)
    return found


def _together(found: Sequence[SampledTopics]) -> SampledTopics:
    """Return what several minibatches found, one after the other."""
    z = found[0].z if len(found) == 1 else np.concatenate([part.z for part in found], axis=1)
    tokens, tables = (np.sum(parts, axis=0) for parts in zip(*((p.tokens, p.tables) for p in found), strict=True))
    return SampledTopics(z.astype(np.int32, copy=False), tokens, tables, float(sum(part.log_p for part in found)))


@dataclass(frozen=True, slots=True)
class StepSettings:
    """What the steps of a fit have in common."""

    priors: Priors
    sweeps: SweepSettings
    decay: float
    offset: float
    seed: int
    learn: tuple[str, ...] = ()

    def priors_of(self, state: HybridState) -> Priors:
        """Return the current priors: those that were given, or learned."""
        now = state.learned
        if now is None:
            return self.priors
        eta = self.priors.eta if isinstance(self.priors.eta, np.ndarray) else now.eta
        return replace(self.priors, alpha=now.alpha, gamma=now.gamma, eta=eta)


class HybridSteps:
    """Steps on minibatches, one after another."""

    def __init__(self, rules: StepSettings, engine: Engine, room: StepScratch) -> None:
        self.rules = rules
        self._engine, self._room = engine, room

    def size(self, step: int) -> float:
        """Return the size of a step; the number of the first is 1."""
        return step_size(step, self.rules.decay, self.rules.offset)

    def learn(self, state: HybridState, drawn: StepDocuments, n_documents: int) -> tuple[float, int]:
        """Take a step on minibatches of `n_documents`, all sampled at the same globals.              docs/math (B5)

        Documents without words count as seen; if there is no other, no step is taken.

        `state`: changed in place. Returns `log_p`: what `SampledTopics.log_p` says.
        """
        rules, (words, tokens) = self.rules, drawn.tokens()
        if tokens.word.size == 0:
            return 0.0, 0
        check_many("saved_sweeps", rules.sweeps.saved, BYTES_OF_SWEEP * tokens.word.size)
        if state.unbounded:
            make_room(state, words.size)
        priors, step = rules.priors_of(state), state.n_steps + 1
        work, keys = StepWork(state, priors, rules.sweeps), drawn.keys(rules.seed, step)
        found = sample_all(work, drawn, keys, tokens, words, self._room, self._engine)
        share, size = n_documents / tokens.n_documents, self.size(step)
        state.whole = False
        take_step(state, tokens, words, found, share, size, key_of(rules.seed, step, "rounding of the step"))
        if rules.learn:
            learn_from(state, rules.learn, priors, tokens.lengths, share, size)
        state.whole = True
        return found.log_p, int(tokens.word.size)


class HybridLaps:
    """Laps over a collection: each document once, in new minibatches each time."""

    window = 0

    def __init__(
        self,
        steps: HybridSteps,
        documents: Source,
        shape: tuple[int, int],
        batch_size: int,
        at_once: int,
        start: MakeStart,
    ) -> None:
        self._steps, self._documents, self._start = steps, documents, start
        (self._n_documents, self._n_words), self._batch_size, self._at_once = shape, batch_size, at_once
        self.state: HybridState

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return COLUMNS

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start."""
        self.state = self._start(report, stop)

    @property
    def rules(self) -> StepSettings:
        """What the steps have in common."""
        return self._steps.rules

    @property
    def priors(self) -> Priors:
        """The current priors."""
        return self._steps.rules.priors_of(self.state)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        while True:
            done += 1
            log_p, n_tokens = 0.0, 0
            lap = self._minibatches(done)
            for first in range(0, len(lap), self._at_once):
                drawn = StepDocuments(self._documents, lap[first : first + self._at_once])
                found = self._steps.learn(self.state, drawn, self._n_documents)
                log_p, n_tokens = log_p + found[0], n_tokens + found[1]
            yield Lap(log_p / n_tokens, self.state.alive().size, False, row_of(self.state, self._steps))

    def _minibatches(self, lap: int) -> list[Int]:
        """Return the rows of each minibatch of a lap, all of nearly the same size."""
        order = stream(self._steps.rules.seed, f"order of the documents in lap {lap}").permutation(self._n_documents)
        n = -(-order.size // self._batch_size)
        return [np.sort(rows) for rows in np.array_split(order, n)]  # a small remainder would take a full step

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        return packed(self.state)

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        copies = {name: array.copy() for name, array in arrays.items()}
        self.state = unpacked(copies, values, self._n_words)


def row_of(state: HybridState, steps: HybridSteps) -> dict[str, float]:
    """Return the columns of the trace that are the hybrid's own."""
    now = steps.rules.priors_of(state)
    values = steps.size(max(1, state.n_steps)), state.n_steps, now.alpha, now.gamma, float(np.mean(now.eta))
    return dict(zip(COLUMNS, values, strict=True))


def packed(state: HybridState) -> Packed:
    """Return a state as arrays and plain values."""
    arrays = {**state.pairs.packed(), "tokens": state.tokens, "tables": state.tables}
    if state.known is not None:
        arrays |= state.known.packed()
    learned = None if state.learned is None else asdict(state.learned)
    values = {"scale": state.pairs.scale, "n_steps": state.n_steps, "unbounded": state.unbounded, "learned": learned}
    return arrays, {**values, "n_kept": state.n_kept} if state.known is not None else values


def unpacked(arrays: Mapping[str, NDArray], values: Mapping[str, Any], n_words: int) -> HybridState:
    """Return the state that `packed` took apart.

    Raises KeyError, ValueError if it cannot be one of these words.
    """
    pairs = WordTopics.unpacked(arrays, arrays["tables"].size, float(values["scale"]))
    if pairs.n_words != n_words:
        raise ValueError(f"its lists are not those of {n_words} words")
    n_steps, unbounded = whole_number("n_steps", values["n_steps"]), bool(values["unbounded"])
    state = HybridState(pairs, arrays["tokens"], arrays["tables"], n_steps, unbounded)
    if values["learned"] is not None:
        state.learned = LearnedPriors(**{name: float(value) for name, value in values["learned"].items()})
    if "n_kept" in values:
        state.known = KnownTopics.unpacked(arrays, whole_number("n_kept", values["n_kept"]), n_words)
    state.check()
    return state
