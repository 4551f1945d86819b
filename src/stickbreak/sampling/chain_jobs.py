"""Chains as jobs: one sweep of a chain on a worker, from its snapshot to its next one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.fitting.laps import Packed
from stickbreak.sampling.chain import Chain, ChainSettings
from stickbreak.sampling.state import Concentrations

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
class ChainSwept:
    """A chain after a sweep."""

    snapshot: Packed
    row: Row
    log_joint: float


_AT_HAND: dict[tuple[str, int], Chain] = {}  # of the fit that a worker is at
_TOKENS: dict[str, Tokens] = {}


def sweep_chain(work: ChainWork, job: ChainJob) -> ChainSwept:
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
    row, log_joint = sweep_once(chain, Engine(ThreadExecutor(1)))
    _AT_HAND[work.fit, job.chain] = chain
    return ChainSwept(chain.snapshot(), row, log_joint)


def sweep_once(chain: Chain, executor: Engine) -> tuple[Row, float]:
    """Sweep a chain; return its row of the trace and its joint log-likelihood."""
    before, trials = chain.n_topics, chain.sweep(executor)
    log_joint, now = chain.log_joint(), chain.concentrations
    moved = trials.splits_accepted + trials.merges_accepted > 0 or chain.n_topics != before
    values = (
        log_joint / chain.n_tokens, chain.n_topics, int(moved), chain.n_tables, now.alpha, now.gamma,
        float(np.mean(now.eta)), *trials,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True)), log_joint
