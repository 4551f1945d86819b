"""A fitted model small enough to be checked by hand."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest


@dataclass
class FixedModel:
    """Topics given; the weights of a document are looked up by a function of the documents."""

    topic_word_: np.ndarray
    weights: Any  # Corpus -> (D, K + 1)
    rest_word_: np.ndarray
    vocabulary_: tuple[str, ...]
    topic_weights_: np.ndarray = field(default_factory=lambda: np.ones(1))
    trace_: dict = field(default_factory=dict)

    @property
    def n_topics_(self):
        return len(self.topic_word_)

    def expected_weights(self, X):
        return self.weights(X)

    def transform(self, X):
        active = self.weights(X)[:, :-1]
        return active / active.sum(axis=1, keepdims=True)


@pytest.fixture
def make_model():
    """Return a function from topics and weights to a model."""

    def make(topic_word, weights, rest_word=None, vocabulary=None):
        phi = np.asarray(topic_word, dtype=float)
        n_words = phi.shape[1]
        rest = np.full(n_words, 1 / n_words) if rest_word is None else np.asarray(rest_word)
        words = tuple(f"w{w}" for w in range(n_words)) if vocabulary is None else tuple(vocabulary)
        return FixedModel(phi, weights, rest, words)

    return make
