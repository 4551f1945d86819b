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

HIGH, TABLES, FREE = 0, 1, 2  # places in `Topics.totals`
NEW = -1


class Topics(NamedTuple):
    """The topics during a sweep, with room for new ones; numbers that died may stand between living ones."""

    n: NDArray[np.int64]  # (C,)  tokens n_k
    m: NDArray[np.int64]  # (C,)  tables M_k
    beta: NDArray[np.float64]  # (C + 1,)  corpus weights (direct assignment alone), last the rest
    free: NDArray[np.int64]  # (C,)  numbers that died, as a stack
    totals: NDArray[np.int64]  # (3,)  numbers given out so far, tables M, height of the stack
    rng: NDArray[np.uint64]  # (1,)  stream of the document at hand
    # of the document at hand
    n_d: NDArray[np.int64]  # (C,)  tokens n_jk
    m_d: NDArray[np.int64]  # (C,)  tables m_jk
    place: NDArray[np.int64]  # (C,)  where the topic stands in `here`
    here: NDArray[np.int64]  # (C,)  topics of the document
    coef: NDArray[np.float64]  # (C,)
    opening: NDArray[np.float64]  # (C,)  factor of coef for a token that opens a table
    sitting: NDArray[np.float64]  # (C,)  factor of coef for a token that joins a table


@njit(cache=True, nogil=True)
def take_word(words, w, k):
    """n_kw -= 1."""
    s = words.start[w]
    while words.topic[s] != k:
        s += 1
    words.n[s] -= 1
    if words.n[s] == 0:
        words.size[w] -= 1
        last = words.start[w] + words.size[w]
        words.topic[s], words.n[s] = words.topic[last], words.n[last]


@njit(cache=True, nogil=True)
def put_word(words, w, k):
    """n_kw += 1."""
    s, end = words.start[w], words.start[w] + words.size[w]
    while s < end and words.topic[s] != k:
        s += 1
    if s == end:
        words.topic[s], words.n[s] = k, 0
        words.size[w] += 1
    words.n[s] += 1


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def word_mass(words, w, coef):
    """Sum of n_kw coef_k over the topics of the word."""
    mass = 0.0
    for s in range(words.start[w], words.start[w] + words.size[w]):
        mass += words.n[s] * coef[words.topic[s]]
    return mass


@njit(cache=True, nogil=True)
def draw_topic(words, w, coef, high, coef_sum, eta, fresh, rng):
    """Draw k in proportion to (n_kw + eta) coef_k, or NEW in proportion to `fresh`."""
    mass = word_mass(words, w, coef)
    smooth = eta * coef_sum
    u = uniform(rng) * (mass + smooth + fresh)
    if u < mass:
        s, end = words.start[w], words.start[w] + words.size[w] - 1
        u -= words.n[s] * coef[words.topic[s]]
        while u >= 0.0 and s < end:
            s += 1
            u -= words.n[s] * coef[words.topic[s]]
        return np.int64(words.topic[s])
    u -= mass
    if u < smooth:
        u /= eta
        chosen = NEW
        for k in range(high):
            if coef[k] > 0.0:
                chosen = k
                u -= coef[k]
                if u < 0.0:
                    break
        return np.int64(chosen)
    return np.int64(NEW)


@njit(cache=True, nogil=True)
def new_number(topics, reuse):
    """Return the number of a new topic, whose counts are zero; numbers of dead ones again if `reuse`."""
    totals = topics.totals
    if reuse and totals[FREE] > 0:
        totals[FREE] -= 1
        return topics.free[totals[FREE]]
    totals[HIGH] += 1
    return totals[HIGH] - 1


@njit(cache=True, nogil=True)
def retire(topics, k):
    """Give the number of a topic without tokens back."""
    topics.free[topics.totals[FREE]] = k
    topics.totals[FREE] += 1
    topics.coef[k] = 0.0


@njit(cache=True, nogil=True)
def has_room(topics, n_tokens):
    """Whether every token of a document may open a topic of its own."""
    return topics.totals[HIGH] + n_tokens <= topics.n.size


@njit(cache=True, nogil=True)
def enter_topic(topics, k, n_here):
    """Note that the document now has the topic; return how many it has."""
    topics.here[n_here], topics.place[k] = k, n_here
    return n_here + 1


@njit(cache=True, nogil=True)
def leave_topic(topics, k, n_here):
    """Note that the document has the topic no longer; return how many it has."""
    last = topics.here[n_here - 1]
    topics.here[topics.place[k]], topics.place[last] = last, topics.place[k]
    return n_here - 1
