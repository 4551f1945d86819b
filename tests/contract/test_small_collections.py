"""A default that is too large for a small collection gives way, and says so; a number that is given does not."""

import logging

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.methods import estimator_of, methods

DEFAULTS = {"VariationalHDP": 100, "HybridHDP": 100}
COLLECTIONS = {
    "one token": [[1]],
    "one token of two words": [[0, 1]],
    "twins": [[3, 1, 0, 2], [3, 1, 0, 2]],
    "one word": [[5], [3], [0]],
    "three documents": np.random.default_rng(0).multinomial(40, np.full(50, 0.02), 3),
}


def quick(name, **parameters):
    return estimator_of(name)(**{"n_laps": 4, "random_state": 0, **parameters})


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("name", [method.estimator for method in methods().values() if method.data == "documents"])
def test_every_family_fits_any_small_collection_by_its_defaults(name, collection):
    X = np.array(COLLECTIONS[collection])
    for method in ("fit", "partial_fit"):
        if hasattr(quick(name), method):
            weights = getattr(quick(name), method)(X).transform(X)
            total = weights.sum(axis=1)
            assert weights.shape[0] == len(X)
            np.testing.assert_allclose(total[X.sum(axis=1) > 0], 1.0)


@pytest.mark.parametrize(
    ("tokens", "wanted"), [(1, 1), (3, 1), (5, 2), (120, 30), (99, 25), (100, 100), (199, 199), (200, 200)]
)
@pytest.mark.parametrize("name", DEFAULTS)
def test_default_gives_way_only_where_it_was_refused(name, tokens, wanted, caplog):
    default = DEFAULTS[name]
    corpus = Corpus.from_counts([[tokens - 1, 1]] if tokens > 1 else [[1, 0]])
    model = quick(name, n_laps=1)
    wanted = default if tokens >= default else -(-tokens // 4)
    with caplog.at_level(logging.WARNING, logger="stickbreak"):
        model.fit(corpus)
    assert model.starting_topics(corpus) == wanted
    assert model.get_params()["n_topics"] is None
    said = [record.getMessage() for record in caplog.records if "n_topics" in record.getMessage()]
    assert len(said) == (wanted < default)
    assert all(f"starts with {wanted} topic" in text and f"instead of {default}" in text for text in said)
    explicit = quick(name, n_laps=1, n_topics=wanted).fit(corpus)
    np.testing.assert_array_equal(model.components_, explicit.components_)
