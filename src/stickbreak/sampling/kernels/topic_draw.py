"""The draw that all representations share: a topic for a word, in time that follows the topics of the word.

The weight of topic k for word w is (n_kw + eta) coef_k, where coef_k, of an array or in `Parts`, holds all that depends
on the document:

    sum_k (n_kw + eta) coef_k + fresh  =  sum over topics with n_kw > 0 of n_kw coef_k  +  eta sum_k coef_k  +  fresh

The first sum runs over the topics of the word, the second is kept from token to token, so nothing is approximated and
nothing grows with K but the arrays that are filled once for a document.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform
from stickbreak.sampling.kernels.counts import SHIFT, TOPIC

HIGH, TABLES, FREE, RESUME, MOST = 0, 1, 2, 3, 4  # places in `Topics.totals`
NEW = -1
_ONE = np.uint64(2**32)  # a token, in an entry of `WordTopics`


class Topics(NamedTuple):
    """The topics during a sweep, with room for new ones; numbers that died may stand between living ones."""

    n: NDArray[np.int64]  # (C,)  tokens n_k
    m: NDArray[np.int64]  # (C,)  tables M_k
    free: NDArray[np.int64]  # (C,)  numbers that died, as a stack
    totals: NDArray[np.int64]  # (5,)  numbers given out, tables M, height of stack, token to go on with, most topics
    rng: NDArray[np.uint64]  # (1,)  stream of the document at hand
    # of the document at hand
    n_d: NDArray[np.int64]  # (C,)  tokens n_jk
    m_d: NDArray[np.int64]  # (C,)  tables m_jk
    place: NDArray[np.int64]  # (C,)  where the topic stands in `here`
    here: NDArray[np.int64]  # (C,)  topics of the document
    coef: NDArray[np.float64]  # (C,)
    opened: NDArray[np.float64]  # (C,)  share of coef of a token that opens a table (table indicators)
    seated: NDArray[np.float64]  # (C,)  share of coef of a token that joins a table, without gamma + M
    weight: NDArray[np.float64]  # (C,)  of a draw that is not sparse


class Parts(NamedTuple):
    """Weights coef_k = opened_k + scale seated_k, where the scale changes more often than the rest."""

    opened: NDArray[np.float64]  # (C,)
    seated: NDArray[np.float64]  # (C,)
    scale: float


# Kernels take the arrays out of their tuples once, at the top: a tuple's array that is taken out within a loop costs a
# reference count each time, unless it is borrowed.


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def take_word(start, size, entry, w, k):
    """n_kw -= 1, in the arrays of `WordTopics`."""
    s = start[w]
    while entry[s] & TOPIC != np.uint64(k):
        s += 1
    entry[s] -= _ONE
    if entry[s] < _ONE:
        size[w] -= 1
        entry[s] = entry[start[w] + size[w]]


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def put_word(start, size, entry, w, k, at):
    """n_kw += 1, in the arrays of `WordTopics`; its entry is at `at`, or else (NEW) to be looked for."""
    s, end = at if at >= 0 else start[w], start[w] + size[w]
    while s < end and entry[s] & TOPIC != np.uint64(k):
        s += 1
    if s == end:
        entry[s] = np.uint64(k)
        size[w] += 1
    entry[s] += _ONE


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy", fastmath={"contract", "reassoc"})
def word_mass(entry, begin, end, coef):
    """Sum of n_kw coef_k over the topics of a word."""
    mass = 0.0
    for s in range(begin, end):  # unsigned: several loads in one
        mass += (entry[s] >> SHIFT) * coef[entry[s] & TOPIC]
    return mass


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _masses_of_parts(entry, begin, end, opened, seated):
    """Return the sums of n_kw opened_k and of n_kw seated_k over the topics of a word."""
    opening, seating = 0.0, 0.0
    for s in range(begin, end):  # unsigned: several loads in one
        n, k = np.float64(entry[s] >> SHIFT), entry[s] & TOPIC
        opening += n * opened[k]
        seating += n * seated[k]
    return opening, seating


def _mass_of_parts(entry, begin, end, coef):
    opening, seating = _masses_of_parts(entry, begin, end, coef.opened, coef.seated)
    return opening + coef.scale * seating


def weight_of(coef, k):
    """Return coef_k: an entry of an array, or opened_k + scale seated_k."""
    return coef.opened[k] + coef.scale * coef.seated[k] if isinstance(coef, Parts) else coef[k]


def mass_of(entry, begin, end, coef):
    """Return the sum of n_kw coef_k over the topics of a word."""
    return (_mass_of_parts if isinstance(coef, Parts) else word_mass)(entry, begin, end, coef)


@overload(weight_of, inline="always")
def _weight_of(coef, k):
    if isinstance(coef, types.Array):
        return lambda coef, k: coef[k]
    return lambda coef, k: coef.opened[k] + coef.scale * coef.seated[k]


@overload(mass_of, inline="always")
def _mass_of(entry, begin, end, coef):
    def of_array(entry, begin, end, coef):
        return word_mass(entry, begin, end, coef)

    return of_array if isinstance(coef, types.Array) else _mass_of_parts


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def draw_topic(words, w, topics, n_here, coef, coef_sum, eta, fresh):
    """Draw k in proportion to (n_kw + eta) coef_k, or NEW in proportion to `fresh`.

    In the second sum the topics of the document come first: they have nearly all of it. Returns k and where n_kw stands
    among the entries, NEW where that is not known. words, `WordTopics`, and topics, `Topics`, are borrowed.
    """
    start, size, entry = words.start, words.size, words.entry
    here, n_d, high, rng = topics.here, topics.n_d, topics.totals[HIGH], topics.rng
    s, end = np.uint64(start[w]), np.uint64(start[w] + size[w])
    mass = mass_of(entry, s, end, coef)
    smooth = eta * coef_sum
    u = uniform(rng) * (mass + smooth + fresh)
    chosen, at = np.int64(NEW), np.int64(NEW)
    if u < mass:
        while s < end and u >= 0.0:
            k = entry[s] & TOPIC
            u -= np.float64(entry[s] >> SHIFT) * weight_of(coef, k)
            chosen = np.int64(k)
            s += np.uint64(1)
        at = np.int64(s) - 1
    elif u < mass + smooth:
        u, j, k = (u - mass) / eta, 0, 0
        while j < n_here and u >= 0.0:
            chosen = here[j]
            u -= weight_of(coef, chosen)
            j += 1
        while k < high and u >= 0.0:
            if n_d[k] == 0 and weight_of(coef, k) > 0.0:
                chosen = np.int64(k)
                u -= weight_of(coef, k)
            k += 1
    return chosen, at


@njit(cache=True, nogil=True, error_model="numpy")
def draw_among_all(words, w, topics, coef, eta, fresh):
    """Draw as `draw_topic` does, from the weights of all topics, one after the other."""
    start, size, entry = words.start, words.size, words.entry
    weight, high, rng = topics.weight, topics.totals[HIGH], topics.rng
    total = fresh
    for k in range(high):
        weight[k] = eta * weight_of(coef, k)
    for s in range(start[w], start[w] + size[w]):
        k = entry[s] & TOPIC
        weight[k] += np.int64(entry[s] >> SHIFT) * weight_of(coef, k)
    for k in range(high):
        total += weight[k]
    u = uniform(rng) * total
    for k in range(high):
        u -= weight[k]
        if u < 0.0:
            return np.int64(k), np.int64(NEW)
    return np.int64(NEW), np.int64(NEW)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def sum_of(coef, high):
    """Sum of coef_k over the topics 0 .. high - 1."""
    total = 0.0
    for k in range(high):
        total += coef[k]
    return total


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def new_number(totals, free):
    """Return the number of a new topic, whose counts are zero; those of dead ones come again."""
    if totals[FREE] > 0:
        totals[FREE] -= 1
        return free[totals[FREE]]
    totals[HIGH] += 1
    return totals[HIGH] - 1


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def is_full(totals):
    """Whether there are as many topics as there may be, so that none can be new."""
    return totals[HIGH] - totals[FREE] >= totals[MOST]


@njit(cache=True, nogil=True, error_model="numpy")
def heaviest(coef, n_k, high):
    """Return the topic of the largest coefficient: where rounding or underflow has left a draw without one."""
    chosen = np.int64(0)
    for k in range(1, high):
        if n_k[k] > 0 and (n_k[chosen] == 0 or weight_of(coef, k) > weight_of(coef, chosen)):
            chosen = np.int64(k)
    return chosen


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def retire(totals, free, k):
    """Give the number of a topic without tokens back."""
    free[totals[FREE]] = k
    totals[FREE] += 1


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def leave_topic(here, place, k, n_here):
    """Note that the document has the topic no longer; return how many it has."""
    last = here[n_here - 1]
    here[place[k]], place[last] = last, place[k]
    return n_here - 1
