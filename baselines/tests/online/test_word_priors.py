"""Seeds, and eta by word or by topic, in both online HDPs: bounds of slow twins, and topics that keep their numbers."""

from typing import Any

import numpy as np
import pytest
from baselines.tests.online.direct import twin as direct_twin
from baselines.tests.online.franchise import twin as franchise_twin
from scipy import sparse
from tests.steered_problems import WORDS, documents

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak_baselines import OnlineHDP
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.direct.merges import candidates, gain_of
from stickbreak_baselines.online.direct.splits import Part, halves, judge
from stickbreak_baselines.online.direct.steps import DirectSteps, Settings
from stickbreak_baselines.online.direct.weights import objective_of_weights
from stickbreak_baselines.online.franchise.local_step import TOPICS, LocalSettings
from stickbreak_baselines.online.franchise.merging import merge_alike
from stickbreak_baselines.online.franchise.steps import FranchiseSteps
from stickbreak_baselines.online.franchise.sticks import order_of_sticks
from stickbreak_baselines.online.laps import Rules
from stickbreak_baselines.online.state import OnlineState
from stickbreak_baselines.topics import objective_of_topics, words_of_topics

SEEDS = {"law": ["d0", "d1"], "war": ["c0", "c1"]}
W, D, K, L = 7, 9, 4, 2


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return documents(300, [0, 1, 2, 3, 4], 0)


@pytest.fixture
def counts(seed: int) -> Any:
    return np.random.default_rng(seed).poisson(1.6, (D, W)) * (np.arange(W) < W - 1) + (np.arange(W) == 0)


@pytest.fixture
def known(seed: int) -> Any:
    """Rules with an eta by word and pseudo-counts of two topics, their table (W, K), a state; a word is unseen."""
    rng = np.random.default_rng(seed)
    b = rng.gamma(0.5, 6.0, (W, L)) * (rng.random((W, L)) < 0.6)
    b[W - 1] = 1.5
    rules = Rules(0.8, 3.0, rng.gamma(1.0, 0.3, W) + 0.05, 0.5, 1.0, 0, sparse.csr_array(b))
    table = np.repeat(rules.eta[:, None], K, axis=1)  # type: ignore[index]
    table[:, :L] += b
    S = rng.gamma(0.7, 9.0, (W, K))
    S[:, :L] += b
    return rules, table, OnlineState.of(S, rng.gamma(3.0, 5.0, K) + 1.0, n_kept=L)


def steps(rules: Rules) -> DirectSteps:
    return DirectSteps(rules, Settings(1e-10, 100), Engine(None))


def responsibilities(visit: Any) -> Any:
    r = np.zeros((D, W, visit.prior.size))
    for k in range(visit.prior.size):
        r[visit.document, visit.minibatch.words[visit.minibatch.word], k] = visit.tokens_of(k) / visit.minibatch.count
    return r


def test_words_and_bound_of_topics_are_those_of_the_prior_of_each(known: Any) -> None:
    rules, table, state = known
    of_data = state.S() - (table - rules.eta[:, None])
    halved = OnlineState(2 * state.counts, 0.5, state.tokens, state.tables, 0, L)
    for one in (state, halved):
        found = objective_of_topics(one, rules.eta, rules.pseudo).sum()
        assert found == pytest.approx(franchise_twin.bound_of_topics(of_data, table))
        elog = words_of_topics(one, np.arange(W), rules.eta)
        np.testing.assert_allclose(elog, franchise_twin.log_topics(of_data, table))


def test_objective_of_tables_is_the_whole_bound_under_the_prior_of_each(known: Any, counts: Any) -> None:
    rules, table, state = known
    one = FranchiseSteps(rules, LocalSettings(4, TOPICS, 1e-9, 500), None, Engine())
    minibatch, before = Minibatch.from_corpus(Corpus.from_counts(counts)), state.copy()
    found = one.visit(state, minibatch)
    lap = one.once(state, minibatch, 3 * D)
    of_data = before.S() - (table - rules.eta[:, None])
    a_b = franchise_twin.sticks_of(before.tables, rules.gamma)
    log_phi, log_beta = franchise_twin.log_topics(of_data, table)[minibatch.words], franchise_twin.log_sticks(*a_b)
    bound = 3 * (found.own + (found.S * log_phi).sum() + found.tables @ log_beta)
    bound += franchise_twin.bound_of_topics(of_data, table) + franchise_twin.kl_of_sticks(*a_b, rules.gamma)
    assert lap.objective == pytest.approx(bound / (3 * counts.sum()))
    size, aim = rules.size(1), table - rules.eta[:, None]  # a step aims at the pseudo-counts and the scaled counts
    aim[minibatch.words] += 3 * found.S
    wanted = (1 - size) * before.S() + size * aim
    np.testing.assert_allclose(state.S()[:, :L], wanted[:, :L])
    np.testing.assert_allclose(sorted(state.tokens), sorted(wanted.sum(axis=0)))
    np.testing.assert_allclose(state.tokens, state.S().sum(axis=0))


def slow_bound(counts: Any, r: Any, S: Any, beta: Any, rules: Rules, table: Any, share: float) -> float:
    """The bound with one table of each known topic beforehand, up to the constant of its law."""
    u = direct_twin.sticks(beta)
    bound = direct_twin.bound(counts, r, S, beta, u, rules.alpha, rules.gamma, table, share)
    return float(bound + np.log(beta[:L]).sum())


def weights(tables: Any, rules: Rules) -> Any:
    return np.append(tables, rules.gamma - 1) / (tables.sum() + rules.gamma - 1)


def test_objective_of_direct_steps_has_the_prior_and_the_table_of_each_known_topic(known: Any, counts: Any) -> None:
    rules, table, state = known
    before, visit = state.copy(), steps(rules).visit(state, Minibatch.from_corpus(Corpus.from_counts(counts)))
    quiet = DirectSteps(rules, Settings(1e-10, 100, 0, 0), Engine(None))
    lap = quiet.once(state, Minibatch.from_corpus(Corpus.from_counts(counts)), 5 * D)
    of_data = before.S() - (table - rules.eta[:, None])
    bound = slow_bound(counts, responsibilities(visit), of_data, weights(before.tables, rules), rules, table, 5)
    rng = np.random.default_rng(0)
    u = rng.beta(1.0, rules.gamma, (400_000, L))
    weights_of = u * np.column_stack([np.ones(len(u)), np.cumprod(1 - u, axis=1)[:, :-1]])
    constant = np.log(weights_of.prod(axis=1).mean())  # E prod of the weights of known topics
    assert lap.objective * 5 * counts.sum() == pytest.approx(bound - constant, abs=0.02)
    size, aim = rules.size(1), table - rules.eta[:, None]
    aim[visit.minibatch.words] += 5 * visit.S
    np.testing.assert_allclose(state.S(), (1 - size) * before.S() + size * aim)
    np.testing.assert_allclose(state.tables[:L], (1 - size) * before.tables[:L] + size * (5 * visit.tables[:L] + 1))


@pytest.mark.parametrize(("k", "other"), [(1, 2), (2, 3)])
def test_gain_of_a_merge_is_the_difference_of_two_bounds(known: Any, counts: Any, k: int, other: int) -> None:
    rules, table, state = known
    visit, share = steps(rules).visit(state, Minibatch.from_corpus(Corpus.from_counts(counts))), 5.0
    r, beta = responsibilities(visit), weights(state.tables, rules)
    left = [i for i in range(K) if i != other]
    joined, beta_joined = r[..., left].copy(), beta[[*left, K]].copy()
    joined[..., k] += r[..., other]
    beta_joined[k] += beta[other]
    bounds = [
        slow_bound(counts, parts, share * np.einsum("dw,dwk->wk", counts, parts), of_weights, rules, prior, share)
        for parts, of_weights, prior in ((joined, beta_joined, table[:, left]), (r, beta, table))
    ]
    assert gain_of(visit, k, other, share, rules, W) == pytest.approx(bounds[0] - bounds[1])


def test_gain_of_a_split_has_eta_by_word(known: Any, counts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stickbreak_baselines.online.direct.splits.LEAST_TOKENS", 0.0)
    rules, table, state = known
    visit, share, k = steps(rules).visit(state, Minibatch.from_corpus(Corpus.from_counts(counts))), 5.0, 2
    part, prior, eta = Part.of(visit, k), visit.prior[k], rules.eta[visit.minibatch.words]
    half = halves(part, prior, share, eta, rules.eta.sum(), np.random.default_rng(0))
    split = judge(part, half, prior, share, eta, rules.gamma, rules.eta.sum())
    r, beta = responsibilities(visit), weights(state.tables, rules)
    halved, word = np.concatenate([r, np.zeros((D, W, 1))], axis=2), visit.minibatch.words[part.word]
    halved[part.document, word, k] *= half
    halved[part.document, word, K] = r[part.document, word, k] * (1 - half)
    tokens = np.einsum("dw,dwk->k", counts, halved)[[k, K]]
    beta_halved = np.insert(beta, K, beta[k] * tokens[1] / tokens.sum())
    beta_halved[k] *= tokens[0] / tokens.sum()
    wide = np.column_stack([table, rules.eta])
    bounds = [
        slow_bound(counts, parts, share * np.einsum("dw,dwk->wk", counts, parts), of_weights, rules, prior_, share)
        for parts, of_weights, prior_ in ((halved, beta_halved, wide), (r, beta, table))
    ]
    assert split.gain == pytest.approx(bounds[0] - bounds[1])


def test_moves_leave_known_topics_where_they_are() -> None:
    N = np.array([[5.0, 5, 0, 0], [0, 0, 5, 5], [4, 4, 0, 0], [0, 0, 3, 3]])
    assert sorted(candidates(N, 2)) == [(0, 1), (2, 3)]
    assert candidates(N, 2, n_kept=2) == [(2, 3)]
    assert order_of_sticks(np.array([1.0, 2.0, 3.0, 9.0, 0.5]), 1.0, n_kept=2).tolist() == [0, 1, 3, 2, 4]  # type: ignore
    S = np.array([[6.0, 6, 9, 0.1], [0, 0, 0.1, 0], [4, 4, 6, 0], [0, 0, 0, 9]])
    state = OnlineState.of(S, np.arange(1.0, 5), n_kept=2)
    assert merge_alike(state, eta=np.full(4, 0.1), threshold=0.99) == 1  # the larger one goes into one of the known
    assert (state.n_topics, state.tables.sum()) == (3, 10.0)
    assert state.tokens[:2].sum() == pytest.approx(20 + 15.1)
    assert objective_of_weights(state.tables, 2.0, 2) != objective_of_weights(state.tables, 2.0)


def test_batch_laps_never_lower_the_bound(corpus: Corpus) -> None:
    model = OnlineHDP(
        n_topics=6, n_tables=6, n_laps=12, batch_size=80, learning_decay=1e-12, local_tolerance=0.0, local_sweeps=2000,
        seeds=SEEDS, eta=np.random.default_rng(0).gamma(0.5, 0.3, len(WORDS)) + 0.02, random_state=0,
    ).fit(corpus[:80])  # fmt: skip
    gains = np.diff(model.trace_["objective"])
    assert (gains >= -1e-9).all()
    assert gains.sum() > 0.1
