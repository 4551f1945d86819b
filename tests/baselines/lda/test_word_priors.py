"""Seeds, and eta by word or by topic, in `LDA`: exact posteriors, slow twins, and topics that keep their numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, psi
from stickbreak.baselines.lda.cvb0 import CVB0
from stickbreak.baselines.lda.gibbs import Gibbs
from tests.baselines.steered import check_a_table_says_what_seeds_say, check_fits_go_on
from tests.sampling.laws import ALARM, chi_square
from tests.steered_problems import WORDS, documents, matched

import stickbreak
from stickbreak import LDA
from stickbreak.baselines.lda import objective
from stickbreak.baselines.lda.variational import Local, best_eta, near_uniform, step
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.numerics.keys import key_of
from stickbreak.sparse_gibbs.priors import Priors

from . import reference
from .test_cvb0 import ONE, shares
from .test_estimator import HOW
from .test_gibbs import chain_at, shape_of, topics

SEEDS = {"law": ["d0", "d1"], "war": ["c0", "c1"]}
BY_WORD = np.random.default_rng(0).gamma(0.5, 0.3, len(WORDS)) + 0.02


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return documents(300, [0, 1, 2, 3, 4], 0)


def priors_of(a: Any, eta: Any, rows: Any) -> tuple[Priors, np.ndarray]:
    """Return priors with pseudo-counts (n_kept, W) of the first topics, and their table (W, K)."""
    pseudo, K = sparse.csr_array(np.array(rows, float).T), len(a)
    priors = Priors(np.array(a), float(np.sum(a)), eta, pseudo)
    table = np.tile(np.reshape(eta, (-1, 1)), (pseudo.shape[0] // np.size(eta), K))
    table[:, : len(rows)] += np.array(rows, float).T
    return priors, table


def test_sweeps_draw_what_the_twin_draws(seed: int) -> None:
    corpus, _ = planted_lda(25, 30, n_topics=5, mean_tokens=60, seed=seed)
    rng = np.random.default_rng(seed)
    rows = rng.gamma(0.3, 8.0, (3, 30)) * (rng.random((3, 30)) < 0.3)
    priors, table = priors_of(rng.uniform(0.01, 0.5, 40), rng.gamma(1.0, 0.1, 30) + 0.01, rows)
    word, document = reference.by_word(corpus)
    chain = Gibbs(corpus, 40, seed, "last", priors.pseudo)
    chain.begin()
    z = topics(chain)
    for number in (1, 2):
        key = key_of(seed, number, "sweep of LDA")
        z, log_p = reference.sweep(word, document, z, shape_of(corpus, 40), priors.a, table, key)
        assert chain.lap(number, priors) == pytest.approx(log_p, rel=1e-5)
        np.testing.assert_array_equal(topics(chain), z)


TINY = [
    ([[2, 1], [0, 2]], [0.7, 0.2], 0.3, [[0.0, 2.5]]),
    ([[1, 1, 0], [1, 0, 1]], [0.1, 0.5, 0.9], [0.5, 0.1, 0.8], [[0.0, 0.0, 3.0], [1.3, 0.0, 0.4]]),
]


@pytest.mark.parametrize(("counts", "a", "eta", "rows"), TINY)
def test_a_sweep_leaves_the_exact_posterior_as_it_is(counts: Any, a: Any, eta: Any, rows: Any) -> None:
    """Under a prior by word and topic, the chance of every state by enumeration.                   math.md (C18)"""
    corpus, n_topics = Corpus.from_counts(np.array(counts)), len(a)
    priors, table = priors_of(a, np.array(eta) if np.ndim(eta) else eta, rows)
    word, document = reference.by_word(corpus)
    states, p = reference.posterior(word, document, shape_of(corpus, n_topics), priors.a, table)
    rng, seen = np.random.default_rng(1), np.zeros(len(states))
    chain, place = chain_at(corpus, states[0], n_topics), n_topics ** np.arange(word.size)[::-1]
    for number in range(20_000):
        chain.take(states[rng.choice(len(states), p=p)].astype(np.uint16))
        chain.lap(number + 1, priors)
        seen[topics(chain) @ place] += 1
    assert chi_square(seen, p) > ALARM


def test_the_start_gives_words_to_their_seeds_and_others_to_those_of_their_document() -> None:
    counts = np.zeros((3, 6), int)
    counts[0, [0, 3]], counts[1, [1, 4]], counts[2, 5] = (300, 4000), (200, 4000), 4000
    corpus = Corpus.from_counts(counts)
    pseudo = sparse.csr_array(np.array([[50.0, 0, 0, 0, 0, 0], [50.0, 1.0, 0, 0, 0, 0]]).T)
    chain = Gibbs(corpus, 4, 0, "last", pseudo)
    chain.begin()
    z = topics(chain)
    word, document = reference.by_word(corpus)
    both, alone = np.bincount(z[word == 0], minlength=4), np.bincount(z[word == 1], minlength=4)
    assert both[2:].sum() == 0
    assert abs(both[0] - 150) < 40
    assert alone.tolist() == [0, 200, 0, 0]
    near = np.bincount(z[word == 3], minlength=4) / 4000  # 300 : 300 : 1 of its seeds and the free ones
    np.testing.assert_allclose(near[:2], 300 / 601, atol=0.04)
    assert (np.bincount(z[document == 2], minlength=4) > 1500).tolist() == [False, False, True, True]
    full = Gibbs(corpus, 2, 0, "last", pseudo)
    full.begin()
    assert set(topics(full)[document == 2]) == {0, 1}


def test_a_lap_of_cvb0_gives_each_token_its_probabilities_given_the_others() -> None:
    """As in test_cvb0.py, under a prior by word and topic.                                  math.md (C1), (C18)"""
    corpus, eta = Corpus.from_counts(np.array([[1, 1, 1, 1]])), np.array([0.2, 0.5, 0.1, 0.4])
    priors, table = priors_of([0.3, 0.9, 1.4], eta, [[0.0, 0.6, 0.0, 0.2], [0.4, 0.0, 0.0, 0.0]])
    inference = CVB0(corpus, 3, 5, ONE, priors.pseudo)
    inference.begin()
    r = shares(inference, 3)
    S, log_p = r.copy(), 0.0
    N = S.sum(axis=0)
    for w in range(4):
        own = r[w].copy()
        r[w] = 0
        p = (S[w] - own + table[w]) / (N - own + table.sum(axis=0)) * (r.sum(axis=0) + priors.a)
        log_p += np.log(p.sum() / (3 + priors.alpha))
        r[w] = p / p.sum()
    assert r.min() > 1 / 15
    assert inference.lap(1, priors) == pytest.approx(log_p / 4, rel=1e-5)
    np.testing.assert_allclose(shares(inference, 3), r, atol=2e-5)
    np.testing.assert_allclose(inference.counts(), r, atol=2e-5)


def test_the_bound_has_the_prior_of_each_topic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    priors, table = priors_of([0.2, 0.7, 1.3], rng.gamma(1.0, 1.0, 7) + 0.01, rng.gamma(1.0, 2.0, (2, 7)))
    topics_ = rng.gamma(2.0, 1.0, (7, 3))
    np.testing.assert_allclose(priors.of_words(), table)
    wanted = 0.0
    for k in range(3):
        q, p = topics_[:, k], table[:, k]
        wanted -= gammaln(q.sum()) - gammaln(q).sum() - gammaln(p.sum()) + gammaln(p).sum()
        wanted -= ((q - p) * (psi(q) - psi(q.sum()))).sum()
    assert objective.of_topics(topics_.T, priors.of_words()) == pytest.approx(wanted, rel=1e-10)


def test_a_step_on_a_minibatch_aims_at_the_prior_and_the_counts(seed: int) -> None:
    corpus, _ = planted_lda(30, 20, n_topics=3, mean_tokens=25, seed=seed)
    priors, table = priors_of([0.2, 0.7, 1.3], 0.1, np.random.default_rng(seed).gamma(1.0, 2.0, (2, 20)))
    before, local, one = near_uniform(20, 3, seed), Local(50, 1e-6), ThreadExecutor(1)
    after, found = step(corpus, before, priors, 0.3, 4.0, local, one)
    np.testing.assert_allclose(after, 0.7 * before + 0.3 * (table + 4.0 * found.statistics))


def test_eta_that_is_learned_beside_seeds_maximises_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    topics_ = rng.gamma(0.5, 3.0, (20, 4)) + 0.05
    priors, _ = priors_of(np.full(4, 0.3), 0.1, rng.gamma(0.5, 6.0, (2, 20)) * (rng.random((2, 20)) < 0.4))
    topics_[:, :2] += priors.pseudo.toarray()  # type: ignore[union-attr]
    eta = best_eta(topics_, 0.1, priors.pseudo)

    def bound(eta: float) -> float:
        return objective.of_topics(topics_.T, Priors(priors.a, priors.alpha, eta, priors.pseudo).of_words())

    assert bound(eta) > max(bound(0.99 * eta), bound(1.01 * eta))


@pytest.mark.parametrize("given", [{"eta": BY_WORD}, {"seeds": SEEDS, "learn": ("alpha", "eta")}])
def test_the_bound_never_falls(corpus: Corpus, given: dict[str, Any]) -> None:
    model = LDA(n_topics=6, inference="variational", n_laps=40, tolerance=None, random_state=0, **given).fit(corpus)
    gains = np.diff(model.trace_["objective"])
    assert (gains > -1e-10).all()
    assert gains.sum() > 0


@pytest.mark.parametrize("how", HOW)
def test_a_planted_topic_is_found_under_the_number_of_its_seed(corpus: Corpus, how: str, tmp_path: Path) -> None:
    model = LDA(n_topics=5, n_laps=40, seeds=SEEDS, random_state=0, **HOW[how]).fit(corpus)
    assert model.labels_ == {0: "law", 1: "war"}
    assert matched(model, 5)[:2] == [3, 2]
    assert model.components_.sum() == pytest.approx(corpus.n_tokens + 200.0 + model.eta_ * model.components_.size)
    assert model.topic_shares_.sum() == pytest.approx(1.0)
    own = model.components_[0].sum() - model.eta_ * corpus.n_words - 100.0
    assert model.topic_shares_[0] == pytest.approx(own / corpus.n_tokens)
    assert (np.diff(model.topic_shares_[2:]) < 0).all()
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.labels_ == model.labels_
    for each in (model, loaded):
        each.partial_fit(corpus[:100])
    np.testing.assert_array_equal(loaded.components_, model.components_)
    assert set(model.joined([[0, 2]]).labels_.values()) == {"war", "law"}


def test_a_stream_begins_with_seeds_and_keeps_them(corpus: Corpus) -> None:
    seeds = {**SEEDS, "none": ["f0", "f1"]}  # whose words hardly occur
    model = LDA(n_topics=6, seeds=seeds, random_state=0)
    for begin in range(0, 300, 100):
        model.partial_fit(corpus[begin : begin + 100])
    assert model.labels_ == {0: "law", 1: "war", 2: "none"}
    assert matched(model, 5)[:2] == [3, 2]
    own = model.components_[2, [WORDS.index(word) for word in ("f0", "f1")]]
    assert (own > 50.0).all()


@pytest.mark.parametrize("how", HOW)
def test_a_table_says_what_seeds_say_and_a_row_what_a_number_says(corpus: Corpus, how: str, tmp_path: Path) -> None:
    def fitted(n_laps: int = 12, **given: Any) -> LDA:
        return LDA(n_topics=5, n_laps=n_laps, tolerance=None, random_state=0, **HOW[how], **given)

    array = check_a_table_says_what_seeds_say(fitted, corpus, SEEDS, 0.05)
    assert "eta" not in array.trace_
    every = np.random.default_rng(1).gamma(1.0, 0.2, (5, len(WORDS))) + 0.01
    for name, eta in {"row": BY_WORD, "table": every}.items():
        check_fits_go_on(fitted, corpus, {"eta": eta}, 5, tmp_path / name)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_topics": 1, "seeds": SEEDS}, "seeds are 2, but the fit has 1 topic, with theirs"),
        ({"n_topics": 2, "eta": np.full((3, 96), 0.1)}, "rows of eta are 3, but the fit has 2 topics, with theirs"),
        ({"eta": BY_WORD[:5]}, "the documents have 96 words"),
        ({"eta": BY_WORD, "learn": ["eta"]}, "not learned"),
        ({"eta": np.full(96, 1e-3), "inference": "variational"}, "eta is 0.001, for which"),
        ({"eta": np.full((1, 96), 0.1), "seeds": SEEDS}, "seeds and eta of shape"),
        ({"seeds": {"space": ["orbit"]}}, "none of its words"),
    ],
)
def test_what_cannot_be_is_refused(corpus: Corpus, parameters: dict[str, Any], message: str) -> None:
    for call in ("fit", "partial_fit"):
        with pytest.raises(InputError, match=message):
            getattr(LDA(**{"n_topics": 5, **parameters}), call)(corpus)
