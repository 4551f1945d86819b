"""Tokens that repeat their document: the exact law, what is learned of them, and what they predict."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln
from tests.sampling.laws import ALARM, chi_square, largest_z, z_scores

from stickbreak import TopicModel, load
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError
from stickbreak.fitting.engine import Engine, threads_and_workers
from stickbreak.model.document_labels import DocumentLabels
from stickbreak.numerics.streams import key_of
from stickbreak.prediction.completion import completion_log_likelihood
from stickbreak.prediction.left_to_right import TopicRule, score_sequences
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.kernels.sweeps import REPEAT
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak.topics.laps import LabelledChain, Merger, TokensOfTopics

from . import reference
from .test_chain import of_lengths, statistics, topics


def priors_of(a: Any, eta: float, strength: float) -> Priors:
    return Priors(np.asarray(a, float), float(np.sum(a)), eta, None, strength)


def chain_at(corpus: Corpus, z: np.ndarray, n_topics: int, seed: int = 0) -> Chain:
    """Return a chain at given topics, word by word."""
    chain = Chain(corpus, n_topics, seed)
    chain.take([np.asarray(z, np.uint16)])
    return chain


def bursty(n_documents: int, strength: float, seed: int, n_topics: int = 4, mean_tokens: int = 60) -> Any:
    """Return planted documents in which every token repeats one of n before it with probability n / (n + strength)."""
    rng = np.random.default_rng(seed)
    _, truth = planted_lda(1, 60, n_topics=n_topics, seed=seed)
    counts = np.zeros((n_documents, 60), int)
    for d in range(n_documents):
        p, words = rng.dirichlet(np.full(n_topics, 0.3)) @ truth.topic_word, []
        for i in range(rng.poisson(mean_tokens)):
            again = rng.random() * (i + strength) < i
            words.append(words[rng.integers(i)] if again else rng.choice(60, p=p / p.sum()))
        counts[d] = np.bincount(np.array(words, int), minlength=60)
    return Corpus.from_counts(counts), truth.topic_word


@pytest.mark.parametrize(("n_topics", "mean_tokens", "strength"), [(3, 30, 2.0), (40, 90, 30.0), (150, 200, 200.0)])
def test_sweeps_draw_what_the_twin_draws(n_topics: int, mean_tokens: int, strength: float, seed: int) -> None:
    corpus, _ = planted_lda(25, 20, n_topics=5, mean_tokens=mean_tokens, seed=seed)
    word, document = reference.by_word(corpus)
    priors = priors_of(np.random.default_rng(seed).uniform(0.01, 0.5, n_topics), 0.07, strength)
    z = np.random.default_rng(seed).integers(n_topics, size=word.size)
    chain, shape = chain_at(corpus, z, n_topics, seed), (25, 20, n_topics)
    for number in (1, 2, 3):
        key = key_of(seed, number, "sweep of LDA")
        z, log_p = reference.sweep(word, document, z, shape, priors.a, priors.eta, key, strength=strength)
        assert chain.lap(number, priors) == pytest.approx(log_p, rel=1e-5)
        np.testing.assert_array_equal(topics(chain), z)
        assert 0 < (z == REPEAT).sum() < z.size
        n_dk, n_wk, n_k = reference.counts_of(word, document, z, shape)
        np.testing.assert_array_equal(chain.last(), n_wk)
        np.testing.assert_array_equal(chain.sizes(), n_k)
        np.testing.assert_array_equal(chain.lengths(priors), n_dk.sum(axis=1))


def states_of(word: np.ndarray, document: np.ndarray, n_topics: int) -> list[tuple[int, ...]]:
    """Return all topics of tokens: the first of a word and document has one, others may repeat it."""
    first = [i == 0 or (word[i - 1], document[i - 1]) != (word[i], document[i]) for i in range(word.size)]
    names = [range(n_topics) if own else (*range(n_topics), REPEAT) for own in first]
    return list(product(*names))


def log_joint(word: Any, document: Any, z: Any, shape: Any, prior: Any, eta: float, strength: float) -> float:
    """log p(x, z), but for what depends on lengths alone; `prior` is a table (D, K).                docs/math (L22)"""
    n_dk, n_wk, n_k = reference.counts_of(word, document, z, shape)
    there, alpha = prior > 0, prior.sum(axis=1)
    found = gammaln((n_dk + prior)[there]).sum() - gammaln(prior[there]).sum()
    found += (gammaln(alpha) - gammaln(n_dk.sum(axis=1) + alpha)).sum()
    found += gammaln(n_wk + eta).sum() - gammaln(n_k + eta * shape[1]).sum() + n_k.sum() * np.log(strength)
    for i in np.flatnonzero(z == REPEAT):
        found += np.log(((word == word[i]) & (document == document[i]))[:i].sum())
    return float(found)


TINY = [
    ([[3, 1], [0, 2]], [[], []], [0.7, 0.2], 0, 1.3),
    ([[2, 2], [1, 0]], [[], []], [0.3, 0.9], 0, 0.4),
    ([[3, 0], [2, 1]], [[0], []], [0.7, 0.2, 0.5], 1, 0.8),
]


@pytest.mark.parametrize(("counts", "rows", "a", "n_labels", "strength"), TINY)
def test_sweep_leaves_the_exact_posterior_as_it_is(
    counts: Any, rows: Any, a: Any, n_labels: int, strength: float
) -> None:
    corpus, n_topics, priors = Corpus.from_counts(np.array(counts)), len(a), priors_of(a, 0.3, strength)
    prior = np.tile(priors.a, (2, 1))
    chain: Chain = Chain(corpus, n_topics, 0)
    if n_labels:
        prior[0] = [priors.alpha / 2, *(priors.alpha / 2 * priors.a[1:] / priors.a[1:].sum())]
        chain = LabelledChain(corpus, n_topics, 0, DocumentLabels.of(rows, n_labels))
    word, document = reference.by_word(corpus)
    states = states_of(word, document, n_topics)
    shape = (2, 2, n_topics)
    log_p = [log_joint(word, document, np.array(z), shape, prior, 0.3, strength) for z in states]
    p = np.exp(np.array(log_p) - max(log_p))
    p /= p.sum()
    place, seen = {z: i for i, z in enumerate(states)}, np.zeros(len(states))
    for number, at in enumerate(np.random.default_rng(1).choice(len(states), p=p, size=8000)):
        chain.take([np.array(states[at], np.uint16)])
        chain.lap(number + 1, priors)
        seen[place[tuple(topics(chain).tolist())]] += 1
    assert chi_square(seen, p) > ALARM


def test_chain_and_prior_have_the_same_joint_law() -> None:
    lengths, n_words, strength, eta, a = np.array([7, 1, 0, 5]), 3, 2.5, 0.4, np.array([0.3, 1.1, 0.6])
    document, rng = np.repeat(np.arange(4), lengths), np.random.default_rng(2)
    first = np.concatenate([[0], np.cumsum(lengths)])[document]

    def words_of(z: np.ndarray) -> np.ndarray:
        phi, words = rng.dirichlet(np.full(n_words, eta), size=a.size), np.zeros(z.size, int)
        for i, k in enumerate(z):
            repeats = k == REPEAT
            words[i] = words[rng.integers(first[i], i)] if repeats else rng.choice(n_words, p=phi[k])
        return words

    def topics_of_prior() -> np.ndarray:
        theta, z = rng.dirichlet(a, size=4), np.empty(document.size, int)
        for i, d in enumerate(document):
            before = i - first[i]
            z[i] = REPEAT if rng.random() * (before + strength) < before else rng.choice(a.size, p=theta[d])
        return z

    def measured(z: np.ndarray, words: np.ndarray) -> list[float]:
        fresh = z != REPEAT
        pairs = np.unique(np.stack([document, words]), axis=1).shape[1]
        return [*statistics(z[fresh], words[fresh], document[fresh], a.size), float(pairs), (~fresh)[:7].sum()]

    rows = []
    for _ in range(4000):
        z = topics_of_prior()
        rows.append(measured(z, words_of(z)))
    exact, variance = np.mean(rows, axis=0), np.var(rows, axis=0) / len(rows)
    rows, priors = [], priors_of(a, eta, strength)
    for number in range(2000):
        words = words_of(z)
        corpus, order = of_lengths(words, lengths, n_words)
        chain = chain_at(corpus, z[order], a.size)
        chain.lap(number + 1, priors)
        z = np.empty_like(z)
        z[order] = topics(chain)
        rows.append(measured(z, words))
    scores = z_scores(np.array(rows[20:]), exact, variance)
    assert np.abs(scores).max() < largest_z(scores.size)


def test_strength_is_a_fixed_point_that_maximises_its_posterior(seed: int) -> None:
    corpus, _ = bursty(60, 20.0, seed)
    priors = priors_of(np.full(4, 0.3), 0.1, 100.0)
    chain = Chain(corpus, 4, seed)
    chain.begin(chain.near(np.ones((4, 60))))
    for number in range(1, 4):
        chain.lap(number, priors)
    for _ in range(20):
        priors = chain.with_strength(priors)
    fresh, lengths = chain.sizes().sum(), corpus.document_lengths

    def log_posterior(x: float) -> float:  # of log x, where x has the prior mean 100
        return float((fresh + 1) * np.log(x) - x / 100 - (gammaln(x + lengths) - gammaln(x)).sum())

    best = log_posterior(priors.strength)
    assert all(log_posterior(priors.strength * factor) < best for factor in (0.99, 1.01))


def test_merges_and_halves_leave_repeats_as_they_are(seed: int) -> None:
    corpus, _ = bursty(50, 10.0, seed)
    priors, chain = priors_of(np.full(5, 0.3), 0.1, 10.0), Chain(corpus, 5, seed)
    chain.begin(chain.near(np.ones((5, 60))))
    for number in range(1, 7):
        chain.lap(number, priors)
    z, (word, document) = topics(chain), reference.by_word(corpus)
    merged = chain.merged(np.array([0, 1, 1, 2, 3]))
    expected = np.where(z == REPEAT, REPEAT, np.array([0, 1, 1, 2, 3])[np.minimum(z, 4)])
    np.testing.assert_array_equal(topics(merged), expected)
    np.testing.assert_allclose(merged.mean().sum(axis=1), chain.mean().sum(axis=1))
    halves = topics(chain.halved(np.array([1, 4]), np.random.default_rng(seed)))
    np.testing.assert_array_equal(halves == REPEAT, z == REPEAT)
    np.testing.assert_array_equal(np.where(halves == 5, 1, np.where(halves == 6, 4, halves)), z)
    assert {5, 6} <= set(halves.tolist())
    tokens = TokensOfTopics.of(chain, np.arange(5), chain.sizes()).arrays
    fresh = np.lexsort((document, z))[: int((z != REPEAT).sum())]
    np.testing.assert_array_equal(tokens.begin, np.append(0, np.cumsum(np.bincount(z[fresh], minlength=5))))
    found = sorted(zip(np.repeat(np.arange(5), chain.sizes()), tokens.document, tokens.word, strict=True))
    assert found == sorted(zip(z[fresh], document[fresh], word[fresh], strict=True))
    pairs, gains = Merger(0, 0, False, seed, Engine(1)).gains(chain, priors, np.arange(5), 6)
    assert np.isfinite(gains).all()
    assert pairs.shape == (gains.size, 2)


def test_completion_is_the_posterior_predictive_where_there_is_one_topic() -> None:
    phi, observed = np.array([[0.5, 0.3, 0.2]]), np.array([[2, 1, 0]])
    found = [
        completion_log_likelihood([[1.0]], phi, sparse.csr_array([row]), observed=observed, strength=4.0)[0]
        for row in np.eye(3, dtype=int)
    ]
    np.testing.assert_allclose(np.exp(found), [(2 + 2.0) / 7, (1 + 1.2) / 7, 0.8 / 7])


def test_left_to_right_is_unbiased() -> None:
    phi, a, strength = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]), np.array([0.5, 0.8]), 1.5
    counts = Corpus.from_counts([[3, 0, 2]])
    word, document = np.array([0, 0, 0, 2, 2]), np.zeros(5, int)
    exact = 0.0
    for state in states_of(word, document, 2):
        z = np.array(state)
        fresh = z != REPEAT
        n = np.bincount(z[fresh], minlength=2)
        log_p = gammaln(n + a).sum() - gammaln(a).sum() + gammaln(a.sum()) - gammaln(n.sum() + a.sum())
        log_p += np.log(phi[z[fresh], word[fresh]]).sum() + n.sum() * np.log(strength)
        log_p += sum(np.log((word[:i] == word[i]).sum()) for i in np.flatnonzero(~fresh))
        exact += np.exp(log_p - gammaln(strength + 5) + gammaln(strength))
    rule = TopicRule(phi, a, strength)
    for resample in (True, False):
        with threads_and_workers(1) as engine:
            found = np.exp(
                [score_sequences(rule, counts, 200, resample, s, engine).unbiased_log_p[0] for s in range(200)]
            )
        assert abs(found.mean() - exact) < 4.5 * found.std(ddof=1) / np.sqrt(found.size)


@pytest.fixture(scope="module")
def planted() -> Any:
    corpus, truth = bursty(600, 20.0, 3)
    return corpus[:500], corpus[500:], truth


@pytest.fixture(scope="module")
def fitted(planted: Any) -> TopicModel:
    return TopicModel(n_topics=4, bursts=True, n_laps=60, random_state=0).fit(planted[0])


def test_planted_bursts_are_found_and_predict(planted: Any, fitted: TopicModel) -> None:
    corpus, new, truth = planted
    plain = TopicModel(n_topics=4, n_laps=60, random_state=0).fit(corpus)
    assert fitted.strength_ == pytest.approx(20.0, rel=0.15)
    assert plain.strength_ is None
    assert fitted.score(new) > plain.score(new) + 0.1
    distance = []
    for model in (fitted, plain):
        nearest = np.argmax(np.sqrt(truth) @ np.sqrt(model.topic_word_).T, axis=1)
        distance.append(np.abs(model.topic_word_[nearest] - truth).sum(axis=1).max())
    assert distance[0] < 0.3
    assert distance[0] < distance[1]
    assert fitted._seen_tokens().sum() < 0.7 * corpus.n_tokens
    assert fitted.trace_["strength"][-1] == fitted.strength_


def test_bursts_do_no_harm_where_there_are_none() -> None:
    corpus, _ = planted_lda(600, 200, n_topics=4, mean_tokens=60, seed=4)
    models = [TopicModel(n_topics=4, n_laps=60, bursts=b, random_state=0).fit(corpus[:500]) for b in (True, False)]
    scores = [model.score(corpus[500:]) for model in models]
    assert scores[0] > scores[1] - 0.01
    assert models[0].strength_ > 500.0


def test_a_model_with_bursts_is_saved_and_goes_on(planted: Any, fitted: TopicModel, tmp_path: Path) -> None:
    corpus, new, _ = planted
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.strength_ == fitted.strength_
    assert again.score(new) == fitted.score(new)
    options: dict[str, Any] = {"n_topics": 4, "bursts": True, "random_state": 0, "tolerance": None}
    checkpoint = tmp_path / "checkpoint"
    TopicModel(n_laps=15, **options).fit(corpus, checkpoint=checkpoint)
    resumed = TopicModel(n_laps=30, **options).fit(corpus, checkpoint=checkpoint, resume=True)
    whole = TopicModel(n_laps=30, **options).fit(corpus)
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    assert resumed.strength_ == whole.strength_


def test_an_update_keeps_the_strength(planted: Any) -> None:
    corpus, new, _ = planted
    model = TopicModel(n_topics=4, bursts=True, n_laps=30, random_state=0).fit(corpus)
    before, tokens = model.strength_, model._expected_counts()[0].sum()
    model.update(new)
    assert model.strength_ == before
    assert tokens < model._expected_counts()[0].sum() < tokens + 0.9 * new.n_tokens


@pytest.mark.parametrize("bursts", [True, False])
def test_an_update_neither_adds_bursts_nor_leaves_them_out(planted: Any, bursts: bool) -> None:
    corpus, new, _ = planted
    model = TopicModel(n_topics=4, bursts=bursts, n_laps=5, random_state=0).fit(corpus)
    with pytest.raises(InputError, match=rf"with bursts={bursts}, .* call set_params\(bursts={bursts}\) first"):
        model.set_params(bursts=not bursts).update(new)
    assert (model.set_params(bursts=bursts).update(new).strength_ is not None) == bursts


def test_parts_threads_and_files_change_no_bit(planted: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("stickbreak.topics.laps.PART", 4000)
    corpus, found = planted[0], []
    for n_jobs, scratch in ((1, None), (3, None), (2, tmp_path)):
        model = TopicModel(max_topics=12, bursts=True, n_laps=60, random_state=0, n_jobs=n_jobs, scratch=scratch)
        found.append(model.fit(corpus))
    for model in found[1:]:
        np.testing.assert_array_equal(model.components_, found[0].components_)
        assert model.strength_ == found[0].strength_


def test_as_many_topics_as_there_are_numbers_leave_none_for_repeats() -> None:
    corpus = Corpus.from_counts(np.ones((70, 1000), int))
    with pytest.raises(InputError, match="n_topics of 65535"):
        TopicModel(n_topics=65_536, bursts=True).fit(corpus)
