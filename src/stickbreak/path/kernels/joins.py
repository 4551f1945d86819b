"""What joins of topics do to tokens that are held out; NumPy twins in tests/path/reference.py."""

from __future__ import annotations

import math

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_eta import of_word

SMALLEST_RATIO, AT_ONCE, LARGEST_PRODUCT = 1e-15, 16, 1e200  # products of ratios stay within the range of doubles


@njit(cache=True, nogil=True, error_model="numpy")
def gains(indptr, word, count, p, theta, tau, mass, eta, total_eta, least, pairs, out):
    """out[q] = sum_i c_i log p_i' / p_i of the join of a pair, in documents that have `least` of both. math.md (J2)

    p_i' = p_i - theta_a phi_a - theta_b phi_b + (theta_a + theta_b) (tau_a + tau_b - eta) / (mass_a + mass_b - W eta)
    """
    for q in range(pairs.shape[0]):
        a, b = pairs[q, 0], pairs[q, 1]
        left, right = 1.0 / mass[a], 1.0 / mass[b]
        both = 1.0 / (mass[a] + mass[b] - total_eta)
        gain, product, n = 0.0, 1.0, 0  # logs of products: they take most of the time
        for d in range(indptr.size - 1):
            of_a, of_b = theta[a, d], theta[b, d]
            if of_a + of_b < least:
                continue
            for i in range(indptr[d], indptr[d + 1]):
                in_a, in_b = tau[a, word[i]], tau[b, word[i]]
                change = (
                    (of_a + of_b) * (in_a + in_b - of_word(eta, word[i])) * both
                    - of_a * in_a * left
                    - of_b * in_b * right
                )
                ratio = max(1.0 + change / p[i], SMALLEST_RATIO)
                if count[i] != 1.0:
                    gain += count[i] * math.log(ratio)
                    continue
                product *= ratio
                n += 1
                if n == AT_ONCE or product > LARGEST_PRODUCT:
                    gain, product, n = gain + math.log(product), 1.0, 0
        out[q] = gain + math.log(product)
