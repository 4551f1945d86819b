"""Topics whose weights in documents are known: topic k has one word, w_k."""

from typing import Any

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import threads_and_workers
from stickbreak.prediction.document_weights import collapsed_weights
from stickbreak.prediction.topics import FlatTopics


class OneWordEach(FlatTopics):
    """K topics of one word each: the weights of a document are the shares of its words."""

    def __init__(self, n_topics: int) -> None:
        self.vocabulary_ = tuple(f"w{k}" for k in range(n_topics))
        self.calls: list[int] = []

    @property
    def topic_word_(self) -> Any:
        return np.eye(len(self.vocabulary_))

    @property
    def topic_weights_(self) -> Any:
        return np.full(len(self.vocabulary_), 1 / len(self.vocabulary_))

    topic_shares_ = topic_weights_

    @property
    def rest_word_(self) -> Any:
        return self.topic_weights_

    def expected_weights(self, X: Any) -> Any:
        raise NotImplementedError

    def left_to_right(self, X: Any, **options: Any) -> Any:
        raise NotImplementedError

    def transform(self, X: Any) -> Any:
        self.calls.append(len(X))
        counts = X.counts.toarray()
        return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def drawn(shares: np.ndarray, concentration: float, mean_tokens: float, rng: np.random.Generator) -> Corpus:
    """Draw a document for each row of shares: weights around the shares, and tokens of them."""
    weights = np.array([rng.dirichlet(concentration * row) for row in shares])
    return Corpus.from_counts(rng.multinomial(1 + rng.poisson(rng.gamma(2.0, mean_tokens / 2, len(shares))), weights))


class GivenTopics(FlatTopics):
    """Topics that are known, with a prior: the weights of a document follow from its words."""

    def __init__(self, phi: np.ndarray, prior: np.ndarray) -> None:
        self._phi, self._a = np.asarray(phi), np.asarray(prior)
        self.vocabulary_ = tuple(f"w{w}" for w in range(self._phi.shape[1]))

    @property
    def topic_word_(self) -> Any:
        return self._phi

    @property
    def topic_weights_(self) -> Any:
        return self._a / self._a.sum()

    topic_shares_ = topic_weights_

    @property
    def rest_word_(self) -> Any:
        return self._phi.mean(axis=0)

    def _document_prior(self) -> Any:
        return np.append(self._a, 0.0)

    def expected_weights(self, X: Any) -> Any:
        raise NotImplementedError

    def left_to_right(self, X: Any, **options: Any) -> Any:
        raise NotImplementedError

    def transform(self, X: Any) -> Any:
        with threads_and_workers(None) as engine:
            return collapsed_weights(X, self._phi, self._a, engine)
