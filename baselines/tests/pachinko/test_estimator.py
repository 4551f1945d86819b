"""`Pachinko` and `HierarchicalPachinko`: planted structures, fits that go on, trees, what they refuse."""

import numpy as np
from baselines.tests.lda.test_estimator import distance

from stickbreak_baselines import HierarchicalPachinko, Pachinko

GROUPS = [[0, 1], [2, 3], [4, 5]]


def nearest(found, true):
    """Return the total variation between each planted topic and the topic that is most like it."""
    return (np.abs(found[:, None] - true[None]).sum(axis=2) / 2).min(axis=0)


def test_planted_topics_and_the_super_topics_above_them_are_found():
    """Each document has topics of some of three groups; the groups are those of the super-topics."""
    rng, true = np.random.default_rng(1), np.kron(np.eye(6), np.ones(5) / 5)
    counts = np.empty((800, 30), int)
    for d in range(800):
        p = np.zeros(6)
        for weight, group in zip(rng.dirichlet([0.3] * 3), GROUPS, strict=True):
            p[group] = weight * rng.dirichlet([2.0, 2.0])
        counts[d] = rng.multinomial(80, p @ true)
    model = Pachinko(n_super=3, n_topics=8, n_laps=300, tolerance=None, random_state=2).fit(counts)
    assert nearest(model.topic_word_, true).max() < 0.1
    planted = model.topic_word_ @ true.T
    below = model.super_topics_ @ (planted / planted.sum(axis=1, keepdims=True))
    of_groups = below.reshape(3, 3, 2).sum(axis=2)  # weights of the three groups below each super-topic
    assert sorted(of_groups.argmax(axis=1)) == [0, 1, 2]
    assert of_groups.max(axis=1).min() > 0.8


def test_words_of_all_documents_are_found_at_the_root_and_others_below():
    """Whether a word of a field is at the super-topic or below it, these documents hardly say: either is found."""
    rng, W = np.random.default_rng(2), 40
    root, fields, below = np.zeros(W), np.zeros((2, W)), np.zeros((4, W))
    root[:5] = fields[0, 5:10] = fields[1, 10:15] = 0.2
    for k in range(4):
        below[k, 15 + 6 * k : 21 + 6 * k] = 1 / 6
    counts = np.empty((800, W), int)
    for d in range(800):
        of_fields, at_root = rng.dirichlet([0.3, 0.3]), rng.beta(1, 1.5)
        p = at_root * root
        for s, weight in enumerate(of_fields):
            own, subs = rng.beta(1, 1), rng.dirichlet([1.0, 1.0]) @ below[2 * s : 2 * s + 2]
            p += (1 - at_root) * weight * (own * fields[s] + (1 - own) * subs)
        counts[d] = rng.multinomial(80, p)
    model = HierarchicalPachinko(n_super=2, n_topics=4, n_laps=400, tolerance=None, random_state=2).fit(counts)
    assert np.abs(model.topic_word_[0] - root).sum() / 2 < 0.1
    assert distance(model.topic_word_[1:], np.vstack([fields, below])) < 0.1
