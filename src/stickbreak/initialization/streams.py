"""Where families that take minibatches start: with topics at random, or found first; and how large their steps are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from scipy import sparse

from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback
from stickbreak.fitting.steps import offset_for
from stickbreak.initialization.base import StartSettings
from stickbreak.model.word_prior import base_of

RANDOM = "random"
"""The start that looks at no document first; each family draws its own."""


class Parameters(Protocol):
    """The parameters of a start."""

    alpha: float
    gamma: float
    eta: Any
    init: Any
    init_sweeps: int
    learning_decay: float
    learning_offset: float | None


def is_random(init: Any) -> bool:
    """Return whether a start is that of random topics."""
    return isinstance(init, str) and init == RANDOM


def finds_topics(init: Any) -> bool:
    """Return whether a start finds its topics in documents: they are neither random nor given."""
    return isinstance(init, str) and init != RANDOM


def settings_of(
    given: Parameters,
    n_topics: int,
    seed: int,
    engine: Engine,
    report: Callback,
    stop: Callable[[], bool],
    pseudo: sparse.csr_array | None = None,
) -> StartSettings:
    """Return what a start that finds topics depends on.

    `n_topics`: topics without a prior of their own. `engine`: where the start runs. `report`: told of each sweep.
    `stop`: whether the start is to end early; asked only while some of its work is left. `pseudo` (W, n_kept):
    pseudo-counts of topics that come before the others.
    """
    return StartSettings(
        n_topics if pseudo is None else n_topics + int(pseudo.shape[1]),
        given.alpha,
        given.gamma,
        base_of(given.eta),
        seed,
        given.init_sweeps,
        lambda done, total: report({"stage": "init", "done": done, "total": total}),
        engine,
        stop,
        pseudo,
    )


def offset_after(given: Parameters, share: float) -> float:
    """Return the offset of the steps, where minibatches are this share of what the start is found in.  math.md (B5)"""
    if given.learning_offset is not None:
        return float(given.learning_offset)
    return 1.0 if is_random(given.init) else offset_for(share, given.learning_decay)
