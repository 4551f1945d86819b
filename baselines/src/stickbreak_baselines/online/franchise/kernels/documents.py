"""Compiled local step of `OnlineHDP` (docs/math (O2) to (O5)): documents one after another.

Topics of a table and tables of a word whose share is below exp(-CUT) of the largest one count as 0: next to the others,
that is below the rounding of a double. Tables without tokens all have the same topics, so these are computed once.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, log_gamma

CUT = 46.0  # nats; exp(-46) = 1e-20
START_SWEEPS = 5  # over the topics of a document before its tables begin with the largest
FEW = 8  # lists of more than an eighth of the topics are slower than all topics in a row
BARE_SWEEPS = 3  # of an even start, in which the sticks say nothing yet


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _add_times(factor, row, out):
    """Add a row times a factor."""
    for k in range(out.size):
        out[k] += factor * row[k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _dot(left, right):
    """sum_k left[k] right[k]."""
    total = 0.0
    for k in range(left.size):
        total += left[k] * right[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _start_even(count, zeta, tokens):
    """Put every word at all tables alike, as the code of the paper does."""
    n_tables = tokens.size
    tokens[:] = count.sum() / n_tables
    for i in range(count.size):
        for t in range(n_tables):
            zeta[i, t] = 1.0 / n_tables


@njit(cache=True, nogil=True, error_model="numpy")
def _start_topics(word, count, weights, prior, zeta, tokens, N, mass):
    """Give a table to each of the topics that a document has most of, the largest first.        docs/math (O6)"""
    n_topics, n_tables = prior.size, tokens.size
    N[:] = 0.0
    for _ in range(START_SWEEPS):
        for k in range(n_topics):
            mass[k] = N[k] + prior[k]
        N[:] = 0.0
        for i in range(word.size):
            row = weights[word[i]]
            total = _dot(row, mass)
            if total > 0.0:
                _add_times(count[i] / total, row, N)
        for k in range(n_topics):
            N[k] *= mass[k]
    chosen = np.argsort(-N)[:n_tables]
    tokens[:] = 0.0
    for i in range(word.size):
        row, total = weights[word[i]], 0.0
        for t in range(n_tables):
            zeta[i, t] = 0.0
            if t < chosen.size:
                zeta[i, t] = row[chosen[t]] * (N[chosen[t]] + prior[chosen[t]])
                total += zeta[i, t]
        for t in range(n_tables):
            zeta[i, t] = zeta[i, t] / total if total > 0.0 else 1.0 / n_tables
            tokens[t] += count[i] * zeta[i, t]


@njit(cache=True, nogil=True, error_model="numpy")
def _break_sticks(tokens, alpha, log_pi):
    """Set the sticks to their optimum, a_t = 1 + N_t and b_t = alpha + N_>t.                    docs/math (O3)

    Writes E log pi_t, and returns what the sticks add to the bound.
    """
    last, after, spent, value = tokens.size - 1, tokens.sum(), 0.0, 0.0
    for t in range(last):
        after = max(after - tokens[t], 0.0)
        a, b = 1.0 + tokens[t], alpha + after
        both = digamma(a + b)
        taken, left = digamma(a) - both, digamma(b) - both
        log_pi[t] = taken + spent
        spent += left
        value += math.log(alpha) - (log_gamma(a + b) - log_gamma(a) - log_gamma(b))
        value += (1.0 - a) * taken + (alpha - b) * left
    log_pi[last] = spent
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _choose(logit, expected_log, topic, share):
    """Share a table out among topics in proportion to exp(logit), and list the topics that have a part.  docs/math (O4)

    Returns
    -------
    n, value : int, float
        Topics in the list, and sum_k sigma_k (E log beta_k - log sigma_k), where logit = E log beta_k + expected_log.
    """
    n, largest, total, found = 0, logit.max(), 0.0, 0.0
    for k in range(logit.size):
        share[k] = 0.0
        if logit[k] > largest - CUT:
            topic[n], share[k] = k, math.exp(logit[k] - largest)
            total += share[k]
            n += 1
    for j in range(n):
        share[topic[j]] /= total
        found += share[topic[j]] * expected_log[topic[j]]
    return n, largest + math.log(total) - found


@njit(cache=True, nogil=True, error_model="numpy")
def _topics_of_tables(word, count, elog, log_beta, zeta, tokens, bare, P, logit, n_listed, topic, share):
    """Set the topics of all tables that have tokens.  Returns what these tables add to the bound.   docs/math (O4)"""
    n_tables = tokens.size
    for t in range(n_tables):
        if tokens[t] > 0.0:
            P[t, :] = 0.0
    for i in range(word.size):
        row = elog[word[i]]
        for t in range(n_tables):
            factor = count[i] * zeta[i, t]
            if factor > 0.0:
                _add_times(factor, row, P[t])
    value = 0.0
    for t in range(n_tables):
        if tokens[t] > 0.0:
            for k in range(log_beta.size):
                logit[k] = P[t, k] if bare else P[t, k] + log_beta[k]
            n_listed[t], gain = _choose(logit, P[t], topic[t], share[t])
            value += gain
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _seat(word, count, elog, log_pi, bare, of_empty, n_listed, topic, share, zeta, tokens, q):
    """Set the tables of all words.  Returns sum_w c_w log Z_w.                                     docs/math (O5)

    `of_empty` has sum_k sigma_k E log phi_kw of a table without tokens.
    """
    n_tables, value = tokens.size, 0.0
    empty = tokens <= 0.0
    tokens[:] = 0.0
    for i in range(word.size):
        row, largest = elog[word[i]], -np.inf
        for t in range(n_tables):
            q[t] = 0.0 if bare else log_pi[t]
            if empty[t]:
                q[t] += of_empty[i]
            elif FEW * n_listed[t] > row.size:
                q[t] += _dot(share[t], row)
            else:
                for j in range(n_listed[t]):
                    q[t] += share[t, topic[t, j]] * row[topic[t, j]]
            largest = max(largest, q[t])
        total = 0.0
        for t in range(n_tables):
            zeta[i, t] = math.exp(q[t] - largest) if q[t] > largest - CUT else 0.0
            total += zeta[i, t]
        for t in range(n_tables):
            zeta[i, t] /= total
            tokens[t] += count[i] * zeta[i, t]
        value += count[i] * (largest + math.log(total))
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _add_statistics(word, count, zeta, was_empty, n_listed, topic, share, n_even, even_topic, even_share, S, tables):
    """Add the tokens and tables of a document to S and `tables`.                                   docs/math (O7)"""
    for t in range(was_empty.size):
        if was_empty[t]:
            topics, shares, n = even_topic, even_share, n_even
        else:
            topics, shares, n = topic[t], share[t], n_listed[t]
        for j in range(n):
            tables[topics[j]] += shares[topics[j]]
        for i in range(word.size):
            tokens = count[i] * zeta[i, t]
            if tokens > 0.0:
                row = S[word[i]]
                for j in range(n):
                    row[topics[j]] += tokens * shares[topics[j]]


@njit(cache=True, nogil=True, error_model="numpy")
def local_step(
    indptr, word, count, elog, weights, log_beta, prior, alpha, n_tables, even, tolerance, max_sweeps,
    S, tables, value, sweeps,
):  # fmt: skip
    """Ascend the bound of each document in its tables, topics of tables and sticks.    docs/math (O2) to (O5)

    Parameters
    ----------
    indptr, word, count : of the documents
    elog, weights : (W_b, K)
        E log phi_kw of the words, and exp of it up to a factor for each word.
    log_beta, prior : (K,)
        E log beta_k, and alpha E beta_k.
    alpha : float
    n_tables : int
    even : bool
        Start at all tables alike, not at the largest topics.
    tolerance : float
        A document ends when a sweep raises its bound by less, in nats per token.
    max_sweeps : int
    S, tables : (W_b, K), (K,)
        Expected tokens and tables are added.
    value, sweeps : (D_b,)
        The part of the bound that a document adds, and sweeps of it.
    """
    n_topics = log_beta.size
    P, logit = np.empty((n_tables, n_topics)), np.empty(n_topics)
    n_listed, topic = np.zeros(n_tables, np.int64), np.zeros((n_tables, n_topics), np.int32)
    share, tokens, log_pi = np.empty((n_tables, n_topics)), np.empty(n_tables), np.empty(n_tables)
    N, mass, q = np.empty(n_topics), np.empty(n_topics), np.empty(n_tables)
    even_topic, even_share = np.empty(n_topics, np.int32), np.empty(n_topics)
    n_even, value_of_empty = _choose(log_beta, np.zeros(n_topics), even_topic, even_share)
    for d in range(indptr.size - 1):
        low, high = indptr[d], indptr[d + 1]
        value[d], sweeps[d] = 0.0, 0
        if low == high:
            continue
        w, c = word[low:high], count[low:high]
        length, zeta, of_empty = c.sum(), np.empty((high - low, n_tables)), np.empty(high - low)
        for i in range(w.size):
            of_empty[i] = _dot(even_share, elog[w[i]])
        if even:
            _start_even(c, zeta, tokens)
        else:
            _start_topics(w, c, weights, prior, zeta, tokens, N, mass)
        of_sticks = _break_sticks(tokens, alpha, log_pi)
        was_empty, before = tokens <= 0.0, -np.inf
        while sweeps[d] < max_sweeps or (even and sweeps[d] <= BARE_SWEEPS):
            bare = even and sweeps[d] < BARE_SWEEPS
            was_empty = tokens <= 0.0
            found = of_sticks + was_empty.sum() * value_of_empty
            found += _topics_of_tables(w, c, elog, log_beta, zeta, tokens, bare, P, logit, n_listed, topic, share)
            found += _seat(w, c, elog, log_pi, bare, of_empty, n_listed, topic, share, zeta, tokens, q)
            found -= _dot(tokens, log_pi) + of_sticks
            of_sticks = _break_sticks(tokens, alpha, log_pi)
            found += _dot(tokens, log_pi) + of_sticks
            sweeps[d] += 1
            value[d] = found
            if not bare:
                if not found - before > tolerance * length:
                    break
                before = found
        _add_statistics(w, c, zeta, was_empty, n_listed, topic, share, n_even, even_topic, even_share, S, tables)
