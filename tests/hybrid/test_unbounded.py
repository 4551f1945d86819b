"""An unbounded top level: the slot of a new topic, topics that are born, and columns that are freed."""

import numpy as np
import pytest

from stickbreak import HybridHDP
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.corpus.tokens import Tokens
from stickbreak.hybrid.document_sampler import SampledTopics, SweepSettings
from stickbreak.hybrid.global_step import make_room
from stickbreak.hybrid.state import Priors

from . import reference
from .problems import expected_counts, found_under, state_of, step_to

ALPHA, GAMMA, ETA, W = 1.3, 0.8, 0.4, 3


def some_state():
    """Return topics in columns 0 and 2; column 1 is the slot, column 3 is empty."""
    S = np.array([[9.0, 0.0, 1.0, 0.0], [0.5, 0.0, 3.0, 0.0], [0.0, 0.0, 2.0, 0.0]])
    return state_of(2.0 * S, [2.5, 0.0, 4.0, 0.0], 0.5, 3, unbounded=True)


def copies(words, n_copies):
    return Tokens.from_corpus(Corpus.from_counts(np.tile(np.bincount(words, minlength=W), (n_copies, 1))))


def test_predictive_probability_counts_the_new_topic():
    state, priors = some_state(), Priors(ALPHA, GAMMA, ETA)
    for w in range(W):
        tokens = copies([w], 1)
        found = found_under(tokens, state, priors, SweepSettings(0, 1), 0)
        phi = reference.word_weights(expected_counts(state)[:, [0, 2]], ETA, "ratio")[w]
        p = (phi @ [2.5, 4.0] + GAMMA / W) / (6.5 + GAMMA)
        assert found.log_p == pytest.approx(np.log(p), rel=1e-12)


def step_in(column, state, size, n_tokens=6):
    """Take a step on documents whose tokens are all in one column, and make room for the next one."""
    z = np.full((1, n_tokens), column, np.int32)
    of_topics = np.bincount(z[0], minlength=state.n_topics)
    words = np.arange(n_tokens) % W
    step_to(
        state, copies(words, 1), SampledTopics(z, of_topics, of_topics.clip(max=2), -1.0),
        1.0, size, np.uint64(n_tokens),
    )  # fmt: skip
    make_room(state, W)


def test_new_topic_takes_the_slot_and_the_next_free_column_becomes_it():
    state = some_state()
    assert state.slot == 1
    step_in(1, state, 0.1)
    assert (state.slot, state.n_topics) == (3, 4)
    assert state.tokens[1] == pytest.approx(0.6)
    assert state.tables[1] == pytest.approx(0.2)
    state.check()
    before = expected_counts(state)
    step_in(3, state, 0.1)
    assert (state.slot, state.n_topics) == (4, 8)
    np.testing.assert_allclose(expected_counts(state)[:, :3], 0.9 * before[:, :3], rtol=1e-12)
    state.check()


def test_column_of_a_vanished_topic_is_empty_and_used_again():
    state = some_state()
    steps = 0
    while state.slot != 0:
        before = state.tokens[0], state.tables[0]
        step_in(2, state, 0.5)
        steps += 1
    assert steps > 3
    assert min(before) > 0
    assert state.slot == 0
    assert not expected_counts(state)[:, 0].any()
    assert state.tokens[0] == state.tables[0] == 0.0
    step_in(0, state, 0.5)
    assert state.slot == 1
    assert state.tokens[0] == pytest.approx(3.0)
    state.check()


@pytest.mark.parametrize("n_topics", [1, 2])
def test_planted_topics_grow_from_one(n_topics):
    corpus, truth = toy_bars(n_documents=1000, size=5, tokens=50, seed=1)
    model = HybridHDP(
        n_topics=n_topics, init="random", alpha=1.0, eta=0.1, top_level="unbounded", gamma=5.0, g_weight="ratio",
        learning_decay=0.3, n_laps=30,
        batch_size=20, random_state=0,
    ).fit(corpus)  # fmt: skip
    distance = 0.5 * np.abs(truth.topic_word[:, None] - model.topic_word_[None]).sum(axis=2)
    assert distance.min(axis=1).max() < 0.15
    large = model.topic_weights_[model.topic_weights_ > 0.02]
    assert 10 <= large.size <= 13
    assert large.sum() > 0.93
    assert model.trace_["n_topics"][0] < 10
