"""Where the topics start: at random, as in the paper, or found or given as in other families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from stickbreak.baselines.online.state import OnlineState
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback
from stickbreak.fitting.steps import offset_for
from stickbreak.initialization import Start, StartSettings, make_start, start_from_topics
from stickbreak.numerics.streams import stream

RANDOM = "random"


class Parameters(Protocol):
    """The parameters of a start."""

    alpha: float
    gamma: float
    eta: float
    init: Any
    init_sweeps: int
    learning_decay: float
    learning_offset: float | None


def begin(
    given: Parameters,
    corpus: Corpus,
    n_topics: int,
    seed: int,
    share: float,
    n_tables: float,
    engine: Engine,
    report: Callback,
    stop: Callable[[], bool],
) -> OnlineState:
    """Return the state at the start.

    Parameters
    ----------
    given : Parameters
    corpus : Corpus
        The documents, or the first minibatch of them.
    n_topics : int
    seed : int
    share : float
        Documents of all to those of `corpus`.
    n_tables : float
        Tables of a document.
    engine : Engine
        Where a start that finds topics runs.
    report : callable
        Told of each sweep of a start that finds topics.
    stop : callable
        Whether it is to end early; asked only while some of its work is left.
    """
    start = _start(given, corpus, n_topics, seed, engine, report, stop)
    S = start.counts * (share * corpus.n_tokens / start.counts.sum())
    documents = int((corpus.document_lengths > 0).sum())
    return OnlineState.of(S, start.weights / start.weights.sum() * (share * documents * n_tables))


def _start(
    given: Parameters, corpus: Corpus, n_topics: int, seed: int, engine: Engine, report: Callback, stop: Any
) -> Start:
    if not isinstance(given.init, str):
        return start_from_topics(given.init, corpus)
    if given.init == RANDOM:
        counts = stream(seed, "random topics").gamma(1.0, 1.0, size=(corpus.n_words, n_topics))
        counts[np.bincount(corpus.counts.indices, minlength=corpus.n_words) == 0] = 0.0
        return Start(counts, np.ones(n_topics))
    settings = StartSettings(
        n_topics,
        given.alpha,
        given.gamma,
        given.eta,
        seed,
        given.init_sweeps,
        lambda done, total: report({"stage": "init", "done": done, "total": total}),
        engine,
        stop,
    )
    return make_start(given.init, corpus, settings)


def offset_after(given: Parameters, share: float) -> float:
    """Return the offset of the steps, where minibatches are this share of what the start is found in.  math.md (B5)"""
    if given.learning_offset is not None:
        return float(given.learning_offset)
    if isinstance(given.init, str) and given.init == RANDOM:
        return 1.0
    return offset_for(share, given.learning_decay)
