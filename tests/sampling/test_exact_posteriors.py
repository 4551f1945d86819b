"""Every sampler, with and without moves, has the exact posterior of tiny corpora as its law."""

import numpy as np
import pytest

from stickbreak.sampling.checks import REPRESENTATIONS

from .chains import visits
from .enumeration import EXACT, Tiny
from .laws import z_scores

N_SWEEPS = 1500
MOVES = {
    "plain": {},
    "split-merge": {"split_merge": 1},
    "sub-topics": {"subtopic_trials": 2, "subtopic_passes": 2},
    "both": {"split_merge": 1, "subtopic_trials": 1, "subtopic_passes": 4},
}


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


# "both" has the moves of each kind; alone they are tried with one representation, to save minutes.
CASES = [
    (kind, moves) for kind in REPRESENTATIONS for moves in MOVES if moves in ("plain", "both") or kind == "indicator"
]


@pytest.mark.parametrize(("kind", "moves"), CASES)
def test_chain_has_the_exact_posterior(kind, moves):
    scores, first = [], REPRESENTATIONS.index(kind)  # every corpus has chains with and without restricted scans
    for corpus, name in enumerate("ABCDEF"):
        scans = (corpus + first) % 2
        found = visits(Tiny.named(name), kind, N_SWEEPS, seed=corpus, scans=scans, **MOVES[moves])
        p = exact_statistics(name)
        # blocks without a rare event know nothing of its error, which is no less than that of independent draws
        scores.append(z_scores(statistics(found), p, least_error=np.sqrt(np.maximum(p * (1 - p), 0) / N_SWEEPS)))
    z = np.concatenate(scores)
    assert np.abs(z).max() < 4.5
    assert np.sqrt(np.mean(z**2)) < 1.3  # a fifth too much of the concentration has 1.4
