"""Independent chains in lockstep: their sweeps, their rows of the trace, and all that their next sweeps depend on."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.checkpoint import require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback, Lap, Packed, Stop
from stickbreak.initialization import Start
from stickbreak.numerics.streams import stream
from stickbreak.sampling.chain import Chain, ChainSettings
from stickbreak.sampling.samples import ESTIMATES, Sample
from stickbreak.sampling.state import Concentrations

Columns = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """Which sweeps are samples, and what is made of them."""

    estimate: str
    burn_in: int
    thin: int

    def sampled(self, sweeps: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether sweeps (the first is 1) are samples: the first after burn-in and every `thin`-th from there."""
        after = sweeps - self.burn_in - 1
        return (after >= 0) & (after % self.thin == 0)


def chain_seeds(seed: int, n_chains: int) -> list[int]:
    """Return a seed for each chain; chain c has the same whatever their number."""
    return [int(stream(seed, f"chain {c}").integers(2**63)) for c in range(n_chains)]


MakeStarts = Callable[[Callback, Stop], tuple[Sequence[str | Start], int]]
"""Gives the start of each chain, and the number of topics where that is a name."""


# --- chains as jobs: one sweep of a chain on a worker, from its snapshot to its next one ---

COLUMNS = (
    "objective", "n_topics", "moved", "n_tables", "alpha", "gamma", "eta",
    "split_tried", "split_accepted", "merge_tried", "merge_accepted",
)  # fmt: skip
Row = dict[str, float]


@dataclass(frozen=True, slots=True)
class ChainWork:
    """What the chains of a fit share."""

    source: Source
    settings: ChainSettings
    fit: str = field(default_factory=lambda: secrets.token_hex(8))  # so that a worker knows its chains again


@dataclass(frozen=True, slots=True)
class ChainJob:
    """A chain, as `Chain.snapshot` returns it."""

    chain: int
    seed: int
    arrays: Mapping[str, NDArray]
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChainResult:
    """A chain after a sweep."""

    snapshot: Packed
    row: Row
    log_joint: float


_AT_HAND: dict[tuple[str, int], Chain] = {}  # of the fit that a worker is at
_TOKENS: dict[str, Tokens] = {}


def sweep_chain(work: ChainWork, job: ChainJob) -> ChainResult:
    """Sweep a chain once. A worker that did its last sweep still has it; another one restores it."""
    if work.fit not in _TOKENS:
        _AT_HAND.clear()
        _TOKENS.clear()
        _TOKENS[work.fit] = Tokens.from_corpus(work.source.load(), work.settings.n_known)
    chain = _AT_HAND.pop((work.fit, job.chain), None)
    if chain is None or chain.n_sweeps != job.values["n_sweeps"]:
        now = Concentrations(**{"eta": work.settings.eta, **job.values["concentrations"]})
        chain = Chain(_TOKENS[work.fit], work.settings, now, job.seed)
        chain.restore(job.arrays, job.values)
    row, log_joint = sweep_once(chain, Engine(1))
    _AT_HAND[work.fit, job.chain] = chain
    return ChainResult(chain.snapshot(), row, log_joint)


def sweep_once(chain: Chain, engine: Engine) -> tuple[Row, float]:
    """Sweep a chain; return its row of the trace and its joint log-likelihood."""
    before, trials = chain.n_topics, chain.sweep(engine)
    log_joint, now = chain.log_joint(), chain.concentrations
    moved = trials.splits_accepted + trials.merges_accepted > 0 or chain.n_topics != before
    values = (
        log_joint / chain.n_tokens, chain.n_topics, int(moved), chain.n_tables, now.alpha, now.gamma,
        float(np.mean(now.eta)), *trials,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True)), log_joint


# --- the laps ---


class GibbsLaps:
    """Chains that know nothing of each other, one for each seed; `source` is the documents as jobs name them."""

    window = 0

    def __init__(
        self,
        documents: Tokens,
        settings: ChainSettings,
        concentrations: Concentrations,
        sampling: SamplePlan,
        seeds: Sequence[int],
        engine: Engine,
        starts: MakeStarts,
        source: Source | None = None,
    ) -> None:
        self.chains = [Chain(documents, settings, concentrations, seed) for seed in seeds]
        self._work = None if source is None else ChainWork(source, settings)
        self._away: dict[int, Packed] = {}  # of the chains that are further than those in `chains`
        self.sampling = sampling
        self._documents, self._starts, self._seeds = documents, starts, list(seeds)
        self._labels = None if settings.labels is None else settings.labels.labels
        self._keepers = [ESTIMATES[sampling.estimate]() for _ in self.chains]
        # threads work on chains or on the documents of one: a pool that waits for itself would stand still
        self._engine = self._within = engine
        if len(seeds) > 1:
            self._within = Engine(1)
        else:
            self._engine = Engine(1)

    @property
    def n_tokens(self) -> int:
        """Number of tokens N."""
        return self._documents.n_tokens

    @property
    def seed(self) -> int:
        """The seed of the first chain."""
        return self._seeds[0]

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        several = range(len(self.chains)) if len(self.chains) > 1 else ()
        return [*COLUMNS, *(f"{name}_{c}" for name in COLUMNS for c in several)]

    def begin(self, report: Callback, stop: Stop) -> None:
        """Give every chain its start."""
        starts, n_topics = self._starts(report, stop)
        for chain, start in zip(self.chains, starts, strict=True):
            chain.begin(start, n_topics)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every sweep of all chains; `done` were done before."""
        while True:
            done += 1
            rows = self._sweep_all(done)
            shown = rows[int(np.argmax([row["objective"] for row in rows]))]
            columns = {name: shown[name] for name in COLUMNS if name not in Lap._fields}
            if len(rows) > 1:
                columns |= {f"{name}_{c}": row[name] for c, row in enumerate(rows) for name in COLUMNS}
            yield Lap(shown["objective"], int(shown["n_topics"]), bool(shown["moved"]), columns)

    def _sweep_all(self, sweep: int) -> list[Row]:
        """Sweep every chain once and return their rows."""
        if self._work is None:
            return self._engine.map(partial(self._sweep, sweep), range(len(self.chains)))
        jobs = [ChainJob(c, seed, *self._snapshot(c)) for c, seed in enumerate(self._seeds)]
        found = self._engine.run(sweep_chain, jobs, self._work)
        self._away = {c: swept.snapshot for c, swept in enumerate(found)}
        for c, swept in enumerate(found):
            self._observe(sweep, c, swept.log_joint)
        return [swept.row for swept in found]

    def _sweep(self, sweep: int, c: int) -> Row:
        """Sweep a chain once, here, and return its row."""
        row, log_joint = sweep_once(self.chains[c], self._within)
        self._observe(sweep, c, log_joint)
        return row

    def _observe(self, sweep: int, c: int, log_joint: float) -> None:
        """Let the keeper of a chain look at it after burn-in."""
        if sweep > self.sampling.burn_in:
            sampled = bool(self.sampling.sampled(np.array([sweep]))[0])
            if self._keepers[c].wants(log_joint, sampled=sampled):
                self._keepers[c].observe(self._at_home(c), log_joint)

    def _at_home(self, c: int) -> Chain:
        """Return a chain as it is now."""
        if c in self._away:
            self.chains[c].restore(*self._away.pop(c))
        return self.chains[c]

    def _snapshot(self, c: int) -> Packed:
        return self._away[c] if c in self._away else self.chains[c].snapshot()

    def estimate(self, c: int) -> Sample:
        """Return the sample that the topics of chain c are made of."""
        return self._keepers[c].estimate(self._at_home(c))

    def change_burn_in(self, burn_in: int) -> None:
        """Let burn-in end later, after the sweeps that are done, and drop the samples among these."""
        if burn_in == self.sampling.burn_in:
            return
        self.sampling = replace(self.sampling, burn_in=burn_in)
        self._keepers = [ESTIMATES[self.sampling.estimate]() for _ in self.chains]

    def snapshot(self) -> Packed:
        """Return all that the next sweeps and the estimates depend on, as arrays and plain values."""
        arrays: dict[str, NDArray] = {}
        values = []
        for c, keeper in enumerate(self._keepers):
            (of_chain, plain), (kept, kept_plain) = self._snapshot(c), keeper.snapshot()
            arrays |= {f"chain{c}.{name}": array for name, array in of_chain.items()}
            arrays |= {f"kept{c}.{name}": array for name, array in kept.items()}
            values.append({"chain": plain, "kept": kept_plain})
        if self._labels is not None:
            arrays |= {"labels.start": self._labels.start, "labels.topic": self._labels.topic}
        return arrays, {"chains": values, "burn_in": self.sampling.burn_in}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned.

        Raises
        ------
        KeyError, ValueError
            If it is not of these chains.
        """
        require(len(values["chains"]) == len(self.chains), "its number of chains is another")
        burn_in = whole_number("burn_in", values["burn_in"])  # a longer run keeps that of the first
        self.sampling = replace(self.sampling, burn_in=burn_in)
        self._away.clear()
        for c, (chain, keeper) in enumerate(zip(self.chains, self._keepers, strict=True)):
            of_chain = values["chains"][c]
            chain.restore(_part(arrays, f"chain{c}."), of_chain["chain"])
            keeper.restore(_part(arrays, f"kept{c}."), of_chain["kept"], self._documents)


def best_chain(columns: Mapping[str, Sequence[float]], n_chains: int, burn_in: int) -> int:
    """Return the chain with the highest joint log-likelihood after burn-in (of all sweeps, if that has not ended)."""
    if n_chains == 1:
        return 0
    peaks = []
    for c in range(n_chains):
        objective = columns[f"objective_{c}"]
        peaks.append(max(objective[burn_in:] or objective))
    return int(np.argmax(peaks))


def show_chain(columns: Columns, c: int) -> None:
    """Make the rows of chain c those of the whole trace."""
    for name in COLUMNS:
        if f"{name}_{c}" in columns:
            columns[name] = list(columns[f"{name}_{c}"])


def _part(arrays: Mapping[str, NDArray], prefix: str) -> dict[str, NDArray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
