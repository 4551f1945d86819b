"""`HybridHDP` as it is used: topics, streams, checkpoints, what it refuses."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import stickbreak
from stickbreak import HybridHDP
from stickbreak.corpus import planted_lda, toy_bars
from stickbreak.exceptions import InputError, InvalidCorpus, ModelFormatError
from stickbreak.fitting.active_topics import ALIVE
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.hybrid import laps as steps
from stickbreak.hybrid.document_sampler import SweepSettings
from stickbreak.hybrid.estimator import random_state
from stickbreak.hybrid.laps import StepDocuments, StepScratch, StepSettings
from stickbreak.hybrid.state import Priors
from stickbreak.initialization import sample_bytes
from stickbreak.storage.persistence import read_folder, write_folder

from .fits import SMALL, assert_same
from .problems import expected_counts


def test_planted_topics_are_found():
    corpus, truth = toy_bars(n_documents=400, seed=1)
    model = HybridHDP(
        n_topics=30, alpha=1.0, eta=0.5, phi_weight="mean_field", init="random", n_laps=12, batch_size=50,
        learning_offset=5.0, random_state=0,
    ).fit(corpus)  # fmt: skip
    distance = 0.5 * np.abs(truth.topic_word[:, None] - model.topic_word_[None]).sum(axis=2)
    assert distance.min(axis=1).max() < 0.15
    share = model.topic_weights_ / model.topic_weights_.sum()
    assert share[: len(truth.topic_word)].sum() > 0.75
    assert (np.diff(model.components_.sum(axis=1)) <= 0).all()


def test_stream_goes_on_after_a_fit_with_smaller_steps(corpus):
    model = HybridHDP(**SMALL).fit(corpus)
    assert model.n_steps_ == 3 * 5
    before = model.trace_["step_size"][-1]
    model.set_params(alpha=7.0).partial_fit(corpus[:20])
    assert model.n_steps_ == 16
    assert model.trace_["step_size"][-1] == pytest.approx(17.0**-0.6)
    assert model.trace_["step_size"][-1] < before
    assert model.alpha_ == 1.0


def test_documents_seen_stand_for_the_whole_stream_unless_it_is_known(corpus):
    model = HybridHDP(n_topics=5, random_state=0, learning_decay=1e-9).partial_fit(corpus[:30])
    assert model._state.tokens.sum() == pytest.approx(corpus[:30].n_tokens)
    model.partial_fit(corpus[30:60])
    assert model._state.tokens.sum() == pytest.approx(2 * corpus[30:60].n_tokens, rel=1e-6)
    known = HybridHDP(n_topics=5, random_state=0, total_documents=300).partial_fit(corpus[:30])
    assert known._state.tokens.sum() == pytest.approx(10 * corpus[:30].n_tokens, rel=1e-3)  # little pairs are rounded
    with pytest.raises(InputError, match="total_documents is 40"):
        known.set_params(total_documents=40).partial_fit(corpus[:30])


def test_empty_minibatch_counts_as_seen_and_takes_no_step(corpus):
    model = HybridHDP(n_topics=5, random_state=0).partial_fit(corpus[:30])
    before = expected_counts(model._state)
    model.partial_fit(sparse.csr_matrix((7, corpus.n_words), dtype=np.int64))
    assert (model.n_documents_seen_, model.n_steps_) == (37, 1)
    np.testing.assert_array_equal(expected_counts(model._state), before)
    with pytest.raises(InvalidCorpus, match="empty"):
        HybridHDP().partial_fit(np.zeros((3, 4), dtype=int))


def test_stream_needs_no_more_memory_as_it_goes_on(seed):
    """The lists of 40 words hold at most 200 pairs, and their store at most some gaps more, however long the stream."""
    model = HybridHDP(n_topics=5, total_documents=10_000, random_state=0)
    sizes = []
    for t in range(60):
        model.partial_fit(planted_lda(20, 40, n_topics=4, mean_tokens=40, seed=1000 * seed + t)[0])
        sizes.append(model._state.pairs.topic.size)
    assert model.n_steps_ == 60
    assert max(sizes) <= 1024 + 2 * 200


def test_objective_of_one_topic_is_the_predictive_probability_of_its_words(corpus):
    model = HybridHDP(n_topics=1, n_laps=1, batch_size=1000, eta=0.5, random_state=0).fit(corpus)
    counts = corpus.counts.toarray().sum(axis=0)
    phi = (counts + 0.5) / (counts + 0.5).sum()
    assert model.objective_ == pytest.approx(counts @ np.log(phi) / counts.sum(), rel=1e-11)  # start: sums of its lists


def test_objective_is_that_of_documents_not_yet_learned_from():
    corpus, _ = planted_lda(60, 300, n_topics=3, mean_tokens=80, seed=3)
    model = HybridHDP(n_topics=3, init="random", batch_size=60, n_laps=8, random_state=0).fit(corpus)
    first, last = model.trace_["objective"][[0, -1]]
    assert last > first + 0.1
    fresh, _ = planted_lda(60, 300, n_topics=3, mean_tokens=80, seed=4)  # other topics
    model.partial_fit(fresh)
    assert model.trace_["objective"][-1] < first


def test_topics_without_tokens_are_not_shown(corpus):
    model = HybridHDP(
        n_topics=60,
        alpha=1.0,
        eta=0.1,
        init="random",
        n_laps=40,
        batch_size=30,
        phi_weight="mean_field",
        random_state=0,
    ).fit(corpus)
    assert model.n_topics_ < 60
    tokens = model._state.tokens
    assert (tokens >= ALIVE).sum() == model.n_topics_ == len(model.topic_weights_) == len(model.tables_)
    assert model.trace_["n_topics"][-1] == model.n_topics_
    weights = model.expected_weights(corpus)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    empty = model.expected_weights(np.zeros((1, corpus.n_words), dtype=int))[0]
    np.testing.assert_allclose(empty[:-1], model.topic_weights_)
    assert empty[-1] == pytest.approx(1 - model.topic_weights_.sum())
    assert empty[-1] > 0


@pytest.mark.parametrize("init", ["lda", "documents", "array"])
def test_found_and_given_topics_start_the_fit(init, corpus):
    topics = np.random.default_rng(0).dirichlet(np.ones(corpus.n_words), 6)
    start = topics if init == "array" else init
    model = HybridHDP(n_topics=6, init=start, learning_offset=1e9, n_laps=1, init_sweeps=3, random_state=0).fit(corpus)
    assert model._state.n_topics == 6
    assert model._state.tables.sum() > corpus.n_documents
    assert model._state.tokens.sum() == pytest.approx(corpus.n_tokens, rel=1e-3)
    if init == "array":  # the steps are too small to move them
        order = [np.abs(model.topic_word_ - row).sum(axis=1).argmin() for row in topics]
        assert sorted(order) == list(range(6))


@pytest.mark.parametrize("g_weight", ["mean_field", "ratio", "printed"])
@pytest.mark.parametrize("phi_weight", ["mean_field", "ratio"])
def test_every_weight_fits(corpus, g_weight, phi_weight):
    model = HybridHDP(**SMALL, g_weight=g_weight, phi_weight=phi_weight).fit(corpus)
    assert model.trace_["objective"][-1] > model.trace_["objective"][0]
    model._state.check()


def test_unseen_words_and_a_tiny_eta_are_no_trouble(corpus):
    counts = np.hstack([corpus.counts.toarray(), np.zeros((90, 3), dtype=int)])
    model = HybridHDP(n_topics=5, eta=0.002, phi_weight="mean_field", random_state=0, total_documents=999).partial_fit(
        counts
    )
    later = counts.copy()
    later[:, -1] = 4  # a word that the first minibatch did not have
    model.partial_fit(later)
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.topic_word_).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"eta": 0.001, "phi_weight": "mean_field"}, "eta is 0.001"),
        ({"init": "luck"}, "init is 'luck'; give one of 'random', 'lda'"),
        ({"init": "lda", "n_topics": 10**5}, "n_topics is 100000"),
        ({"n_topics": 10**11}, "more than"),
    ],
)
def test_wrong_parameter_is_refused(corpus, parameters, words):
    with pytest.raises(InputError, match=words):
        HybridHDP(**parameters).fit(corpus)


@pytest.mark.parametrize("name", ["burn_in_sweeps", "saved_sweeps"])
def test_sweeps_that_never_end_are_refused(corpus, name):
    with pytest.raises(ValueError, match=rf"{name}.* in the range \[[01], 1000000\]"):
        HybridHDP(**{**SMALL, name: 10**6 + 1}).fit(corpus)


def test_ratio_takes_any_eta(corpus):
    model = HybridHDP(**{**SMALL, "eta": 1e-6}, phi_weight="ratio").fit(corpus)
    assert np.isfinite(model.objective_)


def test_damaged_state_is_refused(corpus, tmp_path):
    HybridHDP(**SMALL).fit(corpus).save(tmp_path / "m")
    arrays, meta = read_folder(tmp_path / "m", kind="HybridHDP")
    for name in ("kept.count", "kept.tables"):
        damaged = {**arrays, name: -arrays[name]}
        write_folder(tmp_path / "d", kind="HybridHDP", arrays=damaged, meta=meta, overwrite=True)
        with pytest.raises(ModelFormatError, match="damaged"):
            stickbreak.load(tmp_path / "d")
    wrong = {**arrays, "kept.tokens": arrays["kept.tokens"] + 1}
    write_folder(tmp_path / "d", kind="HybridHDP", arrays=wrong, meta=meta, overwrite=True)
    with pytest.raises(ModelFormatError, match="disagree"):
        stickbreak.load(tmp_path / "d")


def test_state_with_a_topic_twice_in_a_word_is_refused(corpus, tmp_path):
    HybridHDP(**SMALL).fit(corpus).save(tmp_path / "m")
    arrays, meta = read_folder(tmp_path / "m", kind="HybridHDP")
    place = int(np.flatnonzero(np.diff(np.repeat(np.arange(corpus.n_words), arrays["kept.size"])) == 0)[0])
    arrays["kept.topic"][place] = arrays["kept.topic"][place + 1]
    write_folder(tmp_path / "d", kind="HybridHDP", arrays=arrays, meta=meta)
    with pytest.raises(ModelFormatError, match="a word has a topic twice"):
        stickbreak.load(tmp_path / "d")


def test_more_saved_sweeps_than_the_memory_holds_are_refused_before_the_step(corpus, monkeypatch):
    model = HybridHDP(**SMALL).fit(corpus)
    before = copy.deepcopy(model)
    monkeypatch.setattr("stickbreak.fitting.checks.memory_installed", lambda: 4e6 * corpus.n_tokens - 1)
    model.set_params(saved_sweeps=10**6)
    with pytest.raises(InputError, match="saved_sweeps is 1000000, which needs about"):
        model.partial_fit(corpus)
    assert_same(before, model)


def test_the_sample_of_a_start_is_counted_before_a_fit(corpus, monkeypatch):
    monkeypatch.setattr("stickbreak.fitting.checks.memory_installed", lambda: sample_bytes(corpus))
    with pytest.raises(InputError, match=r"n_topics is 8: with 40 words it needs about .* GiB"):
        HybridHDP(**{**SMALL, "n_topics": 8, "init": "lda"}).fit(corpus)
    HybridHDP(**{**SMALL, "n_topics": 8, "init": "random"}).fit(corpus)


def test_every_step_draws_anew(corpus):
    model = HybridHDP(n_topics=8, learning_offset=1e18, total_documents=900, random_state=0).partial_fit(corpus)
    model.partial_fit(corpus)  # under the same globals: the steps move them by nothing
    first, second = model.trace_["objective"]
    assert first != second
    assert first == pytest.approx(second, abs=0.1)


def test_offset_of_a_found_start_makes_the_first_step_the_share_of_a_minibatch(corpus, tmp_path):
    model = HybridHDP(n_topics=5, n_laps=1, batch_size=9, init_sweeps=3, random_state=0).fit(corpus)
    assert model.learning_offset_ == pytest.approx(10 ** (1 / 0.6) - 1)
    first = HybridHDP(n_topics=5, n_laps=1, batch_size=90, init_sweeps=3, random_state=0).fit(corpus)
    assert first.learning_offset_ == 1.0
    assert first.trace_["step_size"][0] == pytest.approx(2**-0.6)
    random = HybridHDP(n_topics=5, init="random", n_laps=1, batch_size=9, random_state=0).fit(corpus)
    assert random.learning_offset_ == 1.0
    given = HybridHDP(n_topics=5, n_laps=1, batch_size=9, learning_offset=7.0, init_sweeps=3, random_state=0)
    assert given.fit(corpus).learning_offset_ == 7.0
    smallest = HybridHDP(n_topics=5, n_laps=1, batch_size=9, learning_decay=1e-9, init_sweeps=3, random_state=0)
    assert np.isfinite(smallest.fit(corpus).objective_)


def test_stream_keeps_its_offset(corpus, tmp_path):
    model = HybridHDP(n_topics=5, init_sweeps=3, random_state=0).partial_fit(corpus[:20])
    assert model.learning_offset_ == 1.0
    fitted = HybridHDP(n_topics=5, n_laps=1, batch_size=9, init_sweeps=3, random_state=0).fit(corpus)
    fitted.save(tmp_path / "m")
    on = stickbreak.load(tmp_path / "m").set_params(learning_offset=0.5).partial_fit(corpus[:9])
    assert on.trace_["step_size"][-1] == pytest.approx((11 + 10 ** (1 / 0.6) - 1) ** -0.6)


def test_minibatches_of_a_lap_are_of_nearly_the_same_size(monkeypatch):
    """One document left over would take a full step, scaled up to all."""
    corpus, _ = planted_lda(101, 40, n_topics=4, mean_tokens=40, seed=2)
    sizes, learn = [], steps.HybridSteps.learn

    def noted(self, state, drawn, n_documents):
        sizes.append(drawn.tokens()[1].n_documents)
        return learn(self, state, drawn, n_documents)

    monkeypatch.setattr(steps.HybridSteps, "learn", noted)
    HybridHDP(n_topics=6, init="random", batch_size=50, n_laps=2, random_state=1).fit(corpus)
    assert sizes == [34, 34, 33] * 2


def test_objective_of_one_topic_under_the_mean_field_takes_the_mean_of_its_words(corpus):
    model = HybridHDP(
        n_topics=1, init="random", n_laps=1, batch_size=1000, eta=0.5, phi_weight="mean_field", random_state=0
    )
    counts = corpus.counts.toarray().sum(axis=0)
    phi = (counts + 0.5) / (counts + 0.5).sum()
    assert model.fit(corpus).objective_ == pytest.approx(counts @ np.log(phi) / counts.sum(), rel=1e-12)


def test_documents_are_sampled_under_the_learned_alpha(corpus):
    """The second step of a fit that learns alpha is that of one that was given what the first has learned."""
    state, priors = random_state(corpus, 6, 0, 1.0), Priors(1.0, 1.0, 0.1)
    rules = StepSettings(priors, SweepSettings(2, 2), 0.6, 1.0, 3, ("alpha",))
    with ThreadExecutor(1) as executor:
        learning = steps.HybridSteps(rules, executor, StepScratch())
        learning.learn(state, StepDocuments.of(corpus[:45]), 90)
        other, alpha = copy.deepcopy(state), state.learned.alpha
        assert abs(alpha - 1.0) > 0.1
        other.learned = None
        given = steps.HybridSteps(
            replace(rules, priors=replace(priors, alpha=alpha), learn=()), executor, StepScratch()
        )
        assert learning.learn(state, StepDocuments.of(corpus[45:]), 90) == given.learn(
            other, StepDocuments.of(corpus[45:]), 90
        )
    np.testing.assert_array_equal(expected_counts(state), expected_counts(other))


def test_pickle_holds_no_room_of_the_last_step(corpus):
    model = HybridHDP(n_topics=200, init="random", total_documents=90, random_state=1).partial_fit(corpus[:30])
    again = pickle.loads(pickle.dumps(model))
    assert len(pickle.dumps(model)) < 100_000
    assert_same(again.partial_fit(corpus[30:60]), model.partial_fit(corpus[30:60]))


def test_stream_does_not_keep_the_factors_of_one_very_long_document(corpus):
    model = HybridHDP(n_topics=2, init="random", burn_in_sweeps=0, saved_sweeps=1, random_state=0).partial_fit(corpus)
    assert model._room is not None
    model.partial_fit(np.full((1, corpus.n_words), 1000))
    assert model._room is None
    model.partial_fit(corpus)
    assert model.n_steps_ == 3
