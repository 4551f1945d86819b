"""Topics that are known before, and eta by word: the samplers have the exact posterior, and seeds are recovered."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln
from tests.steered_problems import WORDS, documents, matched, topics

import stickbreak
from stickbreak import GibbsHDP
from stickbreak.corpus import Corpus
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.sampling.chain import Chain, resample_gamma_beside
from stickbreak.sampling.checks import REPRESENTATIONS
from stickbreak.sampling.known_topics import KnownTopics
from stickbreak.sampling.state import Concentrations

from .chains import ONE_THREAD, settings, tokens_of, visits
from .enumeration import Tiny, posterior
from .laws import z_scores

SEEDS = {"space": ["a0", "a1", "b0", "b1"], "war": ["c0", "c1"]}
N_SWEEPS = 3000
# three tokens of two words in two documents, and two documents of pseudo-tokens, each of which is a topic
KNOWN = Tiny([[0, 1], [1], [0, 0], [1]], 2, alpha=0.8, gamma=1.3, eta=0.4)
BY_WORD = Tiny([[0, 1, 2], [2, 1]], 3, alpha=0.8, gamma=1.3, eta=[0.2, 0.9, 0.5])
MOVES: dict[str, dict[str, Any]] = {
    "plain": {},
    "both": {"split_merge": 1, "subtopic_trials": 1, "subtopic_passes": 4, "scans": 1},
}


def given_two_topics(tiny: Tiny) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Seatings in which each of the last two documents is one table of its own topic: z, tables, probabilities."""
    states, p, _ = posterior(tiny)
    n = sum(map(len, tiny.docs[:-2]))
    rows = []
    for state, share in zip(states, p, strict=True):
        first, second = state.table[n : n + len(tiny.docs[-2])], state.table[n + len(tiny.docs[-2]) :]
        dishes = state.dish[first[0]], state.dish[second[0]]
        if len(set(first)) == len(set(second)) == 1 and dishes[0] != dishes[1]:
            order = [*dishes, *(k for k in range(max(state.dish) + 1) if k not in dishes)]
            rows.append(([order.index(k) for k in state.topics[:n]], len(state.dish), share))
    z, tables, share = (np.array(column) for column in zip(*rows, strict=True))
    return z, tables, share / share.sum()


def statistics(z: np.ndarray, tables: np.ndarray, n_known: int) -> np.ndarray:
    """P(M = m), P(K = k), P(token i has known topic k), P(same topic) of all pairs, a column each."""
    pairs, sizes = np.triu_indices(z.shape[1], 1), np.arange(1, 10)
    K = np.array([len(set(row) | set(range(n_known))) for row in z.tolist()])
    own = [z[:, i] == k for i in range(z.shape[1]) for k in range(n_known)]
    return np.column_stack(
        [tables[:, None] == sizes, K[:, None] == sizes, *own, z[:, pairs[0]] == z[:, pairs[1]]]
    ).astype(float)


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_chain_with_known_topics_has_the_exact_posterior(kind: str, moves: str) -> None:
    z, tables, share = given_two_topics(KNOWN)
    p = share @ statistics(z, tables, 2)
    found = visits(KNOWN, kind, N_SWEEPS, seed=3, n_given=2, **MOVES[moves])
    least = np.sqrt(np.maximum(p * (1 - p), 0) / N_SWEEPS)
    scores = z_scores(statistics(found.z, found.tables, 2), p, least_error=least)
    assert np.abs(scores).max() < 4.5
    assert np.sqrt(np.mean(scores**2)) < 1.6


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("kind", ["franchise", "indicator"])
def test_chain_with_an_eta_by_word_has_the_exact_posterior(kind: str, moves: str) -> None:
    states, share, _ = posterior(BY_WORD)
    z, tables = np.array([state.topics for state in states]), np.array([len(state.dish) for state in states])
    p = share @ statistics(z, tables, 0)
    found = visits(BY_WORD, kind, N_SWEEPS, seed=4, **MOVES[moves])
    least = np.sqrt(np.maximum(p * (1 - p), 0) / N_SWEEPS)
    scores = z_scores(statistics(found.z, found.tables, 0), p, least_error=least)
    assert np.abs(scores).max() < 4.5
    assert np.sqrt(np.mean(scores**2)) < 1.6


@pytest.mark.parametrize("eta", [0.4, [0.3, 0.6]], ids=["number", "by word"])
def test_log_joint_is_that_of_the_documents_given_the_known_topics(eta: Any) -> None:
    """It is what the enumeration says of all documents, but for the probability of those that are given."""
    tiny = replace(KNOWN, eta=eta)
    states, p, log_evidence = posterior(tiny)
    tokens, _ = tokens_of(tiny.docs, 2, 2)
    known = KnownTopics(np.array([2.0, 1.0]), np.array([2.0, 1.0]), np.array([0, 1]), 2)
    now = Concentrations(tiny.alpha, tiny.gamma, np.array(eta) if np.ndim(eta) else eta)
    chain = Chain(tokens, settings("franchise", known=known), now, 0)
    chain.begin("random", 1)
    table = {}
    for state, share in zip(states, p, strict=True):
        if state.dish[state.table[3]] != state.dish[state.table[5]] and state.table[3] == state.table[4]:
            order = [state.dish[state.table[3]], state.dish[state.table[5]]]
            order += [k for k in range(max(state.dish) + 1) if k not in order]
            key = tuple(order.index(k) for k in state.topics[:3]), len(state.dish)
            table[key] = np.logaddexp(table.get(key, -np.inf), np.log(share) + log_evidence)
    seen = {}
    for _ in range(60):
        chain.sweep(ONE_THREAD)
        # both representations number topics by the known ones, then by the first token that has them
        z = chain.topics
        new = list(dict.fromkeys(k for k in z.tolist() if k >= 2))
        seen[tuple(k if k < 2 else 2 + new.index(k) for k in z.tolist()), chain.n_tables] = chain.log_joint()
    differences = [seen[key] - table[key] for key in seen]
    assert len(seen) > 4
    # the given documents, read first: two tokens at one table, a new topic, then one token and another new topic
    given = -np.log(1 + tiny.alpha) + np.log(tiny.gamma / (1 + tiny.gamma)) + known.log(now.eta)
    np.testing.assert_allclose(differences, -given, atol=1e-9)


def test_gamma_beside_known_topics_has_its_conditional() -> None:
    """p(gamma) gamma^K Gamma(gamma + L) / Gamma(gamma + L + M) is invariant, by numbers on a grid."""
    rng, prior, K, M, L = np.random.default_rng(0), GammaPrior(1.5, 0.7), 3, 9, 4
    grid = np.linspace(1e-4, 30, 60_000)
    log_p = (prior.shape - 1 + K) * np.log(grid) - prior.rate * grid + gammaln(grid + L) - gammaln(grid + L + M)
    p = np.exp(log_p - log_p.max())
    mean, gamma, drawn = float((grid * p).sum() / p.sum()), 1.0, []
    for _ in range(20_000):
        gamma = resample_gamma_beside(L, gamma, prior, K, M, rng)
        drawn.append(gamma)
    assert np.mean(drawn) == pytest.approx(mean, rel=0.03)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return documents(200, [0, 1, 2, 3, 4], 0)


def test_a_seeded_theme_is_one_topic_where_a_chain_without_seeds_splits_it(corpus: Corpus, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n_topics": 10, "n_laps": 30, "subtopic_trials": 0, "random_state": 0}
    themes = {"space": [f"a{i}" for i in range(4)], "war": [f"b{i}" for i in range(4)], "none": ["f0", "f1"]}
    plain, seeded = GibbsHDP(**settings).fit(corpus), GibbsHDP(**settings, seeds=themes).fit(corpus)
    for model, alone in ((plain, False), (seeded, True)):
        found = [k for k, theme in enumerate(matched(model, 5)) if theme == 0 and model.topic_shares_[k] > 0.02]
        assert (found == [0]) == alone
    distance = 0.5 * np.abs(seeded.topic_word_[:2] - topics(5)[:2]).sum(axis=1)
    assert (distance < 0.2).all()
    assert seeded.labels_ == {0: "space", 1: "war", 2: "none"}
    tokens = seeded.components_.sum() - seeded.eta_ * seeded.components_.size
    assert tokens == pytest.approx(corpus.n_tokens + 300.0, rel=0.02)
    assert seeded.topic_shares_.sum() == pytest.approx(1.0)
    assert seeded.topic_shares_[2] < 0.02
    seeded.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.labels_ == seeded.labels_
    np.testing.assert_array_equal(loaded.topic_shares_, seeded.topic_shares_)


@pytest.mark.parametrize(
    "parameters",
    [
        {"representation": "franchise", "split_merge_trials": 3, "learn": ("alpha", "gamma", "eta")},
        {"n_chains": 2},
        {"representation": "partially-collapsed", "init": "lda", "init_sweeps": 5},
        {"init": "topic-model", "init_sweeps": 5},
        {"eta": np.linspace(0.01, 0.1, len(WORDS))},
    ],
)
def test_kept_topics_are_the_same_after_a_checkpoint_and_with_threads(
    corpus: Corpus, parameters: dict[str, Any], tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"n_topics": 4, "seeds": SEEDS, "random_state": 0, "thin": 1, "burn_in": 2, **parameters}
    whole = GibbsHDP(**settings, n_laps=6).fit(corpus)
    assert whole.labels_ == {0: "space", 1: "war"}
    for n_laps in (4, 6):
        again = GibbsHDP(**settings, n_laps=n_laps, n_jobs=2).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    np.testing.assert_array_equal(whole.components_, again.components_)
    GibbsHDP(**settings, n_laps=4).fit(corpus).save(tmp_path / "short")
    np.testing.assert_array_equal(
        whole.components_, stickbreak.load(tmp_path / "short").continue_fit(corpus, n_laps=2).components_
    )
