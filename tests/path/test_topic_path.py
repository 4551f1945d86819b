"""What a path says: groups, errors, the numbers of topics to look at, SciPy's form, saving."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage

from stickbreak.path.topic_path import TopicPath


@pytest.fixture
def path():
    joins = np.array([[1, 3], [0, 4], [1, 2], [0, 1]])
    lengths = np.array([3.0, 5.0, 2.0])
    by_document = -np.array([[6, 9, 4.0], [5.8, 8.9, 3.9], [5.9, 9.0, 3.9], [6.5, 10, 4], [9, 12, 6]])
    return TopicPath.of(joins, by_document, lengths)


def random_path(seed, K=30):
    rng = np.random.default_rng(seed)
    left, joins = list(range(K)), []
    while len(left) > 1:
        a, b = sorted(rng.choice(left, 2, replace=False).tolist())
        joins.append((a, b))
        left.remove(b)
    scores = np.cumsum(rng.normal(-0.02, 0.05, K))
    return TopicPath(np.array(joins), scores, np.abs(rng.normal(size=K)), K, 100.0, 7)


def test_scores_prices_and_errors_are_those_of_the_documents(path):
    np.testing.assert_allclose(path.scores, [-1.9, -1.86, -1.88, -2.05, -2.7])
    np.testing.assert_allclose(path.prices, [-0.4, 0.2, 1.7, 6.5])
    lost = np.array([0.1, 0.1, 0.0]) - 0.02 * np.array([3, 5, 2])  # of four topics
    assert path.standard_errors[2] == pytest.approx(np.sqrt((lost**2).sum()) / 10)
    assert path.standard_errors[1] == 0
    assert (path.n_tokens, path.n_documents, path.n_topics.tolist()) == (10, 3, [5, 4, 3, 2, 1])


def test_fewer_topics_are_best_only_where_they_are_better_by_two_standard_errors_of_the_difference():
    rng, lengths = np.random.default_rng(0), np.full(400, 10.0)
    hard, noise = rng.normal(-60, 15, 400), rng.standard_normal(400)
    noise = (noise - noise.mean()) / noise.std()  # one standard error of the mean is 1 / 20
    for gain, best in ((0.09, 2), (0.11, 1)):
        path = TopicPath.of(np.array([[0, 1]]), np.array([hard, hard + noise + gain]), lengths)
        assert path.scores[1] > path.scores[0]
        assert path.best == best
        assert path.standard_errors[2 - best] == 0
        np.testing.assert_allclose(path.standard_errors[best - 1], 0.005)
    junk = np.array([hard, hard + noise + 0.15, hard + 0.12])  # the second is higher, and both are better than all
    assert TopicPath.of(np.array([[0, 1], [0, 2]]), junk, lengths).best == 2
    far = np.array([hard, hard + 3 * noise + 0.2, hard + 0.12])  # the second may be chance
    assert TopicPath.of(np.array([[0, 1], [0, 2]]), far, lengths).best == 1


@pytest.mark.parametrize("seed", range(5))
def test_hierarchy_is_a_linkage_whose_heights_never_fall(seed):
    found = random_path(seed)
    Z = found.linkage()
    assert is_valid_linkage(Z)
    assert is_monotonic(Z)
    assert (np.diff(Z[:, 2]) >= 0).all()
    np.testing.assert_array_equal(Z[:, 2], np.maximum.accumulate(np.maximum(found.prices, 0)))
    for n in (1, 2, 7, 29):
        clusters = {k: [k] for k in range(30)}
        for i, (left, right, _, size) in enumerate(Z[: 30 - n]):
            clusters[30 + i] = sorted(clusters.pop(int(left)) + clusters.pop(int(right)))
            assert size == len(clusters[30 + i])
        assert sorted(clusters.values()) == sorted(found.groups(n))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [1, 2, 9, 30])
def test_rest_of_a_path_groups_the_same_topics(seed, n):
    found = random_path(seed)
    number = np.random.default_rng(seed).permutation(n)
    rest = found.below(n, number)
    groups = {int(number[i]): group for i, group in enumerate(found.groups(n))}
    for m in range(1, n + 1):
        grouped = {tuple(sorted(k for group in groups_of for k in groups[group])) for groups_of in rest.groups(m)}
        assert grouped == {tuple(group) for group in found.groups(m)}
    np.testing.assert_array_equal(rest.scores, found.scores[30 - n :])
    assert rest.best == n


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("scores", np.full(5, np.nan), "not finite"),
        ("standard_errors", -np.ones(5), "negative"),
        ("best", 6, "not on its path"),
        ("joins", np.zeros((3, 2), np.int64), "do not fit"),
        ("joins", np.array([[1, 3], [0, 3], [1, 2], [0, 1]]), "not there"),
        ("joins", np.array([[3, 1], [0, 4], [1, 2], [0, 1]]), "not there"),
    ],
)
def test_damaged_path_is_refused(path, name, value, problem):
    arrays, values = path.packed()
    with pytest.raises(ValueError, match=problem):
        TopicPath.unpacked({**arrays, name: value}, {**values, name: value})
