"""What two topics gain as one (docs/math (L13), (L14)); NumPy twins in tests/topics/reference.py."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.special import log_gamma
from stickbreak.sparse_gibbs.kernels.sweeps import log_weight

FEW = 8  # tokens, above which logarithms of Gamma are quicker
_TERMS = 7  # of log1p(x), for x up to an eighth: an error of 1e-8
_SMALLEST, _LARGEST = 1e-200, 1e200  # of a product, whose logarithm is taken once for many factors


class TopicTokens(NamedTuple):
    """All N tokens topic by topic, those of a topic document by document."""

    begin: NDArray[np.int64]  # (K + 1,)  topic k has the tokens begin[k] to begin[k + 1]
    member: NDArray[np.uint32]  # (N,)  number of the token, document by document
    word: NDArray[np.uint32]  # (N,)
    document: NDArray[np.uint32]  # (N,)


class MergePriors(NamedTuple):
    """The Dirichlet priors of K topics of W words in D documents."""

    a: NDArray[np.float64]  # (K,)
    scale: NDArray[np.float64]  # (D,)  a_k counts so often in a document
    eta: NDArray[np.float64]  # (W,)
    pseudo: NDArray[np.float64]  # (W, n)  of the first n topics, beside eta
    total: NDArray[np.float64]  # (K,)  sum of eta and the pseudo-counts of each topic
    row: NDArray[np.uint32]  # (D,)  of each document in x; empty where weights do not depend on columns
    x: NDArray[np.float64]  # (U, 1 + p)
    weights: NDArray[np.float64]  # (K, 1 + p)  lambda_k: log a_k, and the effects


@njit(cache=True, nogil=True, error_model="numpy")
def add_words(counts, eta, gains):
    """Add sum_w f(n_kw + n_lw) - f(n_kw) - f(n_lw) to gains[k, l], k > l.

    f(n) = log Gamma(n + eta_w) - log Gamma(eta_w). `counts` are of whole tokens, (W, K).
    """
    W, K = counts.shape
    topics = np.empty(K, np.int64)
    for w in range(W):
        size, tokens = 0, 0
        for k in range(K):
            if counts[w, k] > 0:
                topics[size] = k
                size += 1
                tokens += counts[w, k]
        if size < 2:
            continue
        f = np.zeros(tokens + 1)
        for n in range(tokens):
            f[n + 1] = f[n] + math.log(eta[w] + n)
        for i in range(size):
            k, n = topics[i], counts[w, topics[i]]
            for j in range(i):
                m = counts[w, topics[j]]
                gains[k, topics[j]] += f[n + m] - f[n] - f[m]


@njit(cache=True, nogil=True, error_model="numpy")
def _of_both(n, m, b):
    """F(n + m, b) - F(n, b) - F(m, b), for few tokens the logarithm of a product of the factors of the fewer ones."""
    few, many = min(n, m), max(n, m)
    if few > FEW:
        return log_gamma(n + m + b) - log_gamma(n + b) - log_gamma(m + b) + log_gamma(b)
    product = 1.0
    for i in range(few):
        product *= (many + i + b) / (i + b)
    return math.log(product)


@njit(cache=True, nogil=True, error_model="numpy")
def count_documents(topic, tokens, more):
    """more[k, tokens - 1] += 1 for each topic k of a document."""
    for i in range(topic.size):
        more[topic[i], tokens[i] - 1] += 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def add_single(more, a, gains):
    """Add sum_d F(n, a_k + a_l) - F(n, a_k), and the same for l, to gains[k, l], k > l: each document has one of both.

    F(n, a) = log Gamma(n + a) - log Gamma(a). more[k, j] documents have j + 1 tokens of topic k.
    """
    K, most = more.shape
    for k in range(K):
        for j in range(most - 2, -1, -1):
            more[k, j] += more[k, j + 1]
    # from here on a_l / (a_k + j) is at most an eighth, and log1p a short sum
    single = min(most, int(8.0 * a.max()) + 1)
    moments = np.zeros((K, _TERMS))
    for k in range(K):
        for j in range(single, most):
            x = 1.0
            for t in range(_TERMS):
                x /= a[k] + j
                moments[k, t] += more[k, j] * x
    for k in range(K):
        for l in range(k):  # noqa: E741
            both = a[k] + a[l]
            for j in range(single):
                gains[k, l] += more[k, j] * math.log((both + j) / (a[k] + j))
                gains[k, l] += more[l, j] * math.log((both + j) / (a[l] + j))
            x, y, sign = 1.0, 1.0, 1.0
            for t in range(_TERMS):
                x, y = x * a[l], y * a[k]
                gains[k, l] += sign * (moments[k, t] * x + moments[l, t] * y) / (t + 1.0)
                sign = -sign


@njit(cache=True, nogil=True, error_model="numpy")
def add_pairs(start, topic, tokens, a, gains):
    """Add F(n + m, a_k + a_l) - F(n, a_k + a_l) - F(m, a_k + a_l) of documents that have both to gains[k, l], k > l.

    Document d has `tokens` in each `topic` of its places start[d] to start[d + 1].
    """
    for d in range(start.size - 1):
        for i in range(start[d], start[d + 1]):
            n = tokens[i]
            for j in range(start[d], i):
                k, l, m = max(topic[i], topic[j]), min(topic[i], topic[j]), tokens[j]  # noqa: E741
                gains[k, l] += _of_both(n, m, a[k] + a[l])


@njit(cache=True, nogil=True, error_model="numpy")
def by_document(before, first, end, document, topic_of, free, word, topic):
    """Put the tokens first[w] to end[w] of words before + w to the free places of their documents."""
    j = 0
    for w in range(first.size):
        for i in range(first[w], end[w]):
            at = free[document[j]]
            free[document[j]] += 1
            word[at], topic[at] = before + w, topic_of[i]
            j += 1


@njit(cache=True, nogil=True, error_model="numpy")
def by_topic(n_before, first, start, word, topic, free, member, word_of, document_of):
    """Put the tokens of documents from `first` on, before which there are `n_before`, to those of their topics.

    Tokens beyond the last topic have none.
    """
    for d in range(start.size - 1):
        for t in range(start[d], start[d + 1]):
            if topic[t] >= free.size:
                continue
            at = free[topic[t]]
            free[topic[t]] += 1
            member[at], word_of[at], document_of[at] = n_before + t, word[t], first + d


@njit(cache=True, nogil=True, error_model="numpy")
def gains_of_pairs(pairs, tokens, counts, sizes, priors, key, gains):
    """Put what the topics of each pair, (n, 2), gain as one into gains (n,).                            docs/math (L14)

    One topic in place of k and l has the prior of k. tokens are `TopicTokens`, priors `MergePriors`; counts (W, K) and
    sizes (K,) hold the tokens of words and of topics. The sides of a pair are drawn from the stream of number k K + l.
    """
    begin, member, word, document = tokens
    a, scale, eta, prior, total, row, x, weights = priors
    K, n_known = a.size, prior.shape[1]
    n_w = np.zeros((counts.shape[0], 4))  # tokens of a word so far: of k and l as they are, and as drawn
    rng = np.empty(1, np.uint64)
    for p in range(len(pairs)):
        k, l = pairs[p, 0], pairs[p, 1]  # noqa: E741
        open_stream(rng, key, np.uint64(k * K + l))
        i, j = begin[k], begin[l]
        N_k, N_l, M_k, M_l = 0.0, 0.0, 0.0, 0.0  # tokens so far: as they are, and as drawn
        n_k, n_l, m_k, m_l, a_k, a_l, d = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1  # the same in document d
        log_gain, product = 0.0, 1.0
        while i < begin[k + 1] or j < begin[l + 1]:
            is_k = j >= begin[l + 1] or (i < begin[k + 1] and member[i] < member[j])
            if is_k:
                t = i
                i += 1
            else:
                t = j
                j += 1
            w = word[t]
            if document[t] != d:
                d = document[t]
                n_k, n_l, m_k, m_l, a_k, a_l = 0.0, 0.0, 0.0, 0.0, scale[d] * a[k], scale[d] * a[l]
                if row.size:
                    a_k, a_l = math.exp(log_weight(x[row[d]], weights[k])), math.exp(log_weight(x[row[d]], weights[l]))
            eta_k = eta[w] + (prior[w, k] if k < n_known else 0.0)
            eta_l = eta[w] + (prior[w, l] if l < n_known else 0.0)
            fit_k = (counts[w, k] + eta_k) / (sizes[k] + total[k])
            fit_l = (counts[w, l] + eta_l) / (sizes[l] + total[l])
            one = (n_k + n_l + a_k + a_l) * (n_w[w, 0] + n_w[w, 1] + eta_k) / (N_k + N_l + total[k])
            q = (n_k + a_k) * fit_k / ((n_k + a_k) * fit_k + (n_l + a_l) * fit_l)
            if is_k:
                product *= one * q / ((n_k + a_k) * (n_w[w, 0] + eta_k) / (N_k + total[k]))
                n_k += 1.0
                N_k += 1.0
                n_w[w, 0] += 1.0
            else:
                product *= one * (1.0 - q) / ((n_l + a_l) * (n_w[w, 1] + eta_l) / (N_l + total[l]))
                n_l += 1.0
                N_l += 1.0
                n_w[w, 1] += 1.0
            q = (m_k + a_k) * fit_k / ((m_k + a_k) * fit_k + (m_l + a_l) * fit_l)
            if uniform(rng) < q:
                product *= one * q / ((m_k + a_k) * (n_w[w, 2] + eta_k) / (M_k + total[k]))
                m_k += 1.0
                M_k += 1.0
                n_w[w, 2] += 1.0
            else:
                product *= one * (1.0 - q) / ((m_l + a_l) * (n_w[w, 3] + eta_l) / (M_l + total[l]))
                m_l += 1.0
                M_l += 1.0
                n_w[w, 3] += 1.0
            if not _SMALLEST < product < _LARGEST:
                log_gain, product = log_gain + math.log(product), 1.0
        gains[p] = (log_gain + math.log(product)) / 2.0
        for i in range(begin[k], begin[k + 1]):
            n_w[word[i]] = 0.0
        for j in range(begin[l], begin[l + 1]):
            n_w[word[j]] = 0.0
