"""Compiled loops over tokens that are held out; NumPy twins in tests/collapsed/test_merging.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_arrays import copy
from stickbreak.numerics.kernel_eta import beside_one, of_word


@njit(cache=True, nogil=True, error_model="numpy")
def _weights(begin, end, count, start, topic, share, prior, theta):
    """theta[k] = N_dk + prior_k of a document; return its sum."""
    copy(prior, theta)
    for p in range(begin, end):
        for j in range(start[p], start[p + 1]):
            theta[topic[j]] += count[p] * np.float64(share[j])
    total = 0.0
    for k in range(theta.size):
        total += theta[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _predict(row, eta, inverse, theta, phi):
    """phi[k] = (S_kw + eta) / (N_k + W eta); return sum_k theta_k phi_k."""
    total = 0.0
    for k in range(theta.size):
        phi[k] = (row[k] + eta) * inverse[k]
        total += theta[k] * phi[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _inverses(N, total_eta):
    """1 / (N_k + W eta)."""
    out = np.empty(N.size)
    for k in range(N.size):
        out[k] = 1.0 / (N[k] + total_eta)
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def crossings(indptr, word, count, held, start, topic, share, S, N, prior, eta, total_eta, least, X, Y):
    """X[l, m] += sum_i c_i theta_l phi_m / p_i and Y[l] += sum_i c_i theta_l / p_i over tokens held out.  math.md (C9)

    Only over topics l with a share of `least` in the document of the token. Where eta differs by word, it is in Y.
    """
    K = N.size
    theta, phi, inverse = np.empty(K), np.empty(K), _inverses(N, total_eta)
    for d in range(indptr.size - 1):
        total = _weights(indptr[d], indptr[d + 1], count, start, topic, share, prior, theta)
        for p in range(indptr[d], indptr[d + 1]):
            if held[p] == 0.0:
                continue
            ratio = held[p] / _predict(S[word[p]], of_word(eta, word[p]), inverse, theta, phi)
            for k in range(K):
                if theta[k] >= least * total:
                    weight, row = ratio * theta[k], X[k]
                    Y[k] += weight * beside_one(eta, word[p])
                    for m in range(K):
                        row[m] += weight * phi[m]


@njit(cache=True, nogil=True, error_model="numpy")
def gains(indptr, word, count, held, start, topic, share, S, N, prior, eta, total_eta, least, pairs, out):
    """out[q] += (sum_i c_i g_i, sum_i c_i g_i^2), g_i = log p_i' / p_i of the merge of a pair.       math.md (C8)"""
    K = N.size
    theta, phi, inverse = np.empty(K), np.empty(K), _inverses(N, total_eta)
    joint = np.empty(pairs.shape[0])
    for q in range(pairs.shape[0]):
        joint[q] = 1.0 / (N[pairs[q, 0]] + N[pairs[q, 1]] + total_eta)
    for d in range(indptr.size - 1):
        total = _weights(indptr[d], indptr[d + 1], count, start, topic, share, prior, theta)
        for p in range(indptr[d], indptr[d + 1]):
            if held[p] == 0.0:
                continue
            row, own_eta = S[word[p]], of_word(eta, word[p])
            before = _predict(row, own_eta, inverse, theta, phi)
            for q in range(pairs.shape[0]):
                a, b = pairs[q, 0], pairs[q, 1]
                both = theta[a] + theta[b]
                if both < least * total:
                    continue
                merged = both * (row[a] + row[b] + own_eta) * joint[q]
                gain = math.log((before - theta[a] * phi[a] - theta[b] * phi[b] + merged) / before)
                out[q, 0] += held[p] * gain
                out[q, 1] += held[p] * gain * gain


@njit(cache=True, nogil=True, error_model="numpy")
def relabel(start, topic, share, to, new_start, new_topic, new_share):
    """Give the shares of topic k to topic to[k]; a count has at most one share of a topic."""
    at = 0
    new_start[0] = 0
    for p in range(start.size - 1):
        for j in range(start[p], start[p + 1]):
            k = to[topic[j]]
            place = new_start[p]
            while place < at and new_topic[place] != k:
                place += 1
            if place == at:
                new_topic[at] = k
                new_share[at] = share[j]
                at += 1
            else:
                new_share[place] += share[j]
        new_start[p + 1] = at


@njit(cache=True, nogil=True, error_model="numpy")
def document_scores(indptr, word, count, held, start, topic, share, S, N, prior, eta, total_eta, out):
    """out[d] = sum_i c_i log sum_k theta_dk phi_kw over the tokens held out of a document.          math.md (C13)"""
    K = N.size
    theta, phi, inverse = np.empty(K), np.empty(K), _inverses(N, total_eta)
    for d in range(indptr.size - 1):
        total = _weights(indptr[d], indptr[d + 1], count, start, topic, share, prior, theta)
        for p in range(indptr[d], indptr[d + 1]):
            if held[p] > 0.0:
                out[d] += held[p] * math.log(_predict(S[word[p]], of_word(eta, word[p]), inverse, theta, phi) / total)
