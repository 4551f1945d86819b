"""Seeds, and eta by word or by topic, in `VariationalHDP`: topics that keep their numbers, and an exact objective."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln
from tests.steered_problems import WORDS, documents, matched

import stickbreak
from stickbreak import VariationalHDP
from stickbreak.corpus import Corpus
from stickbreak.initialization import Start
from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.model.seeds import pseudo_of
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.hdp import HDP
from stickbreak.variational.moves import Delete
from stickbreak.variational.moves.merge import choose_pairs
from stickbreak.variational.words import scaled

SEEDS = {"space": ["a0", "a1", "b0", "b1"], "war": ["c0", "c1"]}
MOVES: dict[str, Any] = {
    "moves": ("merge", "delete", "refine", "reorder"),
    "n_laps": 12,
    "random_state": 0,
    "tolerance": 0.0,
}
BY_WORD = np.random.default_rng(0).gamma(0.5, 0.3, len(WORDS)) + 0.02


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return documents(300, [0, 1, 2, 3, 4], 0)


@pytest.fixture(scope="module")
def seeded(corpus: Corpus) -> VariationalHDP:
    return VariationalHDP(n_topics=3, seeds=SEEDS, **MOVES).fit(corpus)


def test_the_objective_never_falls_and_eta_is_learned_beside_seeds(seeded: VariationalHDP) -> None:
    gains = np.diff(seeded.trace_["objective"])
    assert (gains > -1e-9).all()
    assert seeded.learned_ == ["eta"]
    assert seeded.trace_["delete_tried"].sum() + seeded.trace_["merge_tried"].sum() > 0


def test_saving_threads_batches_and_a_longer_fit_keep_the_seeds(corpus: Corpus, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n_topics": 5, "seeds": SEEDS, "random_state": 0, "n_batches": 3, "tolerance": 0.0}
    whole = VariationalHDP(**settings, n_laps=5).fit(corpus)
    VariationalHDP(**settings, n_laps=3, n_jobs=2).fit(corpus).save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.labels_ == whole.labels_
    assert loaded.topic_shares_.sum() == pytest.approx(1.0)
    loaded.continue_fit(corpus, n_laps=2)
    np.testing.assert_array_equal(loaded.components_, whole.components_)
    joined = whole.joined([[0, 2]])
    assert set(joined.labels_.values()) == {"space", "war"}
    assert joined.topic_shares_.sum() == pytest.approx(1.0)


def three_alike(n_kept: int) -> Any:
    """Where inference stands with three topics of the same words, each the only one of a document."""
    S = np.tile(np.array([[3.0], [2.0], [1.0]]), 3)
    documents = DocumentTopics(np.arange(4), np.arange(3, dtype=np.int32), np.full(3, 6.0))
    return SimpleNamespace(
        topic_ids=np.arange(3),
        totals=SimpleNamespace(S=S, N=S.sum(axis=0), n_documents=3),
        data=np.zeros(3),
        documents=[documents],
        objective=-1.0,
        model=SimpleNamespace(likelihood=DirichletMultinomial(0.1, 3), n_kept=n_kept),
    )


@pytest.mark.parametrize("n_kept", [0, 2])
def test_no_move_is_about_two_topics_that_keep_their_numbers_or_takes_one_away(n_kept: int) -> None:
    pairs = {tuple(pair) for pair in choose_pairs(three_alike(n_kept), set()).tolist()}
    assert pairs == {(0, 1), (0, 2), (1, 2)} - ({(0, 1)} if n_kept else set())
    move = Delete(max_documents=None)
    move.begin(three_alike(n_kept))
    assert sorted(move._chosen.tolist()) == ([2] if n_kept else [0, 1])


@pytest.mark.parametrize("stream", [False, True])
def test_stochastic_steps_keep_the_pseudo_tokens(corpus: Corpus, stream: bool) -> None:
    seeds = {**SEEDS, "none": ["f0", "f1"]}  # whose words hardly occur
    model = VariationalHDP(n_topics=6, seeds=seeds, schedule="stochastic", n_batches=4, n_laps=3, random_state=0)
    if stream:
        for begin in range(0, 300, 60):
            model.partial_fit(corpus[begin : begin + 60])
    else:
        model.fit(corpus)
    assert model.labels_ == {0: "space", 1: "war", 2: "none"}
    assert matched(model, 5)[1] == 2
    own = model.components_[2, [WORDS.index(word) for word in ("f0", "f1")]]
    assert (own > 50.0).all()
    assert (own < 80.0).all()


def test_eta_by_word_raises_its_objective_and_stays_with_the_model(corpus: Corpus, tmp_path: Path) -> None:
    model = VariationalHDP(n_topics=6, n_laps=8, eta=BY_WORD, random_state=0, n_batches=2, tolerance=0.0).fit(corpus)
    assert (np.diff(model.trace_["objective"]) > -1e-9).all()
    assert model.learned_ == []
    np.testing.assert_allclose(model.rest_word_, BY_WORD / BY_WORD.sum())
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(stickbreak.load(tmp_path / "model").eta_, BY_WORD)
    for begin in (0, 100):
        model.partial_fit(corpus[begin : begin + 100])
    assert np.isfinite(model.score(corpus))


def test_evidence_by_word_is_the_ratio_of_normalisers() -> None:
    rng = np.random.default_rng(0)
    eta, S = rng.gamma(1.0, 1.0, 7), rng.poisson(2.0, (7, 3)) * 1.0
    family = DirichletMultinomial(eta, 7)

    def normaliser(a: np.ndarray) -> np.ndarray:
        return gammaln(a.sum(axis=0)) - gammaln(a).sum(axis=0)

    wanted = normaliser(eta[:, None]) - normaliser(eta[:, None] + S)
    np.testing.assert_allclose(family.evidence(S, S.sum(axis=0)), wanted)
    tau = family.posterior(S, S.sum(axis=0))
    np.testing.assert_allclose(family.objective(S, S.sum(axis=0), tau), wanted)
    some = np.array([1, 4])
    of_others = np.delete(S, some, axis=0)
    rows = family.of_rows(some).evidence(S[some], S.sum(axis=0))
    others = (gammaln(np.delete(eta, some)[:, None] + of_others) - gammaln(np.delete(eta, some))[:, None]).sum(axis=0)
    np.testing.assert_allclose(rows + others, wanted)


def test_the_objective_of_seeded_topics_has_the_prior_of_each() -> None:
    """Pseudo-counts in S are no evidence: what they say of themselves is taken off."""
    S, pseudo = np.random.default_rng(1).poisson(2.0, (5, 3)) * 1.0, pseudo_of([[1, 2], [4]], 5, 4.0)
    family = DirichletMultinomial(0.3, 5)
    known = np.pad(pseudo.toarray(), ((0, 0), (0, 1)))
    data = family.evidence(S + known, (S + known).sum(axis=0)).sum()
    own = sum(
        DirichletMultinomial(0.3 + known[:, k], 5).evidence(S[:, [k]], S[:, [k]].sum(axis=0))[0] for k in range(3)
    )
    assert data - HDP.of(family, 0.5, 1.0, "surrogate", pseudo).of_pseudo == pytest.approx(own)


def test_proposal_scales_the_tokens_of_a_sample_and_no_pseudo_counts() -> None:
    pseudo = pseudo_of([[1]], 3, 4.0)
    state: Any = SimpleNamespace(
        totals=SimpleNamespace(N=np.array([24.0, 20.0])), model=SimpleNamespace(pseudo=pseudo, n_kept=1)
    )
    sample: Any = SimpleNamespace(n_tokens=10)
    start = Start(np.array([[1.0, 3.0], [6.0, 0.0], [0.0, 4.0]]), np.full(2, 0.4))
    np.testing.assert_allclose(scaled(start, state, sample).counts, [[4.0, 12.0], [12.0, 0.0], [0.0, 16.0]])
