import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stickbreak.questions.documents import wilson_lower_bound
from stickbreak.report.topics import TopicShares


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), cut=st.integers(1, 29))
def test_shares_of_two_blocks_equal_those_of_one(seed, cut):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet([0.3] * 4, 30)
    lengths = rng.integers(1, 50, 30).astype(float)
    rows = np.arange(30)
    whole, cut_up = TopicShares.empty(4, 3), TopicShares.empty(4, 3)
    whole.add(rows, lengths, weights, weights.max(axis=1))
    for part in (slice(0, cut), slice(cut, 30)):
        cut_up.add(rows[part], lengths[part], weights[part], weights[part].max(axis=1))
    for name in TopicShares.__slots__:
        assert np.allclose(getattr(whole, name), getattr(cut_up, name)), name
    scores = wilson_lower_bound(weights, lengths[:, None])
    assert np.array_equal(whole.example_rows.T, np.argsort(-scores, axis=0, kind="stable")[:3])


def test_wilson_bound_agrees_with_its_defining_quadratic():
    share, n = np.array([0.2, 0.9, 1.0]), np.array([10.0, 40.0, 3.0])
    bound = wilson_lower_bound(share, n)
    assert (share - bound) ** 2 == pytest.approx(1.96**2 * bound * (1 - bound) / n)
    assert (bound < share).all()
