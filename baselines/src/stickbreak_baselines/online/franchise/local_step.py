"""The local step of a minibatch (docs/math (O2) to (O7)), and the part of the bound that its documents add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.franchise.kernels import documents as document_kernels

EVEN, TOPICS = "even", "topics"


class LocalSettings(NamedTuple):
    """How the local step of a document starts, and when it stops."""

    n_tables: int = 15
    start: str = TOPICS
    tolerance: float = 1e-4  # nats per token
    max_sweeps: int = 100


class Globals(NamedTuple):
    """What documents see of the corpus."""

    elog: Float  # (W_b, K)  E log phi_kw of the words of the minibatch
    log_beta: Float  # (K,)  E log beta_k
    beta: Float  # (K,)  E beta_k


@dataclass(frozen=True, slots=True)
class Found:
    """What the documents of a minibatch say together."""

    S: Float  # (W_b, K)  expected tokens
    tables: Float  # (K,)  expected tables
    own: float  # what they add to the bound beside what the topics and sticks multiply: a part of docs/math (O9)
    sweeps: float  # of a document, on average


def local_step(minibatch: Minibatch, seen: Globals, alpha: float, settings: LocalSettings, engine: Engine) -> Found:
    """Run the local step of all documents of a minibatch.

    Parameters
    ----------
    minibatch : Minibatch
    seen : Globals
    alpha : float
    settings : LocalSettings
    engine : Engine
        Runs the documents of each shard; sums are taken in the order of the shards.
    """
    weights = np.exp(seen.elog - seen.elog.max(axis=1, keepdims=True))
    prior = alpha * seen.beta
    S, tables = np.zeros(seen.elog.shape), np.zeros(prior.size)

    def run(rows: tuple[int, int]) -> tuple[Float, Float, Float, np.ndarray]:
        first, last = rows
        low, high = minibatch.indptr[first], minibatch.indptr[last]
        of_words, of_tables = np.zeros(seen.elog.shape), np.zeros(prior.size)
        value, sweeps = np.empty(last - first), np.empty(last - first, np.int64)
        document_kernels.local_step(
            minibatch.indptr[first : last + 1] - low, minibatch.word[low:high], minibatch.count[low:high], seen.elog,
            weights, seen.log_beta, prior, alpha, settings.n_tables, settings.start == EVEN, settings.tolerance,
            settings.max_sweeps, of_words, of_tables, value, sweeps,
        )  # fmt: skip
        return of_words, of_tables, value, sweeps

    parts = engine.map(run, minibatch.shards())
    for of_words, of_tables, _, _ in parts:
        S += of_words
        tables += of_tables
    value, sweeps = (np.concatenate([part[i] for part in parts]) for i in (2, 3))
    own = float(value.sum()) - float((S * seen.elog).sum()) - float(tables @ seen.log_beta)
    return Found(S, tables, own, float(sweeps.mean()))
