"""The draw of a dish for a table of any size; the rest of a step is under the twins and the exact posteriors."""

from collections import Counter

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from stickbreak.sampling.kernels import franchise as franchise_kernels
from stickbreak.sampling.kernels.topic_draw import NEW, Topics
from stickbreak.sampling.state import WordTopics

from .laws import ALARM, chi_square


@pytest.mark.parametrize("n_tokens", [1, 3, 16, 17, 90])
def test_dish_of_a_table_of_any_size_has_the_exact_law(n_tokens):
    """Tables of more than 16 tokens have their logarithms: the law is that of (G3) on both sides."""
    rng = np.random.default_rng(n_tokens)
    counts = np.array([[40, 41, 39, 0], [400, 390, 410, 0], [7, 7, 8, 0], [3, 0, 2, 0]])  # (W, K); the last topic died
    table = np.sort(rng.choice(3, size=n_tokens, p=[0.1, 0.88, 0.02]))
    n_k, weight, eta = counts.sum(axis=0), np.array([20.0, 30.0, 25.0, 0.0]), 0.5
    words = np.bincount(table, minlength=4)
    alive = slice(0, 3)
    log_p = np.log(weight[alive]) - gammaln(n_k[alive] + 4 * eta + n_tokens) + gammaln(n_k[alive] + 4 * eta)
    log_p += (gammaln(counts[:, alive] + eta + words[:, None]) - gammaln(counts[:, alive] + eta)).sum(axis=0)
    log_new = gammaln(4 * eta) - gammaln(4 * eta + n_tokens) + (gammaln(words + eta) - gammaln(eta)).sum()
    fresh = float(np.exp(logsumexp(log_p) - log_new) / 4)
    p = np.append(np.exp(log_p - logsumexp(log_p)), 0.25) / 1.25

    size = (counts > 0).sum(axis=1)
    entry = np.array([(n << 32) | k for row in counts.tolist() for k, n in enumerate(row) if n], np.uint64)
    topics_of_words = np.concatenate(([0], np.cumsum(size)[:-1])), size.astype(np.int32), entry
    state, seen = np.array([n_tokens], np.uint64), Counter()
    arrays = dict.fromkeys(Topics._fields, np.zeros(8)) | {"n": n_k, "m": weight, "totals": np.array([4]), "rng": state}
    given = franchise_kernels.Table(table.astype(np.int32), np.arange(n_tokens), 0, n_tokens)
    for _ in range(20_000):
        found = franchise_kernels.draw_dish(given, WordTopics(*topics_of_words), Topics(**arrays), fresh, eta, 4 * eta)
        seen[int(found)] += 1
    assert set(seen) == {0, 1, 2, NEW}
    assert chi_square([seen[k] for k in (0, 1, 2, NEW)], p) > ALARM
