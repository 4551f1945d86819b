"""The draw that all representations share: a topic for a word, in time that follows the topics of the word.

The weight of topic k for word w is (n_kw + eta) coef_k, where coef_k holds all that depends on the document:

    sum_k (n_kw + eta) coef_k + fresh  =  sum over topics with n_kw > 0 of n_kw coef_k  +  eta sum_k coef_k  +  fresh

The first sum runs over the topics of the word, the second is kept from token to token, so nothing is approximated and
nothing grows with K but the arrays that are filled once for a document.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stickbreak.sampling._random import uniform
from stickbreak.sampling.state import SHIFT, TOPIC

HIGH, TABLES, FREE, RESUME = 0, 1, 2, 3  # places in `Topics.totals`
NEW = -1
_ONE = np.uint64(2**32)  # a token, in an entry of `WordTopics`


class Topics(NamedTuple):
    """The topics during a sweep, with room for new ones; numbers that died may stand between living ones."""

    n: NDArray[np.int64]  # (C,)  tokens n_k
    m: NDArray[np.int64]  # (C,)  tables M_k
    beta: NDArray[np.float64]  # (C + 1,)  corpus weights (direct assignment alone), last the rest
    free: NDArray[np.int64]  # (C,)  numbers that died, as a stack
    totals: NDArray[np.int64]  # (4,)  numbers given out, tables M, height of the stack, token to go on with
    rng: NDArray[np.uint64]  # (1,)  stream of the document at hand
    # of the document at hand
    n_d: NDArray[np.int64]  # (C,)  tokens n_jk
    m_d: NDArray[np.int64]  # (C,)  tables m_jk
    place: NDArray[np.int64]  # (C,)  where the topic stands in `here`
    here: NDArray[np.int64]  # (C,)  topics of the document
    coef: NDArray[np.float64]  # (C,)
    opening: NDArray[np.float64]  # (C,)  factor of coef for a token that opens a table
    sitting: NDArray[np.float64]  # (C,)  factor of coef for a token that joins a table


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def take_word(words, w, k):
    """n_kw -= 1."""
    s = words.start[w]
    while words.entry[s] & TOPIC != np.uint64(k):
        s += 1
    words.entry[s] -= _ONE
    if words.entry[s] < _ONE:
        words.size[w] -= 1
        words.entry[s] = words.entry[words.start[w] + words.size[w]]


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def put_word(words, w, k):
    """n_kw += 1."""
    s, end = words.start[w], words.start[w] + words.size[w]
    while s < end and words.entry[s] & TOPIC != np.uint64(k):
        s += 1
    if s == end:
        words.entry[s] = np.uint64(k)
        words.size[w] += 1
    words.entry[s] += _ONE


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def word_mass(entries, begin, end, coef):
    """Sum of n_kw coef_k over the topics of a word."""
    mass = 0.0
    for s in range(np.uint64(begin), np.uint64(end)):  # unsigned: several loads in one
        mass += (entries[s] >> SHIFT) * coef[entries[s] & TOPIC]
    return mass


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def draw_topic(words, w, coef, high, coef_sum, eta, fresh, rng):
    """Draw k in proportion to (n_kw + eta) coef_k, or NEW in proportion to `fresh`."""
    s, end = np.uint64(words.start[w]), np.uint64(words.start[w] + words.size[w])
    mass = word_mass(words.entry, s, end, coef)
    smooth = eta * coef_sum
    u = uniform(rng) * (mass + smooth + fresh)
    chosen = np.int64(NEW)
    if u < mass:
        while s < end and u >= 0.0:
            entry = words.entry[s]
            u -= (entry >> SHIFT) * coef[entry & TOPIC]
            chosen = np.int64(entry & TOPIC)
            s += np.uint64(1)
    elif u < mass + smooth:
        u = (u - mass) / eta
        for k in range(high):
            if coef[k] > 0.0 and u >= 0.0:
                chosen = np.int64(k)
                u -= coef[k]
    return chosen


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def new_number(topics, reuse):
    """Return the number of a new topic, whose counts are zero; numbers of dead ones again if `reuse`."""
    totals = topics.totals
    if reuse and totals[FREE] > 0:
        totals[FREE] -= 1
        return topics.free[totals[FREE]]
    totals[HIGH] += 1
    return totals[HIGH] - 1


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def retire(topics, k):
    """Give the number of a topic without tokens back."""
    topics.free[topics.totals[FREE]] = k
    topics.totals[FREE] += 1
    topics.coef[k] = 0.0


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def has_room(topics, n_tokens):
    """Whether every token of a document may open a topic of its own."""
    return topics.totals[HIGH] + n_tokens <= topics.n.size


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def enter_topic(topics, k, n_here):
    """Note that the document now has the topic; return how many it has."""
    topics.here[n_here], topics.place[k] = k, n_here
    return n_here + 1


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def leave_topic(topics, k, n_here):
    """Note that the document has the topic no longer; return how many it has."""
    last = topics.here[n_here - 1]
    topics.here[topics.place[k]], topics.place[last] = last, topics.place[k]
    return n_here - 1
