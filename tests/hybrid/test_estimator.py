"""`HybridHDP` as it is used: topics, streams, checkpoints, what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreak import HybridHDP
from stickbreak.corpus import planted_lda, toy_bars
from stickbreak.corpus.sources import Held
from stickbreak.hybrid.laps import StepDocuments
from stickbreak.hybrid.state import WordTopics

from .fits import SMALL


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


def test_every_step_draws_anew(corpus):
    model = HybridHDP(n_topics=8, learning_offset=1e18, total_documents=900, random_state=0).partial_fit(corpus)
    model.partial_fit(corpus)  # under the same globals: the steps move them by nothing
    first, second = model.trace_["objective"]
    assert first != second
    assert first == pytest.approx(second, abs=0.1)
    at_once = StepDocuments(Held(corpus), [np.arange(3)] * 3)
    assert len({int(key) for step in (1, 2) for key in at_once.keys(0, step)}) == 6


def test_joined_topics_of_the_same_size_keep_their_numbers():
    corpus, _ = toy_bars(n_documents=20, seed=1)
    model = HybridHDP(n_topics=3, init="random", n_laps=1, random_state=0).fit(corpus)
    counts = np.zeros((corpus.n_words, 3))
    counts[[0, 1, 2], [0, 1, 2]] = 20.0, 30.0, 10.0
    pairs = WordTopics.from_dense(counts)
    model._state = replace(model._state, pairs=pairs, tokens=counts.sum(axis=0), tables=np.ones(3))
    joined = model.joined([[1, 2]])  # 20 and 10 tokens, beside the topic of 30
    assert joined.topic_word_.argmax(axis=1).tolist() == [0, 1]
