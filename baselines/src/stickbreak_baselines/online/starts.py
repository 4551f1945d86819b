"""Where the topics start: at random, as in the paper, or found or given as in other families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback
from stickbreak.initialization import Start, make_start, start_from_topics
from stickbreak.initialization.start import StreamParameters, is_random, settings_of
from stickbreak.numerics.streams import stream
from stickbreak_baselines.online.state import OnlineState
from stickbreak_baselines.word_prior import expected_near_seeds


def begin(
    given: StreamParameters,
    corpus: Corpus,
    n_topics: int,
    seed: int,
    share: float,
    n_tables: float,
    engine: Engine,
    report: Callback,
    stop: Callable[[], bool],
    pseudo: sparse.csr_array | None = None,
) -> OnlineState:
    """Return the state at the start.

    Parameters
    ----------
    given : StreamParameters
    corpus : Corpus
        The documents, or the first minibatch of them.
    n_topics : int
        Without those that have pseudo-counts.
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
    pseudo : csr_array of shape (W, n_kept), optional
        Pseudo-counts of topics that come before the others; they are not scaled.
    """
    start = _start(given, corpus, n_topics, seed, engine, report, stop, pseudo)
    S = start.counts * (share * corpus.n_tokens / start.counts.sum())
    n_kept = 0 if pseudo is None else int(pseudo.shape[1])
    if pseudo is not None:
        S[:, :n_kept] += pseudo.toarray()
    documents = int((corpus.document_lengths > 0).sum())
    tables = start.weights / start.weights.sum() * (share * documents * n_tables)
    return OnlineState.of(S, tables, n_kept=n_kept)


def _start(
    given: StreamParameters,
    corpus: Corpus,
    n_topics: int,
    seed: int,
    engine: Engine,
    report: Callback,
    stop: Any,
    pseudo: sparse.csr_array | None,
) -> Start:
    """Return topics, those that seeds or rows of eta say something of before the others, without pseudo-counts."""
    if not isinstance(given.init, str):
        return start_from_topics(given.init, corpus)
    if is_random(given.init):
        counts = stream(seed, "random topics").gamma(1.0, 1.0, size=(corpus.n_words, n_topics))
        counts[np.bincount(corpus.counts.indices, minlength=corpus.n_words) == 0] = 0.0
        random = Start(counts, np.ones(n_topics))
        return random if pseudo is None else _beside_seeds(random, corpus, pseudo)
    start = make_start(given.init, corpus, settings_of(given, n_topics, seed, engine, report, stop, pseudo))
    if pseudo is None:
        return start
    found = start.counts.copy()
    found[:, : pseudo.shape[1]] = np.maximum(found[:, : pseudo.shape[1]] - pseudo.toarray(), 0.0)
    return Start(found, start.weights)


def _beside_seeds(random: Start, corpus: Corpus, pseudo: sparse.csr_array) -> Start:
    """Return random topics of tokens that are not near seeds, after the topics of those that are.  docs/math (O16)"""
    near = expected_near_seeds(corpus, pseudo)
    left = np.maximum(np.asarray(corpus.counts.sum(axis=0)).ravel() - near.sum(axis=1), 0.0)
    others = random.counts * (left / np.maximum(random.counts.sum(axis=1), 1e-300))[:, None]
    return Start(np.hstack([near, others]), np.append(near.sum(axis=0), others.sum(axis=0)) + 1.0)
