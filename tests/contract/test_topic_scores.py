"""Every family of words has scores of its topics."""

import numpy as np
import pytest
from tests.contract.small import FACES_OF_WORDS, OF_WORDS, data_of, fitted

from stickbreak.evaluation import (
    coherence,
    exclusivity,
    npmi,
    per_word_likelihood,
    topic_diversity,
    topic_scores,
)


@pytest.fixture(params=FACES_OF_WORDS)
def name(request):
    return request.param


def test_scores_are_those_of_each_measure(name):
    model, corpus = fitted(name), data_of(name)
    table = topic_scores(model, corpus, n_words=4)
    phi = model.word_distributions(table["topic"].to_numpy())
    assert table["npmi"].to_numpy() == pytest.approx(npmi(phi, corpus, 4), nan_ok=True)
    assert table["umass"].to_numpy() == pytest.approx(coherence(phi, corpus, 4), nan_ok=True)
    assert table["exclusivity"].to_numpy() == pytest.approx(exclusivity(phi, 4))
    assert table.attrs["diversity"] == topic_diversity(phi)
    assert table.attrs["mean_npmi"] == pytest.approx(table["npmi"].mean())
    assert "c_v" not in table


@pytest.mark.parametrize("flat", [name for name in OF_WORDS if name != "BackoffTreeTopics"])
def test_the_likelihood_of_a_word_by_hand(flat):
    model, corpus = fitted(flat), data_of(flat)
    counts, theta = corpus.counts.toarray(), np.asarray(model.transform(corpus))[:, : model.n_topics_]
    expected = (counts * np.log(theta / theta.sum(axis=1, keepdims=True) @ model.topic_word_)).sum() / counts.sum()
    assert per_word_likelihood(model, corpus) == pytest.approx(expected, abs=1e-9)
