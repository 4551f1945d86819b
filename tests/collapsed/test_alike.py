"""Which topics are the most alike, and how many of them become one: slow twins, and gains that are made up."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import gammaln

from stickbreak.collapsed.alike import FEW, LEAST, LOSS, SMALL, STEP, WIDE, InTopics, fewer, pairs_by_likeness
from stickbreak.collapsed.kernels import alike as kernels


def made(seed, n_words, n_topics, *, tokens=80):
    """Counts (W, K) of topics of different sizes, with words that some or all of them lack."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(n_words, 0.15), n_topics)
    counts = np.stack([rng.multinomial(tokens * (1 + 3 * k), p) for k, p in enumerate(words)], axis=1)
    counts[2] = 0
    return np.ascontiguousarray(counts[:, rng.permutation(n_topics)], dtype=np.int32)


def tokens_of(counts, eta, table=None, a=0.3):
    """Where the tokens are; documents have those of a table (D, K), or none of them has any."""
    table = np.zeros((4, counts.shape[1]), int) if table is None else table
    document, topic = np.nonzero(table)
    start = np.searchsorted(document, np.arange(len(table) + 1))
    pseudo_counts = np.broadcast_to(np.asarray(a, float), counts.shape[1:])
    return InTopics(counts.copy(), eta, start, topic, table[document, topic], pseudo_counts)


def log_probability(n, eta):
    """log p of the words of a topic, one after another, under a Dirichlet prior."""
    total = gammaln(n.size * eta) - gammaln(n.sum() + n.size * eta)
    return total + (gammaln(n + eta) - gammaln(eta)).sum()


def log_bayes_factor(n, m, eta):
    """Of one distribution of the words of two topics rather than two."""
    return log_probability(n + m, eta) - log_probability(n, eta) - log_probability(m, eta)


def log_factor_of_documents(n, m, a):
    """What one topic rather than two adds to log p of the topics of documents; a is the pseudo-count of the one."""

    def rising(x):
        return gammaln(x + a) - gammaln(a)

    return (rising(n + m) - rising(n) - rising(m)).sum()


def documents_in(seed, n_topics, n_documents=30):
    """Tokens of documents in the topics, (D, K); one document has none, and many have few topics."""
    table = np.random.default_rng(seed).poisson(
        np.random.default_rng(seed + 1).gamma(0.2, 9.0, (n_documents, n_topics))
    )
    table[7] = 0
    return table


def twin(counts, eta, table, a):
    """The pairs, all of them computed anew each time."""
    groups = {k: counts[:, k].astype(float) for k in range(counts.shape[1])}
    places, a = {k: table[:, k].astype(float) for k in groups}, dict(enumerate(a))
    while len(groups) > 1:
        likeness = {
            (k, l): (
                log_bayes_factor(groups[k], groups[l], eta) + log_factor_of_documents(places[k], places[l], a[k] + a[l])
            )
            / min(groups[k].sum(), groups[l].sum())
            for k in groups
            for l in groups  # noqa: E741
            if k < l
        }
        k, l = max(likeness, key=lambda pair: likeness[pair])  # noqa: E741
        groups[k], places[k], a[k] = groups[k] + groups.pop(l), places[k] + places.pop(l), a[k] + a.pop(l)
        yield k, l


@pytest.mark.parametrize("n_topics", [2, 3, 25])
@pytest.mark.parametrize("eta", [0.02, 0.7])
@pytest.mark.parametrize("a", [0.01, 0.8])
def test_pairs_are_those_of_the_twin_in_its_order(a, n_topics, eta, seed):
    counts, table = made(seed, 40, n_topics), documents_in(seed, n_topics)
    a = a * np.random.default_rng(seed).gamma(0.5, 2.0, n_topics)
    expected = list(twin(counts, eta, table, WIDE * a))
    assert len(expected) == n_topics - 1
    assert list(pairs_by_likeness(tokens_of(counts, eta, table, a))) == expected


def test_large_topics_of_the_same_documents_stay_two():
    """Each document has both. By small pseudo-counts this is a wonder that one topic explains; by theirs it is not."""
    rng = np.random.default_rng(0)
    first, second, rare = rng.dirichlet(np.full(60, 0.5), size=3)
    table = np.zeros((400, 4), int)
    table[:, :2] = rng.poisson(4, (400, 2))
    table[:20, 2], table[20:40, 3] = 5, 5
    counts = np.stack(
        [rng.multinomial(n, p) for n, p in zip(table.sum(axis=0), (first, second, rare, rare), strict=True)]
    )
    counts = counts.T.astype(np.int32)
    of = np.array([4.0, 4.0, 0.01, 0.01])
    assert next(pairs_by_likeness(tokens_of(counts, 0.5, table, 0.01))) == (0, 1)
    assert next(pairs_by_likeness(tokens_of(counts, 0.5, table, of))) == (2, 3)


def test_kernels_of_documents_are_their_twins(seed):
    """The row of a topic that has parts is added to what is there."""
    table, a = documents_in(seed, 6), np.array([0.2, 0.01, 3.0, 0.5, 0.09, 0.7])
    of, found = tokens_of(made(seed, 30, 6), 0.1, table, a), np.ones((6, 6))
    kernels.of_pairs_in_documents(of.start, of.topic, of.tokens, a, found)
    for k in range(6):
        for l in {*range(6)} - {k}:  # noqa: E741
            assert found[k, l] == pytest.approx(1.0 + log_factor_of_documents(table[:, k], table[:, l], a[k] + a[l]))
    part_of, row = np.array([0, 1, 0, 3, 1, 0]), np.ones(6)
    kernels.of_topic_in_documents(of.start, of.topic, of.tokens, part_of, 0, a, row)
    own, other = table[:, [0, 2, 5]].sum(axis=1), table[:, [1, 4]].sum(axis=1)
    expected = [log_factor_of_documents(own, other, a[0] + a[1]), 0.0]
    expected.append(log_factor_of_documents(own, table[:, 3], a[0] + a[3]))
    np.testing.assert_allclose(row, 1.0 + np.array([0.0, *expected, 0.0, 0.0]))


def test_a_part_that_shares_its_documents_with_the_whole_goes_back_into_it(seed):
    """A mixture of two topics, in the documents of one of them, becomes part of that one, not of another mixture.

    By the words alone the two mixtures are the most alike.
    """
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(300, 0.1), 2)
    counts = np.stack(
        [*(rng.multinomial(9000, p) for p in phi), *(rng.multinomial(300, phi.mean(axis=0)) for _ in "12")]
    )
    counts, table = np.ascontiguousarray(counts.T, np.int32), np.zeros((30, 4), int)
    table[:15, 0], table[15:, 1], table[:15, 2], table[15:, 3] = 600, 600, 20, 20
    assert next(pairs_by_likeness(tokens_of(counts, 0.05))) == (2, 3)
    first, second = list(pairs_by_likeness(tokens_of(counts, 0.05, table, 0.05)))[:2]
    assert {first, second} == {(0, 2), (1, 3)}


@pytest.mark.parametrize("eta", [0.02, 0.7])
def test_kernels_are_their_twins(eta, seed):
    """With the part of the totals, they are log Bayes factors."""
    counts = made(seed, 30, 6)
    counts[:, 4] = 0  # it became part of another
    rising = gammaln(np.arange(counts.sum(axis=1).max() + 1) + eta) - gammaln(eta)
    found, rows = np.zeros((6, 6)), np.full((6, 6), 99.0)
    kernels.of_pairs(counts, rising, found)
    for k in range(6):
        kernels.of_topic(counts, k, rising, rows[k])
    expected, total_eta = np.zeros((6, 6)), 30 * eta
    for k in range(6):
        for l in {*range(6)} - {k}:  # noqa: E741
            a, b = counts[:, k].sum(), counts[:, l].sum()
            totals = gammaln(a + b + total_eta) + gammaln(total_eta) - gammaln(a + total_eta) - gammaln(b + total_eta)
            expected[k, l] = log_bayes_factor(counts[:, k], counts[:, l], eta) + totals
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rows, expected, rtol=1e-9, atol=1e-9)


def test_the_parts_of_one_topic_are_the_most_alike(seed):
    """5 topics in three parts of different sizes each: 10 pairs put them together."""
    rng = np.random.default_rng(seed)
    whole = np.stack([rng.multinomial(4000, p) for p in rng.dirichlet(np.full(200, 0.1), 5)], axis=1)
    parts = [rng.multinomial(n, [0.6, 0.3, 0.1]) for n in whole.T]
    counts = np.concatenate(parts, axis=1).astype(np.int32)
    order = rng.permutation(15)
    group = np.arange(15)
    for _, (k, l) in zip(range(10), pairs_by_likeness(tokens_of(counts[:, order], 0.05)), strict=False):  # noqa: E741
        group[group == l] = k
    assert len(np.unique(group)) == 5
    topic = order // 3
    assert all(np.unique(topic[group == g]).size == 1 for g in np.unique(group))


def levels(n_topics):
    """The numbers of topics that are looked at, in their order, while none is much worse."""
    found, left = [], n_topics
    while left > LEAST * n_topics and left > 1:
        left = left - 1 if left <= FEW else max(FEW, int(STEP * left))
        found.append(left)
    return found


def run(n_topics, gain_of):
    """Return what `fewer` finds, and the numbers of topics that it looked at; a gain for each number is made up."""
    asked, counts = [], made(3, 30, n_topics, tokens=5)
    group = np.arange(n_topics)
    wanted = {}
    for n, (k, l) in enumerate(pairs_by_likeness(tokens_of(counts, 0.1)), 1):  # noqa: E741
        group[group == l] = k
        wanted[n_topics - n] = np.unique(group, return_inverse=True)[1]

    def gains(part_of):
        asked.append(int(part_of.max()) + 1)
        assert part_of.dtype == np.int64
        np.testing.assert_array_equal(part_of, wanted[asked[-1]])
        return np.asarray(gain_of(asked[-1], len(asked)), dtype=float)

    found = fewer(tokens_of(counts, 0.1), gains)
    if found is not None:
        assert np.unique(found).tolist() == list(range(found.max() + 1))
        np.testing.assert_array_equal(found, wanted[found.max() + 1])
    return None if found is None else int(found.max()) + 1, asked


@pytest.mark.parametrize(("best", "last"), [(54, 30), (43, 30), (30, 30)])
def test_the_number_that_predicts_best_is_taken(best, last):
    """One document says so; none is worse by three standard errors, so all numbers are looked at."""
    found, asked = run(60, lambda n, _: [10.0 - abs(n - best)])
    assert found == best
    assert asked == [54, 48, 43, 38, 34, 30]
    assert asked[-1] == last


def test_a_number_is_compared_with_the_best_of_those_before():
    """And not with all topics, nor with the number before: 48 are better than these, but worse than 54."""
    assert run(60, lambda n, _: [{54: 5.0, 48: 2.0, 43: 3.0}.get(n, -1.0)])[0] == 54


@pytest.mark.parametrize(("n_topics", "first"), [(23, [20, 19, 18]), (22, [20, 19]), (21, [20, 19]), (20, [19, 18])])
def test_each_number_of_few_topics_is_looked_at(n_topics, first):
    assert run(n_topics, lambda n, _: [-1.0])[1][: len(first)] == first


@pytest.mark.parametrize("n_topics", [2, 3, 10, 21, 40, 61, 110])
def test_a_round_ends_where_half_of_the_topics_are_left(n_topics):
    found, asked = run(n_topics, lambda _, turn: [float(turn)])  # fewer are always better
    assert found == asked[-1]
    assert asked == levels(n_topics)
    assert asked[-1] <= LEAST * n_topics
    assert all(before > LEAST * n_topics for before in asked[:-1])
    assert asked[-1] >= int(STEP * LEAST * n_topics)
    assert all(after in (before - 1, FEW) or after <= STEP * before for before, after in pairwise([n_topics, *asked]))


@pytest.mark.parametrize(("documents", "taken"), [(1, True), (3, True), (4, False), (5, False)])
def test_few_topics_become_fewer_while_they_are_worse_by_chance(documents, taken):
    """As many documents lose the same at each step: their sum is worse by the root of their number, in such errors."""
    found, asked = run(FEW, lambda _, turn: np.full(documents, -float(turn)))
    assert asked == [19, 18, 17, 16, 15, 14, 13, 12, 11, 10]
    assert found == (10 if taken else None)


@pytest.mark.parametrize(("loss", "taken"), [(0.9 * SMALL, True), (1.1 * SMALL, False)])
def test_few_topics_become_fewer_while_they_are_little_worse(loss, taken):
    """One document loses it with each topic less: it is no more than one standard error."""
    found, _ = run(FEW, lambda n, _: [-loss * (FEW - n)])
    assert found == (10 if taken else None)


@pytest.mark.parametrize(("n_topics", "first", "last"), [(60, 54, None), (24, 21, 12), (23, 20, 11), (22, 20, 11)])
def test_many_topics_become_fewer_only_where_these_are_better(n_topics, first, last):
    """Those that are looked at last are few, except of 60 topics."""
    found, asked = run(n_topics, lambda _, turn: [-float(turn)])
    assert asked[0] == first
    assert found == last
    only_first = run(n_topics, lambda n, _: [-1.0, *[0.0] * 29] if n == first else [-1e9] * 30)[0]
    assert only_first == (first if first <= FEW else None)


@pytest.mark.parametrize(("documents", "n_asked"), [(9, 6), (10, 1)])
def test_it_ends_where_fewer_are_worse_by_three_standard_errors(documents, n_asked):
    found, asked = run(60, lambda _, turn: np.full(documents, -float(turn)))
    assert found is None
    assert len(asked) == n_asked


@pytest.mark.parametrize(("loss", "n_asked"), [(0.9 * LOSS, 6), (1.1 * LOSS, 1)])
def test_a_small_loss_ends_no_round(loss, n_asked):
    """It is sure, as all documents lose alike, but smaller than half a nat for each topic less."""
    found, asked = run(60, lambda n, _: np.full(100, -loss * (60 - n) / 100))
    assert found is None
    assert len(asked) == n_asked


def test_it_ends_where_fewer_are_much_worse_than_the_best():
    """Though not worse than all topics."""
    found, asked = run(60, lambda n, _: np.full(16, {54: 2.0, 48: 3.0, 43: 1.0}.get(n, 99.0)))
    assert found == 48
    assert asked == [54, 48, 43]


def test_one_topic_stays_one():
    counts = np.array([[3], [0], [5]], np.int32)
    assert list(pairs_by_likeness(tokens_of(counts, 0.1))) == []
    assert fewer(tokens_of(counts, 0.1), lambda _: pytest.fail("there are no fewer topics")) is None


@pytest.mark.parametrize(("gains", "found"), [([1.0], [0, 0]), ([-1.0], [0, 0]), ([-1.0] * 4, None)])
def test_two_topics_become_one_unless_it_is_worse(gains, found):
    part_of = fewer(tokens_of(np.array([[3, 1], [0, 2], [5, 0]], np.int32), 0.1), lambda _: np.array(gains))
    assert (None if part_of is None else part_of.tolist()) == found
