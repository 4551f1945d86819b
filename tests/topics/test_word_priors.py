"""Words that are known in the chain: exact posteriors, slow twins, and topics that keep their numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.sampling.laws import ALARM, chi_square
from tests.steered_problems import WORDS, documents, matched

import stickbreak
from stickbreak import TopicModel
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.numerics.streams import key_of
from stickbreak.sparse_gibbs.priors import Priors

from . import reference
from .test_chain import begun, chain_at, shape_of, topics

SEEDS = {"law": ["d0", "d1"], "war": ["c0", "c1"]}
BY_WORD = np.random.default_rng(0).gamma(0.5, 0.3, len(WORDS)) + 0.02


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return documents(1200, [0, 1, 2, 3, 4], 0)


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
    chain = begun(corpus, 40, seed)
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
    """Under a prior by word and topic, the chance of every state by enumeration.                   docs/math (L9)"""
    corpus, n_topics = Corpus.from_counts(np.array(counts)), len(a)
    priors, table = priors_of(a, np.array(eta) if np.ndim(eta) else eta, rows)
    word, document = reference.by_word(corpus)
    states, p = reference.posterior(word, document, shape_of(corpus, n_topics), priors.a, table)
    rng, seen = np.random.default_rng(1), np.zeros(len(states))
    chain, place = chain_at(corpus, states[0], n_topics), n_topics ** np.arange(word.size)[::-1]
    for number in range(20_000):
        chain.take([states[rng.choice(len(states), p=p)].astype(np.uint16)])
        chain.lap(number + 1, priors)
        seen[topics(chain) @ place] += 1
    assert chi_square(seen, p) > ALARM


@pytest.mark.parametrize("n_topics", [5, None])
@pytest.mark.parametrize("seed_tokens", [10.0, 100.0, 1000.0])
def test_a_planted_topic_is_found_under_the_number_of_its_seed(
    corpus: Corpus, n_topics: int | None, seed_tokens: float, tmp_path: Path
) -> None:
    given = {"seeds": SEEDS, "seed_tokens": seed_tokens, "eta": 0.2, "random_state": 0}
    model = TopicModel(n_topics=n_topics, **given).fit(corpus)
    assert model.labels_ == {0: "law", 1: "war"}
    assert matched(model, 5)[:2] == [3, 2]
    assert sorted(matched(model, 5)[:5]) == [0, 1, 2, 3, 4]
    assert model.topic_shares_[5:].sum() < 0.07
    known = corpus.n_tokens + 2 * seed_tokens
    assert model.components_.sum() == pytest.approx(known + model.eta_ * model.components_.size)
    own = model.components_[0].sum() - model.eta_ * corpus.n_words - seed_tokens
    assert model.topic_shares_[0] == pytest.approx(own / corpus.n_tokens)
    assert (np.diff(model.topic_shares_[2:]) <= 0).all()
    model.save(tmp_path / "model")
    assert stickbreak.load(tmp_path / "model").labels_ == model.labels_
    assert set(model.joined([[0, 2]]).labels_.values()) == {"war", "law"}


def test_a_seed_whose_words_hardly_occur_keeps_its_place(corpus: Corpus) -> None:
    model = TopicModel(eta=0.2, seeds={**SEEDS, "none": ["f0", "f1"]}, random_state=0).fit(corpus)
    assert model.labels_ == {0: "law", 1: "war", 2: "none"}
    assert matched(model, 5)[:2] == [3, 2]
    own = model.components_[2, [WORDS.index(word) for word in ("f0", "f1")]]
    assert (own > 50.0).all()


def test_fits_with_rows_and_numbers_of_words_go_on(corpus: Corpus, tmp_path: Path) -> None:
    def fitted(n_laps: int = 12, **given: Any) -> TopicModel:
        return TopicModel(n_topics=5, n_laps=n_laps, tolerance=None, random_state=0, **given)

    every = np.random.default_rng(1).gamma(1.0, 0.2, (5, len(WORDS))) + 0.01
    for name, given in {"row": {"eta": BY_WORD}, "table": {"eta": every}, "seeds": {"seeds": SEEDS}}.items():
        whole = fitted(**given).fit(corpus)
        fitted(5, **given).fit(corpus, checkpoint=tmp_path / f"{name} cut").save(tmp_path / name)
        loaded = stickbreak.load(tmp_path / name).continue_fit(corpus, n_laps=7)
        resumed = fitted(**given).fit(corpus, checkpoint=tmp_path / f"{name} cut", resume=True)
        for other in (loaded, resumed):
            np.testing.assert_array_equal(other.components_, whole.components_)
    number, array = (fitted(2, eta=eta).fit(corpus) for eta in (0.05, np.full(len(WORDS), 0.05)))
    np.testing.assert_allclose(array.topic_word_, number.topic_word_, rtol=1e-5)
    assert "eta" not in array.trace_
