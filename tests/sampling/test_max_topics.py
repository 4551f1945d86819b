"""A largest number of topics: chains have the exact posterior if no more topics have tokens (docs/math (G6))."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

from stickbreak import GibbsHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.sampling.checks import REPRESENTATIONS
from stickbreak.sampling.kernels.topic_draw import heaviest
from stickbreak.sampling.state import NO_LIMIT

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


@pytest.mark.parametrize("init", ["topic-model", "random", "sequential", "single", "lda", "documents"])
def test_no_sweep_and_no_start_has_more(many: Corpus, init: str) -> None:
    model = GibbsHDP(max_topics=5, init=init, init_sweeps=10, n_laps=12, split_merge_trials=3, random_state=0).fit(many)
    assert model.trace_["n_topics"].max() == 5, "twelve topics want more"
    full = model.trace_["n_topics"][-1] == 5
    assert ("The number of topics reached max_topics=5: more may predict better." in model.stop_reason_) == full
    assert model.n_topics_ <= 5


def test_births_find_no_more_than_there_may_be(many: Corpus) -> None:
    free, few = (
        GibbsHDP(max_topics=most, init="topic-model", n_laps=1, subtopic_trials=0, estimate="last", random_state=0).fit(
            many
        )
        for most in (None, 5)
    )
    assert free.n_topics_ > 5 >= few.n_topics_ > 1


def test_seeds_count(many: Corpus) -> None:
    seeds = {"first": ["w1", "w2"], "second": ["w3"]}
    corpus = Corpus.from_counts(many.counts, [f"w{w}" for w in range(many.n_words)])
    model = GibbsHDP(max_topics=4, seeds=seeds, n_laps=10, estimate="last", random_state=0)
    assert model.starting_topics(corpus) == 2
    assert model.fit(corpus).trace_["n_topics"].max() == 4


def test_a_limit_that_is_never_reached_changes_no_bit(corpus: Corpus) -> None:
    changes = {"n_topics": 4, "n_laps": 8, "split_merge_trials": 2}
    free = fit(corpus, max_topics=500, **changes)
    assert_same(free, fit(corpus, **changes))
    assert "max_topics" not in free.stop_reason_


def test_a_fit_goes_on_under_its_limit_alone(many: Corpus, tmp_path: Any) -> None:
    whole = fit(many, max_topics=5)
    fit(many, max_topics=5, n_laps=4, checkpoint=tmp_path / "cut")
    assert_same(fit(many, max_topics=5, checkpoint=tmp_path / "cut", resume=True), whole)
    with pytest.raises(InputError, match="a fit that differs in its max_topics"):
        fit(many, max_topics=6, checkpoint=tmp_path / "cut", resume=True)


def test_a_state_of_more_topics_is_damaged(many: Corpus) -> None:
    model = fit(many, max_topics=5)
    model._kept.identity["max_topics"] = 4
    model.max_topics = 4
    with pytest.raises(ModelFormatError, match="its number of topics cannot be"):
        model.continue_fit(many, n_laps=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_topics": 3}, "max_topics is 3, but the fit starts with n_topics=4; give a max_topics"),
        ({"max_topics": 3, "init": np.ones((5, 30)) / 30}, "max_topics is 3, but init has 5 topics; give"),
        ({"max_topics": 4, "representation": "partially-collapsed"}, "representation is 'partially-collapsed': doc"),
    ],
)
def test_what_a_limit_does_not_go_with_is_refused(corpus: Corpus, change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        fit(corpus, **change)


@pytest.mark.parametrize("n_topics", [1, None])
def test_seeds_that_leave_no_room_are_refused(n_topics: Any) -> None:
    corpus = Corpus.from_counts(np.ones((4, 3)), ["a", "b", "c"])
    words = "max_topics is 2, but seeds and labels have 2 topics" if n_topics is None else "topics of seeds and labels"
    with pytest.raises(InputError, match=words):
        GibbsHDP(seeds={"x": ["a"], "y": ["b"]}, n_topics=n_topics, max_topics=2, n_laps=1).fit(corpus)


def test_a_draw_that_rounding_leaves_without_a_topic_takes_the_heaviest_with_tokens() -> None:
    coef = np.array([9.0, 1.0, 3.0, 8.0])
    assert heaviest(coef, np.array([0, 2, 1, 0]), 4) == 2
    assert heaviest(np.zeros(4), np.array([0, 0, 5, 0]), 4) == 2
    assert heaviest(coef, np.zeros(4, np.int64), 4) == 0, "topics of labels come first, and may have no token"
    assert NO_LIMIT > 2**62
