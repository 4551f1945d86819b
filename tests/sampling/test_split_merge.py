"""Split-merge moves: the kernel does what its twin does, and one trial leaves the exact posterior as it is."""

import math

import numpy as np
import pytest

from stickbreak.sampling.kernels import split_merge as kernels
from stickbreak.sampling.moves import MoveCounts, TrialRules, split_merge
from stickbreak.sampling.state import Concentrations, TableList

from . import reference
from .enumeration import (
    EXACT,
    Seating,
    Tiny,
    canonical,
    from_document_order,
    offsets,
    posterior,
    set_partitions,
    table_words,
)
from .laws import ALARM, chi_square


def table_list(rows, topic):
    word = np.array([w for row in rows for w in row], dtype=np.int32)
    return TableList(offsets(rows), word, np.array(topic, dtype=np.int32))


def tried(tables, n_topics, *, gamma, eta, n_words, trials, scans, key):
    now, rules = Concentrations(1.0, gamma, eta), TrialRules(trials, key)
    return split_merge(tables, n_topics, now, n_words, rules, scans)


def random_tables(rng, n_tables, n_words, n_topics, size):
    rows = [rng.integers(n_words, size=1 + rng.poisson(size)).tolist() for _ in range(n_tables)]
    topic = np.concatenate([np.arange(n_topics), rng.integers(n_topics, size=n_tables - n_topics)])
    return rows, rng.permutation(topic)


@pytest.mark.parametrize("scans", [0, 1, 3])
@pytest.mark.parametrize("eta", [0.05, 0.7])
def test_trials_are_those_of_the_twin(scans, eta):
    rng = np.random.default_rng(3)
    total = np.zeros(4, dtype=int)
    for key in range(12):
        n_tables = int(rng.integers(2, 14))
        n_topics = int(rng.integers(1, min(n_tables, 4) + 1))
        rows, topic = random_tables(rng, n_tables, 5, n_topics, 3.0)
        options = {"gamma": 1.5, "eta": eta, "n_words": 5}
        tables, twin = table_list(rows, topic), reference.SplitMerge(rows, topic.tolist(), **options)
        n_topics, made = tried(tables, n_topics, **options, trials=10, scans=scans, key=key)
        for trial in range(10):
            twin.trial(reference.Stream(key, trial), scans)
        assert canonical(tables.topic) == canonical(twin.topic)
        assert list(made) == twin.made
        total += made
        assert np.array_equal(np.unique(tables.topic), np.arange(n_topics)), "topics are numbered without gaps"
    assert total.min() > 0, "every kind of trial occurred, and was accepted now and then"


@pytest.mark.parametrize("row", EXACT["split_ratios"], ids=lambda row: f"{row['pair']}{row['allocation']}")
def test_ratio_and_proposal_are_the_stored_ones(row):
    """Both for the twin and for the kernel, which is made to propose the stored allocation."""
    tiny, stored = Tiny.named("E"), EXACT["crf"]
    seating = from_document_order(tiny.docs, stored["tables"], stored["dishes"])
    rows, order = table_words(tiny, seating), row["visiting_order"]
    twin = reference.SplitMerge(rows, seating.dish, gamma=tiny.gamma, eta=tiny.eta, n_words=tiny.V)
    sides = [[c] for c in row["pair"]]
    log_q = twin.scan(order, sides, None, dict(zip(order, row["allocation"], strict=True)))
    assert np.exp([log_q, twin.log_ratio(sides, log_q)]) == pytest.approx([row["q_split"], row["split_ratio"]])

    sides = np.array([0, 1, *row["allocation"]])
    listed = np.array([*row["pair"], *order])
    topic = np.zeros(len(rows), dtype=np.int32)
    topic[listed] = sides  # two dishes: the kernel takes the present sides
    tables, state = table_list(rows, topic), (np.zeros((tiny.V, 2)), np.zeros((2, 2)))
    side, rng = np.empty(len(rows), np.int8), np.empty(1, np.uint64)
    log_q = kernels.propose(tables.start, tables.word, topic, listed, side, *state, tiny.eta, 0, rng)
    ratio = np.exp(kernels.settle(tables.start, tables.word, listed, *state, tiny.gamma, tiny.eta) - log_q)
    assert [np.exp(log_q), ratio] == pytest.approx([row["q_split"], row["split_ratio"]])
    assert not state[0].any(), "the counts are empty again"
    assert not state[1].any()


def one_trial(tiny, seating, key, scans):
    tables = table_list(table_words(tiny, seating), seating.dish)
    options = {"gamma": tiny.gamma, "eta": tiny.eta, "n_words": tiny.V}
    tried(tables, max(seating.dish) + 1, **options, trials=1, scans=scans, key=key)
    return Seating(seating.table, canonical(tables.topic.tolist()))


def test_trial_has_the_stored_transition_probabilities():
    tiny, stored = Tiny.named("E"), EXACT["crf"]
    seating = from_document_order(tiny.docs, stored["tables"], stored["dishes"])
    following = {
        from_document_order(tiny.docs, row["tables"], row["dishes"]): row["p"] for row in stored["split_merge"]
    }
    seen = dict.fromkeys(following, 0)
    for key in range(20000):
        seen[one_trial(tiny, seating, key, 0)] += 1
    assert chi_square(list(seen.values()), list(following.values())) > ALARM


@pytest.mark.parametrize("scans", [0, 1, 3])
@pytest.mark.parametrize("name", "ABC")
def test_trial_leaves_the_exact_posterior_as_it_is(name, scans):
    """Independent seatings from the exact posterior, one trial each: their law is still the posterior."""
    tiny = Tiny.named(name)
    states, p, _ = posterior(tiny)
    number = {state: s for s, state in enumerate(states)}
    seen, moved = np.zeros(len(states)), 0
    for key, s in enumerate(np.random.default_rng(5).choice(len(states), 30000, p=p)):
        after = number[one_trial(tiny, states[s], key, scans)]
        seen[after] += 1
        moved += after != s
    assert moved > 3000
    assert chi_square(seen, p) > ALARM


@pytest.mark.parametrize("scans", [0, 1, 3])
def test_trial_leaves_the_dishes_of_given_tables_as_they_are(scans):
    """Up to five tables beside the two that are picked: enough for scans to differ from the allocation before them."""
    gamma, eta, n_words = 1.0, 0.1, 3
    rows = [[0, 0], [0, 1], [1, 1], [1, 2], [2, 2], [0, 2], [0, 1, 2]]
    partitions = list(set_partitions(len(rows)))
    log_p = []
    for dish in partitions:
        groups = [[c for c in range(len(rows)) if dish[c] == k] for k in set(dish)]
        f = [reference.log_f([w for c in group for w in rows[c]], eta, n_words) for group in groups]
        log_p.append(sum(f) + sum(math.lgamma(len(group)) + math.log(gamma) for group in groups))
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    number, seen = {dish: s for s, dish in enumerate(partitions)}, np.zeros(len(partitions))
    options = {"gamma": gamma, "eta": eta, "n_words": n_words, "trials": 1, "scans": scans}
    for key, s in enumerate(np.random.default_rng(6).choice(len(p), 40000, p=p)):
        tables = table_list(rows, partitions[s])
        tried(tables, max(partitions[s]) + 1, **options, key=key)
        seen[number[canonical(tables.topic.tolist())]] += 1
    assert chi_square(seen, p) > ALARM


def test_ratio_of_large_tables_is_that_of_gamma_functions():
    """Tables of thousands of words: products of ten thousand ratios neither overflow nor drift."""
    rng = np.random.default_rng(0)
    n_words, eta, gamma = 300, 0.01, 2.0
    phi = rng.dirichlet(np.full(n_words, 0.1), size=2)
    topic = np.array([0, 1, 0, 1, 0], dtype=np.int32)
    rows = [rng.choice(n_words, size=6000, p=phi[k]).tolist() for k in topic]
    tables, listed, rng_state = table_list(rows, topic), np.arange(5), np.empty(1, np.uint64)
    n, size, side = np.zeros((n_words, 2)), np.zeros((2, 2)), np.empty(5, np.int8)
    twin = reference.SplitMerge(rows, topic.tolist(), gamma=gamma, eta=eta, n_words=n_words)
    log_odds = kernels._add_to_both
    for s in range(2):
        kernels._add(tables.start, tables.word, s, n, size, s, 1.0)
    found = log_odds(tables.start, tables.word, 2, n, size, eta, n_words * eta)
    assert abs(found) > 1000
    assert found == pytest.approx(twin.log_odds(2, [[0], [1]]), rel=1e-10)
    n[:], size[:] = 0.0, 0.0
    log_q = kernels.propose(tables.start, tables.word, topic, listed, side, n, size, eta, 0, rng_state)
    log_ratio = kernels.settle(tables.start, tables.word, listed, n, size, gamma, eta) - log_q
    sides = [[0], [1]]
    log_q = twin.scan([2, 3, 4], sides, None, dict(enumerate(topic)))
    assert log_ratio == pytest.approx(twin.log_ratio(sides, log_q), rel=1e-10)


@pytest.mark.parametrize("n_tables", [0, 1])
def test_fewer_than_two_tables_are_left_alone(n_tables):
    tables = table_list([[0]] * n_tables, [0] * n_tables)
    options = {"gamma": 1.0, "eta": 0.1, "n_words": 2, "trials": 5, "scans": 0, "key": 0}
    assert tried(tables, n_tables, **options) == (n_tables, MoveCounts(0, 0, 0, 0))
