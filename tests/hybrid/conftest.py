"""The documents of most tests of the hybrid."""

import pytest

from stickbreak.corpus import planted_lda


@pytest.fixture
def corpus(seed):
    return planted_lda(90, 40, n_topics=4, mean_tokens=40, seed=seed)[0]
