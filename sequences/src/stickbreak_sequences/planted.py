"""Sequences with known states, to try what a fit finds."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.arrays import Int
from stickbreak.numerics.streams import stream
from stickbreak_sequences.data import Sequences


def planted_states(
    kind: str = "full",
    *,
    n_states: int = 5,
    n_sequences: int = 10,
    length: int = 200,
    stay: float = 0.95,
    n_symbols: int = 20,
    seed: int = 0,
) -> tuple[Sequences, Int]:
    """Draw sequences and their states.

    Parameters
    ----------
    kind : {"full", "symbols"}, default="full"
        Vectors of two numbers, around means on a circle; or ten symbols at each step, each state with some of its own.
    n_states, n_sequences, length : int
    stay : float, default=0.95
        Probability of staying in a state; the others are equally likely.
    n_symbols : int, default=20
    seed : int, default=0

    Returns
    -------
    sequences : Sequences
    states : ndarray of shape (n_sequences * length,)
    """
    rng = stream(seed, "planted states")
    states = np.empty((n_sequences, length), np.int64)
    for row in states:
        row[0] = rng.integers(n_states)
        for t in range(1, length):
            other = (row[t - 1] + rng.integers(1, max(n_states, 2))) % n_states
            row[t] = row[t - 1] if rng.random() < stay else other
    flat = states.ravel()
    lengths = np.full(n_sequences, length)
    if kind == "symbols":
        from scipy import sparse

        own = rng.dirichlet(np.full(n_symbols, 0.2), n_states)
        counts = np.array([rng.multinomial(10, own[k]) for k in flat], np.float64)
        return Sequences.of(sparse.csr_array(counts), lengths), flat
    angle = 2 * np.pi * np.arange(n_states) / n_states
    means = 4.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return Sequences.of(means[flat] + rng.normal(size=(flat.size, 2)), lengths), flat
