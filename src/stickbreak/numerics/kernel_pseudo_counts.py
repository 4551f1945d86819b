"""The pseudo-count eta of a word in a topic, as kernels take it: a number for all words, or an array (W,).

A kernel that is given a number is compiled as if there were no other way; one that is given an array is compiled apart.
"""

from __future__ import annotations

import math

import numpy as np
from numba.core import types
from numba.extending import overload


def of_word(eta, w):
    """Return eta of word w."""
    return eta if np.ndim(eta) == 0 else eta[w]


def beside_one(eta, w):
    """Return 1 for the number that is the same for all words, else eta of word w: what is summed over words."""
    return 1.0 if np.ndim(eta) == 0 else eta[w]


def total_of(eta, n_words):
    """Return the sum of eta over all words."""
    return n_words * eta if np.ndim(eta) == 0 else eta.sum()


def part_of(mass, known, eta, w, total_eta):
    """Return the part of a mass that word w has under the prior mean of the words; `known` is that of the number."""
    return known if np.ndim(eta) == 0 else mass * eta[w] / total_eta


def log_gamma_of(eta, w, known):
    """Return log Gamma(eta) of word w; `known` is that of the number."""
    return known if np.ndim(eta) == 0 else math.lgamma(eta[w])


@overload(of_word, inline="always")
def _of_word(eta, w):
    return (lambda eta, w: eta[w]) if isinstance(eta, types.Array) else (lambda eta, w: eta)


@overload(beside_one, inline="always")
def _beside_one(eta, w):
    return (lambda eta, w: eta[w]) if isinstance(eta, types.Array) else (lambda eta, w: 1.0)


@overload(total_of, inline="always")
def _total_of(eta, n_words):
    return (lambda eta, n_words: eta.sum()) if isinstance(eta, types.Array) else (lambda eta, n_words: n_words * eta)


@overload(part_of, inline="always")
def _part_of(mass, known, eta, w, total_eta):
    if isinstance(eta, types.Array):
        return lambda mass, known, eta, w, total_eta: mass * eta[w] / total_eta
    return lambda mass, known, eta, w, total_eta: known


@overload(log_gamma_of, inline="always")
def _log_gamma_of(eta, w, known):
    if isinstance(eta, types.Array):
        return lambda eta, w, known: math.lgamma(eta[w])
    return lambda eta, w, known: known
