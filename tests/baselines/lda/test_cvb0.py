"""CVB0 of LDA: the priors are those of the topics, and the number of topics stays."""

import numpy as np
import pytest
from stickbreak.baselines.lda.cvb0 import CVB0

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.sparse_gibbs.priors import Priors

ONE = Engine(ThreadExecutor(1))


def shares(inference, n_topics):
    """Return r of all stored counts, (n, K)."""
    rows = []
    for shard in inference.state.documents.shards:
        of = shard.shares
        for first, last in zip(of.start[:-1], of.start[1:], strict=True):
            row = np.zeros(n_topics)
            row[of.topic[first:last]] = of.share[first:last]
            rows.append(row)
    return np.array(rows)


def test_a_lap_gives_each_token_its_probabilities_given_the_others():
    """One document: its tokens are updated one by one; S and N stay as they were.                 math.md (C1)"""
    corpus, a, eta, K = Corpus.from_counts(np.array([[1, 1, 1, 1]])), np.array([0.3, 0.9, 1.4]), 0.2, 3
    inference = CVB0(corpus, K, 5, ONE)
    inference.begin()
    r = shares(inference, K)
    S, log_p = r.copy(), 0.0
    N = S.sum(axis=0)
    for w in range(4):
        own = r[w].copy()
        r[w] = 0
        p = (S[w] - own + eta) / (N - own + 4 * eta) * (r.sum(axis=0) + a)
        log_p += np.log(p.sum() / (3 + a.sum()))
        r[w] = p / p.sum()
    found = inference.lap(1, Priors(a, float(a.sum()), eta))
    assert found == pytest.approx(log_p / 4, rel=1e-5)
    np.testing.assert_allclose(shares(inference, K), r, atol=2e-5)  # whole units of 2 ** -20; no share is small here
    np.testing.assert_allclose(inference.counts(), r, atol=2e-5)
