"""Compiled weights of documents under fixed topics; NumPy twin in tests/prediction/reference.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_arrays import add, copy
from stickbreak.numerics.special import digamma, log_gamma

LONGEST_STEP = 1e3  # of an extrapolation
LEAST_LEFT = 0.5  # share of N_dk that an extrapolation leaves; less throws topics out too soon


MANY = 32.0  # tokens of a word, from which on a sum is a difference of special functions


@njit(cache=True, nogil=True, error_model="numpy")
def _fresh(n, x):
    """Return sum_{j < n} x / (x + j): of n tokens of a word, those expected not to repeat.         docs/math (L25)"""
    if n > MANY:
        return x * (digamma(x + n) - digamma(x))
    total, j = 0.0, 0.0
    while j < n:
        total += min(n - j, 1.0) * x / (x + j)
        j += 1.0
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _log_fresh(n, x):
    """Return sum_{j < n} log(x + j), of which x times the derivative is `_fresh`."""
    if n > MANY:
        return log_gamma(x + n) - log_gamma(x)
    total, j = 0.0, 0.0
    while j < n:
        total += min(n - j, 1.0) * math.log(x + j)
        j += 1.0
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _sweep(block, count, strength, theta, z, new):
    """new[k] = sum_i count[i] theta[k] block[i, k] / z[i],  z[i] = sum_k theta[k] block[i, k].     docs/math (D1)

    With a finite strength count[i] is what is expected of it without repeats.                      docs/math (L25)
    """
    bursts, mass = strength < np.inf, 0.0
    for k in range(new.size):
        new[k] = 0.0
        mass += theta[k]
    for i in range(count.size):
        row, total = block[i], 0.0
        for k in range(theta.size):
            total += theta[k] * row[k]
        z[i] = total
        ratio = (_fresh(count[i], strength * total / mass) if bursts and count[i] > 1.0 else count[i]) / total
        for k in range(theta.size):
            new[k] += ratio * row[k]
    for k in range(theta.size):
        new[k] *= theta[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _value(count, strength, z, prior, theta):
    """Return what the fixed point is the maximum of, at the theta that z belongs to.         docs/math (D2), (L25)"""
    value, length, mass, total = 0.0, 0.0, 0.0, 0.0
    for k in range(prior.size):
        value += prior[k] * math.log(theta[k])
        mass += prior[k]
        total += theta[k]
    if strength < np.inf:
        for i in range(count.size):
            value += _log_fresh(count[i], strength * z[i] / total)
        return value - mass * math.log(total)
    for i in range(count.size):
        value += count[i] * math.log(z[i])
        length += count[i]
    return value - (length + mass) * math.log(total)


@njit(cache=True, nogil=True, error_model="numpy")
def _extrapolate(first, second, third, out):
    """Write N0 - 2 s r + s^2 v, r = N1 - N0, v = N2 - 2 N1 + N0, s = -|r| / |v|; return False if it leads nowhere."""
    step, bend = 0.0, 0.0
    for k in range(out.size):
        r = second[k] - first[k]
        v = third[k] - second[k] - r
        step += r * r
        bend += v * v
    if bend <= 0.0 or step <= bend:
        return False
    s = min(math.sqrt(step / bend), LONGEST_STEP)
    for k in range(out.size):
        r = second[k] - first[k]
        moved = third[k] + 2.0 * (s - 1.0) * r + (s * s - 1.0) * (third[k] - second[k] - r)
        out[k] = max(moved, LEAST_LEFT * third[k])
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def document_weights(indptr, word, count, topics, priors, strength, tolerance, max_sweeps, out):
    """Write the weights of documents under fixed topics.                               docs/math (D1), (D2), (L25)

        N_dk = sum_w n_dw r_dwk,   r_dwk ∝ phi_kw (N_dk + prior_k),   out[d, k] ∝ N_dk + prior_k

    `topics` is phi by word (W, K); `priors` has a row for each document, or one for all.

    Every third sweep of a document begins at an extrapolation of the two before, unless that has a lower value than
    they. A document ends when no N_dk changes by `tolerance`.
    """
    K = priors.shape[1]
    widest = 0
    for d in range(indptr.size - 1):
        widest = max(widest, indptr[d + 1] - indptr[d])
    block, z_all = np.empty((widest, K)), np.empty(widest)
    theta, new = np.empty(K), np.empty(K)
    first, second, third = np.empty(K), np.empty(K), np.empty(K)  # N_dk of sweeps since the last extrapolation
    for d in range(indptr.size - 1):
        begin, size, prior = indptr[d], indptr[d + 1] - indptr[d], priors[d if len(priors) > 1 else 0]
        counts, z = count[begin : begin + size], z_all[:size]
        for i in range(size):
            w = word[begin + i]
            for k in range(K):
                block[i, k] = topics[w, k]
        copy(prior, theta)
        plain, floor = 0, -np.inf  # such sweeps; value that an extrapolation must not fall below
        for _ in range(max_sweeps if size > 0 else 0):
            _sweep(block, counts, strength, theta, z, new)
            if plain == 3:  # theta is an extrapolation
                plain = 0
                if not _value(counts, strength, z, prior, theta) >= floor:
                    add(third, prior, theta)
                    continue
            elif plain == 2:
                floor = _value(counts, strength, z, prior, theta)
            kept = first if plain == 0 else second if plain == 1 else third
            moved = 0.0
            for k in range(K):
                moved = max(moved, abs(new[k] - (theta[k] - prior[k])))
                kept[k] = new[k]
            plain += 1
            add(new, prior, theta)
            if moved < tolerance:
                break
            if plain == 3 and _extrapolate(first, second, third, new):
                add(new, prior, theta)
            elif plain == 3:
                plain = 0
        total = 0.0
        for k in range(K):
            total += theta[k]
        for k in range(K):
            out[d, k] = theta[k] / total
