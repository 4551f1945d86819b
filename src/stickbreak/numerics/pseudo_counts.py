"""The pseudo-counts eta of words in a topic: one number for all words, or one for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.arrays import Float

Eta = float | Float


def total_of(eta: Eta, n_words: int) -> float:
    """Return the sum of eta over all words."""
    return float(eta.sum()) if isinstance(eta, np.ndarray) else n_words * eta


def widened(eta: Eta, n_words: int) -> Eta:
    """Return eta for more words than before: new ones, which come last, have the mean of the others."""
    if not isinstance(eta, np.ndarray):
        return eta
    return np.append(eta, np.full(n_words - eta.size, eta.mean()))


def factor_of(eta: Eta) -> float:
    """Return what sums of `beside_one` are to be multiplied by: the number, or 1."""
    return 1.0 if isinstance(eta, np.ndarray) else eta


def of_words(eta: Eta, words: NDArray[np.integer] | slice) -> Eta:
    """Return eta of some words: the number, or an array of its own."""
    return np.ascontiguousarray(eta[words]) if isinstance(eta, np.ndarray) else eta


def by_word(eta: Eta, words: NDArray[np.integer] | slice = slice(None)) -> Float | float:
    """Return eta of some words as it is added to a table of words and topics, (n, K)."""
    return eta[words][:, None] if isinstance(eta, np.ndarray) else eta


def prior_mean(eta: Eta, n_words: int) -> Float:
    """Return the word distribution of a topic of which nothing is known, (W,)."""
    return eta / eta.sum() if isinstance(eta, np.ndarray) else np.full(n_words, 1.0 / n_words)
