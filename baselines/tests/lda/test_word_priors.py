"""Seeds, and eta by word or by topic, in `LDA`: its bound, and topics that keep their numbers."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, psi
from tests.steered_problems import WORDS, documents

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import Engine
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak_baselines import LDA
from stickbreak_baselines.lda import objective
from stickbreak_baselines.lda.variational import Local, best_eta, near_uniform, step

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
    before, local, one = near_uniform(20, 3, seed), Local(50, 1e-6), Engine(1)
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
    model = LDA(n_topics=6, n_laps=40, tolerance=None, random_state=0, **given).fit(corpus)
    gains = np.diff(model.trace_["objective"])
    assert (gains > -1e-10).all()
    assert gains.sum() > 0
