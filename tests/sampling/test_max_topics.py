"""A largest number of topics: chains have the exact posterior if no more topics have tokens (docs/math (G6))."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.sampling.checks import REPRESENTATIONS

from . import test_word_priors as known
from .chains import ONE_THREAD, Visits, chain_of, visits
from .enumeration import Tiny, posterior
from .fits import assert_same, fit
from .laws import z_scores
from .test_exact_posteriors import MOVES, statistics

N_SWEEPS = 1500
LIMITS = {"A": 2, "B": 3, "C": 2, "D": 1, "E": 3, "F": 2}  # C has so few topics with a probability of 0.06
EXACT_KINDS = [kind for kind in REPRESENTATIONS if kind != "partially-collapsed"]


def exact(name: str, most: int) -> np.ndarray:
    """P(K = k), P(M = m) and P(same topic) of all pairs, from the seatings of at most so many topics."""
    states, p, _ = posterior(Tiny.named(name))
    few = np.array([max(state.dish) < most for state in states])
    z = np.array([state.topics for state in states])
    tables = np.array([len(state.dish) for state in states], float)
    share = np.where(few, p, 0.0) / p[few].sum()
    return np.asarray(share @ statistics(Visits(z, tables)))


@pytest.mark.parametrize(
    ("kind", "moves", "sampler"),
    [
        *((kind, moves, "sparse") for kind in EXACT_KINDS for moves in ("plain", "both")),
        ("indicator", "both", "dense"),
        ("indicator", "sub-topics", "sparse"),
        ("indicator", "split-merge", "sparse"),
    ],
)
def test_chain_has_the_exact_posterior_given_a_largest_number(kind: str, moves: str, sampler: str) -> None:
    scores = []
    for corpus, (name, most) in enumerate(LIMITS.items()):
        options: dict[str, Any] = {"scans": corpus % 2, "max_topics": most, "sampler": sampler, **MOVES[moves]}
        found = visits(Tiny.named(name), kind, N_SWEEPS, seed=corpus, **options)
        assert found.z.max() < most
        p = exact(name, most)
        scores.append(z_scores(statistics(found), p, least_error=np.sqrt(np.maximum(p * (1 - p), 0) / N_SWEEPS)))
    z = np.concatenate(scores)
    assert np.abs(z).max() < 4.5
    assert np.sqrt(np.mean(z**2)) < 1.3


@pytest.mark.parametrize("moves", known.MOVES)
@pytest.mark.parametrize("kind", EXACT_KINDS)
def test_known_topics_count(kind: str, moves: str) -> None:
    z, tables, share = known.given_two_topics(known.KNOWN)
    few = z.max(axis=1, initial=1) < 3
    p = (share[few] / share[few].sum()) @ known.statistics(z[few], tables[few], 2)
    found = visits(known.KNOWN, kind, 2 * N_SWEEPS, seed=3, n_given=2, max_topics=3, **known.MOVES[moves])
    assert found.z.max() == 2
    least = np.sqrt(np.maximum(p * (1 - p), 0) / (2 * N_SWEEPS))
    scores = z_scores(known.statistics(found.z, found.tables, 2), p, least_error=least)
    assert np.abs(scores).max() < 4.5
    assert np.sqrt(np.mean(scores**2)) < 1.6


def test_gamma_that_is_learned_has_its_posterior_given_a_largest_number() -> None:
    """p(gamma) times the probability of all seatings of at most two topics, on a grid."""
    tiny, prior, most = Tiny.named("B"), GammaPrior(2.0, 1.0), 2
    states, p, _ = posterior(replace(tiny, gamma=1.0))
    K = np.array([max(state.dish) + 1 for state in states])
    M = np.array([len(state.dish) for state in states])
    grid = (np.arange(2000) + 0.5) / 100
    log_ratio = K[:, None] * np.log(grid) + gammaln(grid) - gammaln(grid + M[:, None]) + gammaln(M + 1.0)[:, None]
    weight = (p * (most >= K))[:, None] * np.exp(log_ratio) * grid ** (prior.shape - 1) * np.exp(-prior.rate * grid)
    weight /= weight.sum()
    of_gamma = weight.sum(axis=0)
    chain, _ = chain_of(tiny, "indicator", seed=5, learn=("gamma",), priors={"gamma": prior}, max_topics=most)
    rows = []
    for _ in range(6000):
        chain.sweep(ONE_THREAD)
        now = chain.concentrations.gamma
        rows.append([now, now < 1, now < 3, chain.n_topics == 1])
    expected = [of_gamma @ grid, of_gamma[grid < 1].sum(), of_gamma[grid < 3].sum(), weight[K == 1].sum()]
    assert np.abs(z_scores(np.array(rows), np.array(expected), exact_variance=1e-6)).max() < 4.5


@pytest.fixture(scope="module")
def many() -> Corpus:
    return planted_lda(80, 60, n_topics=12, mean_tokens=40, seed=3)[0]


def test_a_fit_goes_on_under_its_limit_alone(many: Corpus, tmp_path: Any) -> None:
    whole = fit(many, max_topics=5)
    fit(many, max_topics=5, n_laps=4, checkpoint=tmp_path / "cut")
    assert_same(fit(many, max_topics=5, checkpoint=tmp_path / "cut", resume=True), whole)
    with pytest.raises(InputError, match="a fit that differs in its max_topics"):
        fit(many, max_topics=6, checkpoint=tmp_path / "cut", resume=True)
