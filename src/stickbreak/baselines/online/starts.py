"""Where the topics start: at random, as in the paper, or found or given as in other families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stickbreak.baselines.online.state import OnlineState
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback
from stickbreak.initialization import Start, make_start, start_from_topics
from stickbreak.initialization.streams import Parameters, is_random, settings_of
from stickbreak.numerics.streams import stream


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
    if is_random(given.init):
        counts = stream(seed, "random topics").gamma(1.0, 1.0, size=(corpus.n_words, n_topics))
        counts[np.bincount(corpus.counts.indices, minlength=corpus.n_words) == 0] = 0.0
        return Start(counts, np.ones(n_topics))
    return make_start(given.init, corpus, settings_of(given, n_topics, seed, engine, report, stop))
