"""A request at a time: one document has the weights that it has among all, before and after a model changes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.contract.small import OF_WORDS, data_of, fitted

from stickbreak.corpus import Corpus

WITH_WEIGHTS = tuple(name for name in OF_WORDS if name != "BackoffTreeTopics")


def alone(model, corpus):
    return np.concatenate([model.expected_weights(corpus[d : d + 1]) for d in range(8)])


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_document_alone_has_the_weights_that_it_has_among_all(name):
    """Of few documents only their words are looked at, of many all words."""
    model, corpus = fitted(name), Corpus.from_counts(data_of(name))
    corpus = Corpus.from_counts(np.vstack([corpus.counts.toarray()] * 4))
    assert corpus.counts.nnz > corpus.n_words
    assert corpus[:1].counts.nnz < corpus.n_words
    assert alone(model, corpus).tobytes() == model.expected_weights(corpus)[:8].tobytes()


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_threads_share_a_model(name):
    model, corpus = fitted(name), Corpus.from_counts(data_of(name))
    expected = alone(fitted(name), corpus).tobytes()
    with ThreadPoolExecutor(4) as threads:
        assert {found.tobytes() for found in threads.map(lambda _: alone(model, corpus), range(8))} == {expected}
