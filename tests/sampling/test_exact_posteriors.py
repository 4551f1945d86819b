"""Every sampler, with and without split-merge moves, has the exact posterior of tiny corpora as its law."""

import numpy as np
import pytest

from .chains import KINDS, visits
from .enumeration import EXACT, Tiny
from .laws import z_scores

N_SWEEPS = 3000


def statistics(found):
    """P(K = k), P(M = m) and P(same topic) of all pairs, a column each."""
    z, N = found.z, found.z.shape[1]
    K = z.max(axis=1) + 1
    pairs = np.triu_indices(N, 1)
    sizes = np.arange(1, N + 1)
    same = z[:, pairs[0]] == z[:, pairs[1]]
    return np.hstack([K[:, None] == sizes, found.tables[:, None] == sizes, same])


def exact_statistics(name):
    exact = EXACT["exact"][name]
    same = np.array(exact["P_same_topic"])
    return np.concatenate([exact["P_num_topics"], exact["P_num_tables"], same[np.triu_indices(len(same), 1)]])


@pytest.mark.parametrize("trials", [0, 1], ids=["plain", "split-merge"])
@pytest.mark.parametrize("kind", KINDS)
def test_chain_has_the_exact_posterior(kind, trials):
    scores = []
    for corpus, name in enumerate("ABCF"):
        found = visits(Tiny.named(name), kind, N_SWEEPS, seed=corpus, split_merge=trials, scans=corpus % 2)
        scores.append(z_scores(statistics(found), exact_statistics(name)))
    z = np.concatenate(scores)
    assert np.abs(z).max() < 4.5
    assert np.sqrt(np.mean(z**2)) < 1.5
