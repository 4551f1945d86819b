"""Topics of documents with labels: the exact posterior, learned priors, and labels of new documents."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln
from tests.sampling.laws import ALARM, chi_square
from tests.steered_problems import labelled_documents, matched

import stickbreak
from stickbreak import TopicModel
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.model.document_labels import DocumentLabels
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.streams import key_of
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak.topics.laps import LabelledChain

from . import reference


def chain_of(corpus: Corpus, n_topics: int, rows: list[list[int]], n_labels: int, seed: int = 0) -> LabelledChain:
    chain = LabelledChain(corpus, n_topics, seed, DocumentLabels.of(rows, n_labels))
    chain.begin(chain.near(np.ones((n_topics, corpus.n_words))))
    return chain


def prior_of(rows: list[list[int]], a: np.ndarray, n_labels: int) -> np.ndarray:
    """Return the Dirichlet parameters of each document, (D, K).                                     docs/math (L10)"""
    found, alpha = np.tile(a, (len(rows), 1)), a.sum()
    for d, own in enumerate(rows):
        if own:
            some = 0.5 if a.size > n_labels else 1.0
            found[d, :n_labels] = 0.0
            found[d, own] = some * alpha / len(own)
            found[d, n_labels:] *= (1.0 - some) * alpha / max(a[n_labels:].sum(), 1e-300)
    return found


def twin(corpus: Corpus, z: np.ndarray, prior: np.ndarray, rows: list[list[int]], n_labels: int, eta: float, key: Any):
    """Return the topics after a sweep with the random numbers of the kernel, and the mean log p of a token."""
    word, document = reference.by_word(corpus)
    K, z, log_p, rng, before = prior.shape[1], z.astype(int), 0.0, np.empty(1, np.uint64), None
    counts = reference.counts_of(word, document, z, (corpus.n_documents, corpus.n_words, K))
    lists = [reference.listed(row) for row in counts[0]]
    for i, (w, d) in enumerate(zip(word, document, strict=True)):
        if w != before:
            open_stream(rng, key, w)
            before = w
        reference.move(counts, d, w, z[i], -1)
        phi = (counts[1][w] + eta) / (counts[2] + corpus.n_words * eta)
        log_p += np.log((phi * (counts[0][d] + prior[d])).sum() / (counts[0][d] + prior[d]).sum())
        smooth = [*rows[d], *range(n_labels, K)] if rows[d] else list(range(K))
        topics = np.array([*lists[d], *smooth], int)
        values = np.array([counts[0][d, k] * phi[k] for k in lists[d]] + [prior[d, k] * phi[k] for k in smooth])
        place = int(np.searchsorted(values.cumsum(), uniform(rng) * values.sum(), side="right"))
        new = topics[min(place, topics.size - 1)]
        reference.move(counts, d, w, new, 1)
        if new != z[i]:
            lists[d] = reference.moved(lists[d], z[i], new, counts[0][d])
        z[i] = new
    return z, log_p / z.size


@pytest.mark.parametrize(("n_topics", "n_labels"), [(7, 4), (4, 4), (70, 5), (90, 40)])
def test_sweeps_draw_what_the_twin_draws(n_topics: int, n_labels: int, seed: int) -> None:
    corpus, _ = planted_lda(25, 30, n_topics=5, mean_tokens=40, seed=seed)
    rng = np.random.default_rng(seed)
    rows = [sorted(rng.choice(n_labels, d % 3, replace=False).tolist()) for d in range(25)]
    a = rng.uniform(0.01, 0.5, n_topics)
    chain = chain_of(corpus, n_topics, rows, n_labels, seed)
    z = chain.snapshot()[0]["z.0"]
    for number in (1, 2):
        key = key_of(seed, number, "sweep of LDA")
        z, log_p = twin(corpus, z, prior_of(rows, a, n_labels), rows, n_labels, 0.07, key)
        assert chain.lap(number, Priors(a, float(a.sum()), 0.07)) == pytest.approx(log_p, rel=1e-5)
        np.testing.assert_array_equal(chain.snapshot()[0]["z.0"], z)


TINY = [
    ([[2, 1], [0, 2]], [[0], []], [0.7, 0.2, 0.5], 1),
    ([[1, 1], [1, 1], [1, 0]], [[0, 1], [1], []], [0.7, 0.4], 2),
]


@pytest.mark.parametrize(("counts", "rows", "a", "n_labels"), TINY)
def test_sweep_leaves_the_exact_posterior_as_it_is(counts: Any, rows: Any, a: Any, n_labels: int) -> None:
    corpus, prior = Corpus.from_counts(np.array(counts)), prior_of(rows, np.array(a), n_labels)
    word, document = reference.by_word(corpus)
    shape = corpus.n_documents, corpus.n_words, len(a)
    states = [z for z in product(range(len(a)), repeat=word.size) if (prior[document, list(z)] > 0).all()]
    log_p = []
    for z in states:
        n_dk, n_wk, n_k = reference.counts_of(word, document, np.array(z), shape)
        there = prior > 0
        own = gammaln(n_dk[there] + prior[there]).sum() - gammaln(prior[there]).sum()
        log_p.append(own + gammaln(n_wk + 0.3).sum() - gammaln(n_k + 0.3 * corpus.n_words).sum())
    p = np.exp(np.array(log_p) - max(log_p))
    p /= p.sum()
    chain, rng, seen = chain_of(corpus, len(a), rows, n_labels), np.random.default_rng(1), np.zeros(len(states))
    place = {z: i for i, z in enumerate(states)}
    for number, at in enumerate(rng.choice(len(states), p=p, size=10_000)):
        chain.take([np.array(states[at], np.uint16)])
        chain.lap(number + 1, Priors(np.array(a), float(sum(a)), 0.3))
        seen[place[tuple(chain.snapshot()[0]["z.0"].tolist())]] += 1
    assert chi_square(seen, p) > ALARM


@pytest.mark.parametrize("n_topics", [6, 3])
def test_learned_weights_maximise_their_posterior(n_topics: int, seed: int) -> None:
    corpus, _ = planted_lda(60, 30, n_topics=4, mean_tokens=25, seed=seed)
    rows = [[[], [0], [1, 2], [2]][d % 4] for d in range(60)]
    chain, priors = chain_of(corpus, n_topics, rows, 3, seed), Priors.even(n_topics, 2.0, 0.1)
    chain.lap(1, priors)
    for _ in range(60):
        priors = chain.with_weights(priors, 10)
    word, document = reference.by_word(corpus)
    n_dk = reference.counts_of(word, document, chain.snapshot()[0]["z.0"], (60, 30, n_topics))[0]
    n_own = np.bincount([k for row in rows for k in row], minlength=3)

    def log_posterior(a: np.ndarray) -> float:
        prior, alpha = prior_of(rows, a, 3), a.sum()
        there, lengths = prior > 0, n_dk.sum(axis=1)
        found = gammaln((n_dk + prior)[there]).sum() - gammaln(prior[there]).sum()
        found += (gammaln(alpha) - gammaln(lengths + alpha)).sum() + np.log(alpha) - alpha
        found += ((1 / n_topics + n_own) * np.log(a[:3] / alpha)).sum() + np.log(a[3:] / alpha).sum() / n_topics
        return float(found + (n_own.sum() * np.log(a[3:].sum() / alpha) if n_topics > 3 else 0.0))

    best = log_posterior(priors.a)
    for k in range(n_topics):
        for times in (0.97, 1.03):
            other = priors.a.copy()
            other[k] *= times
            assert log_posterior(other) < best
    assert chain.with_weights(priors, 9) is priors


SHORT: dict[str, Any] = {"n_topics": 7, "eta": 0.1, "random_state": 0}


@pytest.fixture(scope="module")
def planted() -> tuple[Any, list[Any]]:
    """Every fifth document has no label."""
    corpus, labels = labelled_documents(400, 1)
    return corpus, [None if d % 5 == 0 else row for d, row in enumerate(labels)]


@pytest.fixture(scope="module")
def model(planted: tuple[Any, list[Any]]) -> TopicModel:
    corpus, labels = planted
    return TopicModel(n_laps=60, **SHORT).fit(corpus, labels=labels)


def test_topics_of_labels_are_the_planted_ones(model: TopicModel) -> None:
    assert model.labels_ == dict(enumerate(["L0", "L1", "L2", "L3"]))
    assert model.label_names_ == ["L0", "L1", "L2", "L3"]
    assert matched(model, 6)[:4] == [0, 1, 2, 3]
    assert {4, 5} <= set(matched(model, 6)[4:])


def test_labels_of_new_documents_are_predicted_with_probabilities_that_hold(model: TopicModel, tmp_path: Any) -> None:
    corpus, labels = labelled_documents(300, 2)
    found, p = model.predict_labels(corpus), model.label_probabilities(corpus).to_numpy()
    has = np.array([[name in row for name in model.label_names_] for row in labels])
    assert np.mean([row[0] in own for row, own in zip(found, labels, strict=True)]) > 0.85
    assert p.mean() == pytest.approx(has.mean(), abs=0.05)
    assert has[p > 0.9].mean() > 0.85
    assert has[p < 0.1].mean() < 0.1
    model.save(tmp_path / "m")
    assert stickbreak.load(tmp_path / "m").predict_labels(corpus) == found


def test_a_checkpoint_a_saved_model_and_seeds_change_no_bit(planted: tuple[Any, list[Any]], tmp_path: Any) -> None:
    corpus, labels = planted
    given = {**SHORT, "seeds": {"L1": ["b0"], "free": ["e0", "e1"]}}

    def fitted(n_laps: int, **options: Any) -> TopicModel:
        return TopicModel(n_laps=n_laps, **given).fit(corpus, labels=labels, **options)

    one = fitted(12)
    assert list(one.labels_.values()) == ["L0", "L1", "L2", "L3", "free"]
    assert one.seed_topics_ == {"L1": 1, "free": 4}
    for n_laps in (5, 12):
        resumed = fitted(n_laps, checkpoint=tmp_path / "c", resume=True)
    fitted(5).save(tmp_path / "short")
    for other in (resumed, stickbreak.load(tmp_path / "short").continue_fit(corpus, n_laps=7)):
        np.testing.assert_array_equal(other.components_, one.components_)
        assert (other.label_names_, other.label_curve_) == (one.label_names_, one.label_curve_)
    with pytest.raises(InputError, match="labels"):
        TopicModel(n_laps=12, **given).fit(corpus, labels=labels[::-1], checkpoint=tmp_path / "c", resume=True)


def test_state_with_a_topic_that_a_document_cannot_have_is_refused(planted: tuple[Any, list[Any]]) -> None:
    corpus, labels = planted
    model = TopicModel(n_laps=3, **SHORT).fit(corpus, labels=labels)
    model._kept.arrays["z.0"][:] = 0
    with pytest.raises(ModelFormatError, match="label that its document lacks"):
        model.continue_fit(corpus, n_laps=1)


def test_free_topics_beside_labels_are_few_and_the_planted_ones(planted: Any) -> None:
    corpus, labels = planted
    model = TopicModel(random_state=0).fit(corpus, labels=labels)
    assert matched(model, 6)[:4] == [0, 1, 2, 3]
    assert {4, 5} == set(matched(model, 6)[4:6])
    assert model.topic_shares_[:6].sum() > 0.9  # no topic of documents may join one of a label, which some lack
