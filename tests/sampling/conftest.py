"""Documents and a fitted sampler; not to be changed."""

import pytest

from stickbreak import GibbsHDP
from stickbreak.corpus import Corpus, planted_lda

from .fits import fit


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(40, 30, n_topics=4, mean_tokens=30, seed=1)[0]


@pytest.fixture(scope="module")
def fitted(corpus) -> GibbsHDP:
    """A model of eight sweeps, not to be changed."""
    return fit(corpus)
