"""Split-merge moves: the kernel does what its twin does, and one trial leaves the exact posterior as it is."""

import numpy as np
import pytest

from stickbreak.sampling.kernels import split_merge as kernels
from stickbreak.sampling.moves import TrialRules, split_merge
from stickbreak.sampling.state import Concentrations, TableList

from . import reference
from .enumeration import (
    Seating,
    Tiny,
    canonical,
    offsets,
    posterior,
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


def one_trial(tiny, seating, key, scans):
    tables = table_list(table_words(tiny, seating), seating.dish)
    options = {"gamma": tiny.gamma, "eta": tiny.eta, "n_words": tiny.V}
    tried(tables, max(seating.dish) + 1, **options, trials=1, scans=scans, key=key)
    return Seating(seating.table, canonical(tables.topic.tolist()))


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
