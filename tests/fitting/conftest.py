"""Documents, a checkpoint of theirs, and fits that were never cut."""

import pytest

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.storage import persistence

from .fits import fit


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(60, 40, n_topics=4, seed=1)[0]


@pytest.fixture(scope="module")
def cut_fit(tmp_path_factory):
    """Documents, and the arrays and meta of the checkpoint of a fit of two laps in three batches."""
    corpus = planted_lda(60, 40, n_topics=4, seed=1)[0]
    place = tmp_path_factory.mktemp("cut") / "checkpoint"
    fit(corpus, n_laps=2, checkpoint=place)
    return corpus, *persistence.read_folder(place)


@pytest.fixture(scope="module")
def whole(corpus):
    """Return a function that gives the fit with some parameters that was never cut: one fit for all tests."""
    made = {}

    def of(**changes):
        key = repr(sorted(changes.items()))
        if key not in made:
            made[key] = fit(corpus, **changes)
        return made[key]

    return of
