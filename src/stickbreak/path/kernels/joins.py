"""What joins of topics do to tokens that are held out; NumPy twins in tests/path/reference.py."""

from __future__ import annotations

import math

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_pseudo_counts import of_word

SMALLEST_RATIO = 1e-15
SMALLEST_PRODUCT, LARGEST_PRODUCT, MOST_FACTORS = (
    1e-200,
    1e200,
    4,
)  # products of ratios stay within the range of doubles


@njit(cache=True, nogil=True, error_model="numpy")
def gains(documents, inverse, theta, tau, mass, eta, total_eta, least, pairs, out):
    """out[q] = sum_i c_i log p_i' / p_i of the join of a pair, in documents that have `least` of both. docs/math (J2)

    p_i' = p_i - theta_a phi_a - theta_b phi_b + (theta_a + theta_b) (tau_a + tau_b - eta) / (mass_a + mass_b - W eta)

    documents: (indptr, word, count) of their tokens. `inverse` is 1 / p_i.
    """
    indptr, word, count = documents
    for q in range(pairs.shape[0]):
        a, b = pairs[q, 0], pairs[q, 1]
        left, right = 1.0 / mass[a], 1.0 / mass[b]
        both = 1.0 / (mass[a] + mass[b] - total_eta)
        theta_a, theta_b, tau_a, tau_b = theta[a], theta[b], tau[a], tau[b]
        gain, product = 0.0, 1.0  # logs of products: they take most of the time
        for d in range(indptr.size - 1):
            of_a, of_b = theta_a[d], theta_b[d]
            if of_a + of_b < least:
                continue
            joined = (of_a + of_b) * both
            more_a, more_b = joined - of_a * left, joined - of_b * right
            for i in range(indptr[d], indptr[d + 1]):
                w = word[i]
                change = more_a * tau_a[w] + more_b * tau_b[w] - joined * of_word(eta, w)
                ratio = max(1.0 + change * inverse[i], SMALLEST_RATIO)
                if count[i] == 1.0:
                    product *= ratio
                elif count[i] <= MOST_FACTORS and count[i] == math.floor(count[i]):
                    for _ in range(int(count[i])):
                        product *= ratio
                else:
                    gain += count[i] * math.log(ratio)
                if not SMALLEST_PRODUCT < product < LARGEST_PRODUCT:
                    gain, product = gain + math.log(product), 1.0
        out[q] = gain + math.log(product)


@njit(cache=True, nogil=True, error_model="numpy")
def predict(indptr, word, theta, tau, mass, p):
    """p_i = sum_k theta_kd tau_kw / mass_k of each token."""
    for i in range(p.size):
        p[i] = 0.0
    for k in range(mass.size):
        row = tau[k]
        for d in range(indptr.size - 1):
            share = theta[k, d] / mass[k]
            if share == 0.0:
                continue
            for i in range(indptr[d], indptr[d + 1]):
                p[i] += share * row[word[i]]


@njit(cache=True, nogil=True, error_model="numpy")
def follow(indptr, word, theta, tau, mass, eta, total_eta, a, b, p):
    """Give each token the p_i of the join of rows a and b; return the least that is left of one.      docs/math (J2)"""
    left, right, both = 1.0 / mass[a], 1.0 / mass[b], 1.0 / (mass[a] + mass[b] - total_eta)
    least = 1.0
    for d in range(indptr.size - 1):
        of_a, of_b = theta[a, d], theta[b, d]
        for i in range(indptr[d], indptr[d + 1]):
            in_a, in_b = tau[a, word[i]], tau[b, word[i]]
            new = (of_a + of_b) * ((in_a + in_b - of_word(eta, word[i])) * both)
            after = p[i] + (new - (of_a * in_a * left + of_b * in_b * right))
            least = min(least, after / p[i])
            p[i] = after
    return least


@njit(cache=True, nogil=True, error_model="numpy")
def shares_of_documents(indptr, word, ratio, tau, mass, out):
    """out[k, d] = sum_i ratio_i tau_kw / mass_k over the tokens of a document."""
    for k in range(mass.size):
        row, inverse = tau[k], 1.0 / mass[k]
        for d in range(indptr.size - 1):
            total = 0.0
            for i in range(indptr[d], indptr[d + 1]):
                total += ratio[i] * row[word[i]]
            out[k, d] = total * inverse
