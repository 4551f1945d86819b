"""Documents and a fitted tree; not to be changed."""

import pytest

from stickbreak import BackoffTreeTopics
from stickbreak.corpus import Corpus, planted_lda

from .fits import SMALL


@pytest.fixture(scope="module")
def corpus():
    drawn, _ = planted_lda(40, 30, n_topics=4, mean_tokens=30, seed=0)
    counts = drawn.counts.toarray()
    counts[:, 7] = 0
    counts[11] = 0
    return Corpus.from_counts(counts, vocabulary=[f"word{w}" for w in range(30)])


@pytest.fixture(scope="module")
def fitted(corpus):
    return BackoffTreeTopics(**SMALL).fit(corpus)
