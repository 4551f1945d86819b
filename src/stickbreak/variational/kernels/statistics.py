"""Compiled loops of the variational HDP: plain arrays in and out; NumPy twins in tests/variational/reference.py.

All kernels release the interpreter lock and touch only the rows that they are given, so that shards of documents (or of
words) run on any number of threads with the same result. `reassoc` lets the compiler vectorise sums. A loop that sums
under it must not store to an array: the compiler would keep a scalar version of the loop for arrays that might overlap,
choose by their places in memory, and the last bits of the sum would change from run to run.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, log_gamma, trigamma

# Responsibilities are products: c_dw r_dwk = ratio_dw weight_dk weights_wk.                          docs/math (V6)


class Counts(NamedTuple):
    """The stored counts of D documents, and what their words are to the topics."""

    indptr: NDArray[np.int64]  # (D + 1,)
    word: NDArray[np.int32]  # (nnz,)
    ratio: NDArray[np.float64]  # (nnz,)
    weights: NDArray[np.float64]  # (W, K)


class Topics(NamedTuple):
    """The topics that D documents use."""

    indptr: NDArray[np.int64]  # (D + 1,)
    topic: NDArray[np.int32]  # (n,)
    weight: NDArray[np.float64]  # (n,)


@njit(cache=True, nogil=True)
def document_statistics(indptr, topic, n_dk, prior, lengths, T, Q):
    """Add sum_d of E log pi_dk and log Gamma(theta_dk), theta_dk = prior[k] + N_dk; return sum_d log Gamma(sum theta).

    Topics that a document does not use all have theta_dk = prior[k]: they are counted and added once.    docs/math (V8)
    """
    n_topics, n_documents = prior.size - 1, indptr.size - 1
    used = np.zeros(n_topics, np.int64)
    total_prior = 0.0
    for k in range(n_topics + 1):
        total_prior += prior[k]
    psi_sum, Q0 = 0.0, 0.0
    for d in range(n_documents):
        psi_sum += digamma(total_prior + lengths[d])
        Q0 += log_gamma(total_prior + lengths[d])
        for p in range(indptr[d], indptr[d + 1]):
            k = topic[p]
            theta = prior[k] + n_dk[p]
            used[k] += 1
            T[k] += digamma(theta)
            Q[k] += log_gamma(theta)
    for k in range(n_topics + 1):
        unused = n_documents - (used[k] if k < n_topics else 0)
        if unused > 0:
            T[k] += unused * digamma(prior[k])
            Q[k] += unused * log_gamma(prior[k])
        T[k] -= psi_sum
    return Q0


@njit(cache=True, nogil=True)
def word_statistics(first, last, by_word, document, ratio, topics, weights, S, cross):
    """S[w, k] = weights[w, k] sum_d ratio_dw weight_dk, first <= w < last; cross[k] += sum_w S[w, k] log weights[w, k].

    Accumulated word by word, as `group_by_word` sorts them, so that threads never write to one place.  docs/math (V8)
    """
    (by_word_ptr, position), (topic_ptr, topic, weight) = by_word, topics
    n_topics = S.shape[1]
    for w in range(first, last):
        row = S[w]
        for q in range(by_word_ptr[w], by_word_ptr[w + 1]):
            p = position[q]
            d, v = document[p], ratio[p]
            for j in range(topic_ptr[d], topic_ptr[d + 1]):
                row[topic[j]] += v * weight[j]
        for k in range(n_topics):
            row[k] *= weights[w, k]
            if row[k] > 0.0:
                cross[k] += row[k] * math.log(weights[w, k])


@njit(cache=True, nogil=True)
def group_by_word(word, n_words):
    """Positions of the stored counts sorted by word (stable): (by_word_ptr, position)."""
    pointer = np.zeros(n_words + 1, np.int64)
    for p in range(word.size):
        pointer[word[p] + 1] += 1
    for w in range(n_words):
        pointer[w + 1] += pointer[w]
    position = np.empty(word.size, np.int64)
    free = pointer[:-1].copy()
    for p in range(word.size):
        position[free[word[p]]] = p
        free[word[p]] += 1
    return pointer, position


@njit(cache=True, nogil=True)
def pair_statistics(counts, topics, n_dk, prior, lengths, pairs, T, G, Q, H):
    """Add T, G, Q of the union of each tracked pair, and H' - H_l - H_m.           docs/math (V12)

    The entropy differs from the sum of both only in documents that use both topics.
    """
    (topic_ptr, topic, weight), (left, right) = topics, pairs
    n_topics, n_pairs, n_documents = prior.size - 1, left.size, topic_ptr.size - 1
    slot = np.full(n_topics, -1, np.int64)
    total_prior = 0.0
    for k in range(n_topics + 1):
        total_prior += prior[k]
    neither = np.zeros(n_pairs, np.int64)
    for d in range(n_documents):
        psi_sum = digamma(total_prior + lengths[d])
        for p in range(topic_ptr[d], topic_ptr[d + 1]):
            slot[topic[p]] = p
        for i in range(n_pairs):
            a, b = slot[left[i]], slot[right[i]]
            base = prior[left[i]] + prior[right[i]]
            if a < 0 and b < 0:
                neither[i] += 1
                T[i] -= psi_sum
                G[i] += base * psi_sum
                continue
            n = (n_dk[a] if a >= 0 else 0.0) + (n_dk[b] if b >= 0 else 0.0)
            e = digamma(base + n) - psi_sum
            T[i] += e
            G[i] -= base * e  # N - theta of the union is minus its prior
            Q[i] += log_gamma(base + n)
            if a >= 0 and b >= 0:
                H[i] += _joint_entropy(counts, d, left[i], right[i], weight[a], weight[b])
        for p in range(topic_ptr[d], topic_ptr[d + 1]):
            slot[topic[p]] = -1
    for i in range(n_pairs):
        base = prior[left[i]] + prior[right[i]]
        T[i] += neither[i] * digamma(base)
        G[i] -= neither[i] * base * digamma(base)
        Q[i] += neither[i] * log_gamma(base)


@njit(cache=True, nogil=True)
def pair_entropies(counts, topics, pairs, H):
    """Add H' - H_l - H_m of the union of each tracked pair.                         docs/math (V12)"""
    (topic_ptr, topic, weight), (left, right) = topics, pairs
    slot = np.full(counts.weights.shape[1], -1, np.int64)
    for d in range(topic_ptr.size - 1):
        for p in range(topic_ptr[d], topic_ptr[d + 1]):
            slot[topic[p]] = p
        for i in range(left.size):
            a, b = slot[left[i]], slot[right[i]]
            if a >= 0 and b >= 0:
                H[i] += _joint_entropy(counts, d, left[i], right[i], weight[a], weight[b])
        for p in range(topic_ptr[d], topic_ptr[d + 1]):
            slot[topic[p]] = -1


@njit(cache=True, nogil=True)
def _joint_entropy(counts, d, left, right, weight_left, weight_right):
    """- sum_w c [ (r_l + r_m) log(r_l + r_m) - r_l log r_l - r_m log r_m ] of document d."""
    indptr, word, ratio, weights = counts
    total = 0.0
    for p in range(indptr[d], indptr[d + 1]):
        x = weight_left * weights[word[p], left] * ratio[p]
        y = weight_right * weights[word[p], right] * ratio[p]  # c r_l, c r_m
        if x > 0.0 and y > 0.0:
            total += x * math.log(x / (x + y)) + y * math.log(y / (x + y))
    return total


@njit(cache=True, nogil=True)
def responsibilities(documents, counts, topics, share_ptr, share):
    """Write c_dw r_dwk = ratio_dw weight_dk weights[w, k] of some documents, (U_d, A_d) by rows.     docs/math (V6)"""
    (indptr, word, ratio, weights), (topic_ptr, topic, weight) = counts, topics
    for i in range(documents.size):
        d, at = documents[i], share_ptr[i]
        for p in range(indptr[d], indptr[d + 1]):
            row = weights[word[p]]
            for q in range(topic_ptr[d], topic_ptr[d + 1]):
                share[at] = ratio[p] * weight[q] * row[topic[q]]
                at += 1


@njit(cache=True, nogil=True)
def explains_all(indptr, word, topic_ptr, topic, tau, least, out):
    """out[d]: whether each word of document d has a topic of the document with tau[w, k] of at least `least`."""
    for d in range(indptr.size - 1):
        out[d] = True
        for p in range(indptr[d], indptr[d + 1]):
            row, found = tau[word[p]], False
            for q in range(topic_ptr[d], topic_ptr[d + 1]):
                found = found or row[topic[q]] >= least
            out[d] = out[d] and found


@njit(cache=True, nogil=True)
def best_unexplained(indptr, word, start_ptr, start_topic, weights, least, best):
    """best[n]: the topic of largest weight of observation n if none of its document's reaches `least`, else -1.

    Documents without any topic in the start may choose any, and are left alone.
    """
    for d in range(indptr.size - 1):
        for n in range(indptr[d], indptr[d + 1]):
            row = weights[word[n]]
            best[n] = -1
            if start_ptr[d] == start_ptr[d + 1]:
                continue
            found = 0.0
            for p in range(start_ptr[d], start_ptr[d + 1]):
                found = max(found, row[start_topic[p]])
            if found < least:
                k = 0
                for j in range(row.size):
                    if row[j] > row[k]:
                        k = j
                best[n] = k


@njit(cache=True, nogil=True)
def relabel_responsibilities(
    indptr, topic_ptr, topic, share_ptr, share, new_index, new_ptr, new_topic, new_share_ptr, new_share
):  # fmt: skip
    """Add the column of each topic to that of its new name."""
    n_documents = indptr.size - 1
    slot = np.zeros(new_index.size, np.int64)
    for d in range(n_documents):
        old, new = topic_ptr[d + 1] - topic_ptr[d], new_ptr[d + 1] - new_ptr[d]
        for j in range(new):
            slot[new_topic[new_ptr[d] + j]] = j
        for i in range(indptr[d + 1] - indptr[d]):
            for j in range(old):
                k = slot[new_index[topic[topic_ptr[d] + j]]]
                new_share[new_share_ptr[d] + i * new + k] += share[share_ptr[d] + i * old + j]


@njit(cache=True, nogil=True)
def share_statistics(indptr, word, count, topic_ptr, topic, share_ptr, share, S, H):
    """S[w, k] += c r, H[k] -= c r log r of documents whose responsibilities are stored.               docs/math (V8)"""
    for d in range(indptr.size - 1):
        at = share_ptr[d]
        for p in range(indptr[d], indptr[d + 1]):
            for q in range(topic_ptr[d], topic_ptr[d + 1]):
                if share[at] > 0.0:
                    S[word[p], topic[q]] += share[at]
                    H[topic[q]] -= share[at] * math.log(share[at] / count[p])
                at += 1


@njit(cache=True, nogil=True)
def stick_terms(rho, omega, T, n_documents, alpha, gamma, by_rho, by_omega):
    """Return L_G and write its gradient.                                            docs/math (V10), (V11)

    L_G = sum_k { -c_B(a_k, b_k) + (D + 1 - a_k) E log u_k + (D (K + 1 - k) + gamma - b_k) E log(1 - u_k) }
          + alpha sum_{k <= K+1} E[beta_k] T_k,                    a = rho omega, b = (1 - rho) omega

    alpha Delta T costs O(K) by the suffix sums R_m = sum_{k>m} E[beta_k] T_k: its row m is
    E[beta_m] T_m / rho_m - R_m / (1 - rho_m).
    """
    n_topics = rho.size
    total, log_rest = 0.0, 0.0
    for k in range(n_topics):  # by_rho holds E[beta_k] T_k until the second loop
        a, b = rho[k] * omega[k], (1.0 - rho[k]) * omega[k]
        from_a, from_b = n_documents + 1.0 - a, n_documents * (n_topics - k) + gamma - b
        psi_omega = digamma(omega[k])
        total += log_gamma(a) + log_gamma(b) - log_gamma(omega[k])
        total += from_a * (digamma(a) - psi_omega) + from_b * (digamma(b) - psi_omega)
        by_rho[k] = rho[k] * math.exp(log_rest) * T[k]
        total += alpha * by_rho[k]
        log_rest += math.log1p(-rho[k])
    suffix = math.exp(log_rest) * T[n_topics]
    total += alpha * suffix
    for k in range(n_topics - 1, -1, -1):
        a, b = rho[k] * omega[k], (1.0 - rho[k]) * omega[k]
        from_a, from_b = n_documents + 1.0 - a, n_documents * (n_topics - k) + gamma - b
        trigamma_a, trigamma_b, trigamma_omega = trigamma(a), trigamma(b), trigamma(omega[k])
        delta_t = by_rho[k] / rho[k] - suffix / (1.0 - rho[k])
        suffix += by_rho[k]
        by_rho[k] = omega[k] * (from_a * trigamma_a - from_b * trigamma_b) + alpha * delta_t
        by_omega[k] = from_a * (rho[k] * trigamma_a - trigamma_omega)
        by_omega[k] += from_b * ((1.0 - rho[k]) * trigamma_b - trigamma_omega)
    return total


@njit(cache=True, nogil=True)
def squared_weights(rho, omega, by_rho, by_omega):
    """Return E[sum_{k <= K+1} beta_k^2] and write its gradient, in O(K).            docs/math (V13)

    With p_k = E[u_k^2] and s_k = E[(1 - u_k)^2] the value is M_1 of M_k = p_k + s_k M_{k+1}, M_{K+1} = 1. Topic m moves
    it by P_m (dp_m + ds_m M_{m+1}), P_m = prod_{l<m} s_l: a prefix and a suffix, nothing is divided by a product.
    """
    n_topics = rho.size
    prefix = 1.0
    for k in range(n_topics):  # by_omega holds P_k until the second loop
        by_omega[k] = prefix
        rest = 1.0 - rho[k]
        prefix *= rest * rest + rho[k] * rest / (omega[k] + 1.0)  # mean^2 + variance
    suffix = 1.0
    for k in range(n_topics - 1, -1, -1):
        rest, wide = 1.0 - rho[k], omega[k] + 1.0
        variance = rho[k] * rest / wide
        prefix = by_omega[k]
        by_rho[k] = prefix * ((2.0 * rho[k] * omega[k] + 1.0) - suffix * (2.0 * rest * omega[k] + 1.0)) / wide
        by_omega[k] = -prefix * variance / wide * (1.0 + suffix)
        suffix = rho[k] * rho[k] + variance + (rest * rest + variance) * suffix
    return suffix


# Rows that are stored without their zeros: row i holds value[p] in column topic[p], indptr[i] <= p < indptr[i + 1].
# The sums are those of dense arrays, in the same order: zeros are left out of them, and nothing else.


@njit(cache=True, nogil=True)
def count_entries(dense, indptr):
    """indptr[i + 1] = entries other than zero in the first i + 1 rows."""
    indptr[0] = 0
    for i in range(dense.shape[0]):
        found = 0
        for k in range(dense.shape[1]):
            if dense[i, k] != 0.0:
                found += 1
        indptr[i + 1] = indptr[i] + found


@njit(cache=True, nogil=True)
def take_entries(dense, indptr, topic, value):
    """Write what `count_entries` has counted."""
    for i in range(dense.shape[0]):
        p = indptr[i]
        for k in range(dense.shape[1]):
            if dense[i, k] != 0.0:
                topic[p] = k
                value[p] = dense[i, k]
                p += 1


@njit(cache=True, nogil=True)
def add_entries(indptr, topic, value, rows, sign, out):
    """out[rows[i], topic[p]] += sign value[p]."""
    for i in range(rows.size):
        row = out[rows[i]]
        for p in range(indptr[i], indptr[i + 1]):
            row[topic[p]] += sign * value[p]


@njit(cache=True, nogil=True)
def relabel_entries(indptr, topic, value, new_index, n_topics, out_indptr, out_topic, out_value):
    """Column k becomes new_index[k]: equal ones are added, in ascending k, those below zero left out.

    Rows keep ascending columns and hold no zeros. Returns the number of entries.
    """
    total, seen = np.empty(n_topics), np.full(n_topics, -1, np.int64)
    size = 0
    out_indptr[0] = 0
    for i in range(indptr.size - 1):
        low, high = n_topics, -1
        for p in range(indptr[i], indptr[i + 1]):
            k = new_index[topic[p]]
            if k < 0:
                continue
            total[k] = total[k] + value[p] if seen[k] == i else value[p]
            seen[k] = i
            low, high = min(low, k), max(high, k)
        for k in range(low, high + 1):
            if seen[k] == i and total[k] != 0.0:
                out_topic[size] = k
                out_value[size] = total[k]
                size += 1
        out_indptr[i + 1] = size
    return size


# Vectors and their components.


@njit(cache=True, nogil=True)
def spread_responsibilities(first, last, document, ratio, topics, weights, least, R, cross):
    """R[i, k] = r of vector first + i, below `least` zero; cross[k] += sum_n r log weights[n, k].  docs/math (V9)"""
    topic_ptr, topic, weight = topics
    for n in range(first, last):
        d = document[n]
        for p in range(topic_ptr[d], topic_ptr[d + 1]):
            k = topic[p]
            w = weights[n, k]
            r = ratio[n] * weight[p] * w
            if r > 0.0:
                cross[k] += r * math.log(w)
            R[n - first, k] = r if r >= least else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def mixture_step(elog, log_weights, least, weights, ratio, size):
    """Responsibilities of vectors that share one distribution over components.            docs/math (N3)

    r_nk ∝ exp(elog[n, k] + log_weights[k]); those below `least` of the largest are zero, the rest sum to one. Written:
    weights[n, k] = exp(elog - s_n), zero where r is; ratio[n] = 1 / Z_n; size[n] = components with r > 0.
    """
    n_components = log_weights.size
    threshold = math.log(least)
    share = np.exp(log_weights)
    for n in range(elog.shape[0]):
        top, shift = -np.inf, 0.0
        for k in range(n_components):
            score = elog[n, k] + log_weights[k]
            if score > top:
                top, shift = score, elog[n, k]
        z, found = 0.0, 0
        for k in range(n_components):
            weights[n, k] = 0.0
            if elog[n, k] + log_weights[k] - top >= threshold:
                w = math.exp(elog[n, k] - shift)
                if share[k] * w > 0.0:
                    weights[n, k] = w
                    z += share[k] * w
                    found += 1
        ratio[n] = 1.0 / z
        size[n] = found


@njit(cache=True, nogil=True)
def list_components(weights, share, ratio, indptr, topic, r, weight, entropy):
    """List the components of each vector: r, what multiplied its weights, and r log Z."""
    for n in range(weights.shape[0]):
        p = indptr[n]
        log_z = -math.log(ratio[n])
        for k in range(weights.shape[1]):
            if weights[n, k] > 0.0:
                topic[p] = k
                r[p] = share[k] * weights[n, k] * ratio[n]
                weight[p] = share[k]
                entropy[p] = r[p] * log_z
                p += 1
