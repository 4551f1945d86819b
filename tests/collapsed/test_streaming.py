"""Steps on minibatches against a twin; streams that are cut, saved and go on."""

import pickle

import numpy as np
import pytest
from scipy.special import psi

import stickbreak
from stickbreak import CollapsedHDP
from stickbreak.collapsed import streaming
from stickbreak.collapsed.learning import best_eta, best_gamma
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.streaming import ETA_EVERY, StepRules, Topics, learned, step
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError
from stickbreak.fitting.executor import ThreadExecutor

from .problems import dense, small_corpus
from .test_estimator import assert_same

PRIORS, ONE = Priors(0.6, 2.0, 0.15), ThreadExecutor(1)
RULES = StepRules(smallest=0.0, sweeps=3, learn=(), seed=4)


def topics_of(n_words, n_topics, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.gamma(0.5, 20.0, (n_words, n_topics))
    return Topics(counts, 0.5, 0.5 * counts.sum(axis=0), rng.gamma(2.0, 3.0, n_topics), 7.0)


def twin(topics, counts, share, size, n_sweeps):
    """S, N, M, opened after a step, and log p: documents word by word, all shares kept."""
    S, W = topics.counts * topics.scale, topics.counts.shape[0]
    prior = PRIORS.alpha * topics.tables / (PRIORS.gamma + topics.tables.sum())
    phi = (S + PRIORS.eta) / (topics.N + W * PRIORS.eta)
    new_S, new_M, log_p = np.zeros_like(S), np.zeros(prior.size), 0.0
    for row in counts:
        r, here = np.zeros((W, prior.size)), np.flatnonzero(row)
        for number in range(n_sweeps):
            for w in here:
                n = row @ r - r[w] * min(row[w], 1.0)
                value = phi[w] * (n + prior)
                if number == 0:
                    rest = (PRIORS.alpha - prior.sum()) / W
                    log_p += row[w] * np.log((value.sum() + rest) / (n.sum() + PRIORS.alpha))
                r[w] = value / value.sum()
        new_S += row[:, None] * r
        absent = np.prod((1 - r) ** row[:, None], axis=0)
        n = row @ r
        new_M += np.where(n > 0, (1 - absent) * prior * (psi(prior + n / (1 - absent).clip(1e-300)) - psi(prior)), 0.0)
    lengths = counts.sum(axis=1)
    opened = (psi(PRIORS.alpha + lengths) - psi(PRIORS.alpha)).sum()
    old = (S, topics.N, topics.tables, topics.opened)
    new = (new_S, new_S.sum(axis=0), new_M, opened)
    return [(1 - size) * a + size * share * b for a, b in zip(old, new, strict=True)], log_p


@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("size", [0.3, 1.0])
def test_step_equals_its_twin(fractional, size):
    corpus = small_corpus(3, n_words=9, fractional=fractional)
    topics = topics_of(9, 5)
    want, log_p = twin(topics, dense(corpus), 4.0, size, 3)
    topics, found = step(topics, corpus, PRIORS, RULES, 4.0, size, ONE)
    assert found == pytest.approx(log_p, rel=1e-6)
    np.testing.assert_allclose(topics.counts * topics.scale, want[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(topics.N, want[1], rtol=1e-5)
    np.testing.assert_allclose(topics.tables, want[2], rtol=1e-5)
    assert topics.opened == pytest.approx(want[3])
    assert topics.n_steps == 1
    np.testing.assert_allclose((topics.counts * topics.scale).sum(axis=0), topics.N, rtol=1e-6)


def test_scale_may_become_small_and_changes_nothing(monkeypatch):
    corpora = [small_corpus(seed, n_words=9) for seed in range(6)]
    runs = []
    for smallest in (1e-300, 0.2):
        monkeypatch.setattr(streaming, "SMALLEST_SCALE", smallest)
        topics = topics_of(9, 5)
        for corpus in corpora:
            topics, _ = step(topics, corpus, PRIORS, RULES, 4.0, 0.3, ONE)
        runs.append(topics)
    assert runs[0].scale < 0.2 < runs[1].scale
    np.testing.assert_allclose(runs[0].counts * runs[0].scale, runs[1].counts * runs[1].scale, rtol=1e-4)


def test_every_step_rounds_with_numbers_of_its_own():
    corpus, found = small_corpus(3, n_words=9), []
    for n_steps, seed in ((0, 1), (0, 1), (1, 1), (0, 2)):
        topics = topics_of(9, 30)
        topics.n_steps = n_steps
        topics, _ = step(topics, corpus, PRIORS, StepRules(0.3, 2, (), seed), 1.0, 0.5, ONE)
        found.append(topics.N)
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[3])


def test_what_is_learned_after_a_step():
    topics = topics_of(9, 5)
    topics.n_steps = ETA_EVERY
    assert learned(topics, PRIORS, ()) == PRIORS
    after = learned(topics, PRIORS, ("alpha", "gamma", "eta"))
    assert after.alpha == pytest.approx((1 + topics.tables.sum()) / (1 + 7.0))
    assert after.gamma == pytest.approx(best_gamma(topics.tables.sum(), 5, 2.0))
    assert after.eta == pytest.approx(best_eta(topics.counts * 0.5, topics.N, 0.15))
    topics.n_steps += 1
    assert learned(topics, PRIORS, ("eta",)) == PRIORS


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(300, 60, n_topics=4, mean_tokens=60, seed=1)[0]


def streamed(corpus, rows=slice(0, 300), model=None, **changes):
    settings = {"n_topics": 8, "init_sweeps": 10, "local_sweeps": 4, "learn": ("alpha", "gamma", "eta")}
    model = model or CollapsedHDP(**settings, random_state=3, **changes)
    for first in range(rows.start, rows.stop, 50):
        model.partial_fit(corpus[first : first + 50])
    return model


@pytest.mark.parametrize("cut", [50, 150])
def test_stream_that_was_saved_goes_on_as_an_uncut_one(corpus, tmp_path, cut):
    streamed(corpus, slice(0, cut)).save(tmp_path / "m")
    model = streamed(corpus, slice(cut, 300), stickbreak.load(tmp_path / "m"))
    whole = streamed(corpus)
    assert_same(model, whole)
    assert (whole.n_steps_, whole.n_documents_seen_, whole.n_laps_) == (5, 300, 6)
    assert whole.stop_reason_ == "partial_fit took step 5."


def test_threads_change_no_bit_of_a_stream(corpus, monkeypatch):
    monkeypatch.setattr("stickbreak.collapsed.cutting.SHARD_COUNTS", 50)
    assert_same(streamed(corpus, n_jobs=3), streamed(corpus, n_jobs=1))


def test_stream_finds_what_was_planted_and_predicts_better_with_time():
    everything, truth = planted_lda(2500, 100, n_topics=5, mean_tokens=60, seed=3)
    corpus, new = everything[:2000], everything[2000:]
    model = CollapsedHDP(n_topics=5, random_state=0, total_documents=2000).partial_fit(corpus[:200])
    score = model.score(new)
    for first in range(200, 2000, 200):
        model.partial_fit(corpus[first : first + 200])
    assert model.score(new) > score
    distance = np.abs(truth.topic_word[:, None] - model.topic_word_[None]).sum(axis=2) / 2
    assert (distance.min(axis=1) < 0.1).all()
    assert model.components_.sum() == pytest.approx(corpus.n_tokens + 500 * model.eta_, rel=0.05)


def test_fitted_model_goes_on_with_a_stream(corpus):
    model = CollapsedHDP(n_topics=4, n_laps=15, random_state=0, learn=()).fit(corpus[:200])
    before = model.topic_word_
    model.partial_fit(corpus[200:250])
    assert model.learning_offset_ == pytest.approx(5 ** (1 / 0.7) - 1)  # the first step has the size 50 / 250
    assert (model.n_steps_, model.n_documents_seen_, model.n_laps_) == (1, 250, 16)
    moved = np.abs(model.topic_word_[:, None] - before[None]).sum(axis=2).min(axis=1)
    assert (moved > 0).all()
    assert (moved < 0.3).all()
    with pytest.raises(InputError, match="has no state to continue from"):
        model.continue_fit(corpus[:200], n_laps=1)


def test_memory_of_a_stream_does_not_grow(corpus):
    model = streamed(corpus)
    size = len(pickle.dumps(model))
    for first in range(0, 300, 100):
        model.partial_fit(corpus[first : first + 100])
    assert len(pickle.dumps(model)) <= size + 3 * 120  # the rows of the trace


def test_documents_without_words_count_as_seen(corpus):
    model = streamed(corpus, slice(0, 100))
    before = model.components_
    model.partial_fit(np.zeros((7, 60), dtype=int))
    assert (model.n_documents_seen_, model.n_steps_) == (107, 1)
    np.testing.assert_array_equal(model.components_, before)


def test_stream_longer_than_it_was_said_to_be_is_refused(corpus):
    model = streamed(corpus, slice(0, 100), total_documents=120)
    before = model.components_
    with pytest.raises(InputError, match="total_documents is 120, but this minibatch makes 150"):
        model.partial_fit(corpus[:50])
    np.testing.assert_array_equal(model.components_, before)


@pytest.mark.parametrize("name", ["counts", "N", "tables"])
def test_damaged_topics_are_refused(corpus, name):
    arrays, values = streamed(corpus, slice(0, 100))._topics.packed()
    for damage in (lambda x: x[1:], lambda x: -x, lambda x: x * np.nan, lambda x: x.astype(np.float32)):
        with pytest.raises(ValueError, match="its topics"):
            Topics.unpacked({**arrays, name: damage(arrays[name])}, values, 60)
    for wrong in ({"scale": 0.0}, {"n_steps": -1}, {"opened": -1.0}):
        with pytest.raises(ValueError, match="scale or the number of steps"):
            Topics.unpacked(arrays, {**values, **wrong}, 60)
