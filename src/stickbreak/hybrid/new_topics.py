"""The columns of an unbounded top level: topics that vanish leave theirs, and there is always one for a new topic."""

from __future__ import annotations

import numpy as np

from stickbreak.fitting.requirements import check_bytes
from stickbreak.hybrid.state import HybridState

VANISHED_TOKENS = 1e-3  # a topic with fewer expected tokens leaves its column


def make_room(state: HybridState, n_words: int) -> None:
    """Before a step, empty the columns of topics that have vanished, and see to it that one is free.  math.md (B7)

    A topic of S tokens has words within S / (S + W eta) of the prior, and at most S tables: it is a second slot, with a
    share S / gamma of the weight of the first one. So nothing is lost with it that a new topic could not be.

    The number of columns doubles when all are taken, and is cut down when three quarters are free: the memory follows
    the topics that are alive. What changes is changed in copies: a call that fails later takes up the former arrays.

    `state`: unbounded; it is given other arrays. `n_words`: words of the minibatch. Raises InputError if the topics do
    not fit into the memory.
    """
    gone = (state.tokens < VANISHED_TOKENS) | (state.tables == 0)
    vanished = np.flatnonzero(gone & ((state.tokens > 0) | (state.tables > 0)))
    kept = np.setdiff1d(np.flatnonzero(state.tables), vanished)
    n_columns, n_alive = state.n_topics, kept.size
    wanted = n_columns
    if n_alive == n_columns:
        wanted = 2 * n_columns
        check_columns(n_words, wanted, f"the fit has found {n_alive} topics")
    elif n_columns > 8 and 4 * (n_alive + 1) <= n_columns:
        wanted = 2 * (n_alive + 1)
    if vanished.size or wanted != n_columns:
        state.pairs, state.tokens, state.tables = state.pairs.copy(), state.tokens.copy(), state.tables.copy()
        state.pairs.drop(vanished)
        state.tokens[vanished], state.tables[vanished] = 0.0, 0.0
    if wanted != n_columns:
        _resize(state, kept, wanted)


def check_columns(n_words: int, n_columns: int, what: str) -> None:
    """Refuse more columns than the memory can carry: weights of the words of a minibatch, twice for the mean field."""
    needed = 8.0 * 2.0 * n_words * n_columns
    check_bytes(f"{what}: with {n_words} words in a minibatch it", needed, "give fewer topics or smaller minibatches")


def _resize(state: HybridState, kept: np.ndarray, n_columns: int) -> None:
    """Give the state another number of columns; those that are kept come first."""
    tokens, tables = np.zeros((2, n_columns))
    tokens[: kept.size], tables[: kept.size] = state.tokens[kept], state.tables[kept]
    state.pairs.renumber(kept, n_columns)
    state.tokens, state.tables = tokens, tables
