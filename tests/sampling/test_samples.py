"""Topics of the last state, of the best, and of the average over samples."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from stickbreak.corpus.tokens import Tokens
from stickbreak.sampling.samples import ESTIMATES, MeanSample, match_topics
from stickbreak.sampling.state import Concentrations

WORDS = np.array([0, 1, 2, 3, 0, 1, 2, 3, 3], np.int32)


@dataclass
class Stub:
    """A chain that stands still."""

    topics: np.ndarray
    joint: float = 0.0
    alpha: float = 1.0
    n_known: int = 0

    @property
    def concentrations(self):
        return Concentrations(self.alpha, 2.0, 0.1)

    @property
    def tables(self):
        return 1.0 + np.bincount(self.topics)

    def topic_word_counts(self):
        K = self.topics.max() + 1
        return sparse.csr_array((np.ones(WORDS.size, int), (self.topics, WORDS)), shape=(K, 4))

    def log_joint(self):
        return self.joint


def state(*topics, joint=0.0, alpha=1.0):
    return Stub(np.array(topics, np.int32), joint, alpha)


def tokens():
    start = np.array([0, 4, 9])
    return Tokens(start, WORDS, 4, np.argsort(WORDS, kind="stable").astype(np.int32), np.array([0, 2, 4, 6, 9]))


def observe(keeper, *states, sampled=True):
    for chain in states:
        if keeper.wants(chain.joint, sampled=sampled):
            keeper.observe(chain, chain.joint)
    return keeper


ONE = state(0, 0, 0, 0, 1, 1, 1, 1, 1)
SWAPPED = state(1, 1, 1, 1, 0, 0, 0, 0, 0)
THREE = state(2, 2, 2, 1, 0, 0, 0, 0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_matching_keeps_the_most_tokens(seed):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(4, size=50).astype(np.int32), rng.integers(6, size=50).astype(np.int32)
    common = np.array([[np.sum((left == k) & (right == other)) for other in range(6)] for k in range(4)])
    ours, theirs = match_topics(left, 4, right, 6)
    rows, columns = linear_sum_assignment(-common)
    assert common[ours, theirs].sum() == common[rows, columns].sum()
    assert len(set(ours)) == len(ours)
    assert len(set(theirs)) == len(theirs)


def test_average_counts_an_absent_topic_as_zero():
    average = observe(MeanSample(), state(*THREE.topics, joint=1.0), ONE).estimate(ONE)
    two, one = THREE.topic_word_counts().toarray(), ONE.topic_word_counts().toarray()
    expected = (two + np.array([one[1], [0, 0, 0, 0], one[0]])) / 2
    np.testing.assert_array_equal(average.counts.toarray(), expected)
    np.testing.assert_array_equal(average.tables, (THREE.tables + np.array([ONE.tables[1], 0, ONE.tables[0]])) / 2)


@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.parametrize("n_seen", [0, 2])
def test_keeper_restored_goes_on_as_if_uncut(name, n_seen):
    first = [ONE, state(*THREE.topics, joint=2.0, alpha=3.0)][:n_seen]
    rest = [SWAPPED, state(*SWAPPED.topics, joint=3.0)]
    uncut = observe(ESTIMATES[name](), *first, *rest)
    cut = ESTIMATES[name]()
    cut.restore(*observe(ESTIMATES[name](), *first).snapshot(), tokens())
    left, right = uncut.estimate(ONE), observe(cut, *rest).estimate(ONE)
    np.testing.assert_array_equal(left.counts.toarray(), right.counts.toarray())
    np.testing.assert_array_equal(left.tables, right.tables)
    assert (left.concentrations, left.log_joint) == (right.concentrations, right.log_joint)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tables", np.zeros(0)),
        ("tables", np.array([1.0, np.nan])),
        ("indptr", np.array([0, 4])),
        ("indptr", np.array([0, 9, 8])),
        ("indices", np.full(8, 4)),
        ("indices", np.full(8, -1)),
        ("data", np.full(8, -1.0)),
        ("data", np.ones(7)),
        ("reference", np.zeros(8, np.int32)),
        ("reference", np.full(9, 2, np.int32)),
        ("reference", np.zeros(9)),
        ("seen", np.ones(1, np.int64)),
        ("seen", np.zeros(2, np.int64)),
        ("seen", np.full(2, 2)),
    ],
)
def test_damaged_samples_are_refused(name, value):
    arrays, values = observe(MeanSample(), ONE).snapshot()
    assert np.shape(arrays["data"]) == (8,)
    with pytest.raises(ValueError, match=r"sample|reference"):
        MeanSample().restore({**arrays, name: value}, values, tokens())
