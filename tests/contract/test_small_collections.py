"""A default that is too large for a small collection gives way, and says so; a number that is given does not."""

import logging

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.exceptions import InputError
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


@pytest.mark.parametrize("name", ["GaussianHDP", "GaussianDPMixture"])
def test_few_vectors_are_enough_for_the_defaults(name):
    vectors = np.array([[1.0, 2.0], [2.0, 3.0], [2.5, 0.0]])
    X = [vectors[:1], vectors[1:]] if name == "GaussianHDP" else vectors
    assert 1 <= quick(name).fit(X).n_components_ <= 3


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


@pytest.mark.parametrize("name", DEFAULTS)
def test_small_first_minibatch_says_that_its_number_of_topics_stays(name, caplog):
    model = quick(name)
    with caplog.at_level(logging.WARNING, logger="stickbreak"):
        model.partial_fit(np.array([[5, 3, 0]]))
    assert "starts with 2 topics" in caplog.text
    assert "later minibatches add no topics" in caplog.text
    assert model.partial_fit(np.full((40, 3), 30)).n_topics_ <= 2
    if name == "HybridHDP":
        caplog.clear()
        quick(name, top_level="unbounded").partial_fit(np.array([[5, 3, 0]]))
        assert "starts with 2 topics" in caplog.text
        assert "later minibatches" not in caplog.text


@pytest.mark.parametrize("name", DEFAULTS)
def test_number_that_is_given_is_still_refused(name):
    for method in ("fit", "partial_fit"):
        with pytest.raises(InputError, match="n_topics is 7, but the documents hold only 3 tokens"):
            getattr(quick(name, n_topics=7), method)(np.array([[1, 2]]))


def test_start_that_finds_nothing_keeps_its_number():
    X = np.array([[3, 1, 0, 2]])
    assert quick("HybridHDP", init="random").starting_topics(X) == 100
    assert quick("VariationalHDP", init=np.ones((2, 4))).starting_topics(X) == 100
    assert quick("GibbsHDP").starting_topics(X) == 6
    assert quick("TopicModel", n_topics=3).starting_topics(X) == quick("TopicModel", n_topics=3).fit(X).started_ == 3


@pytest.mark.parametrize("name", DEFAULTS)
def test_fits_by_the_default_and_by_its_number_are_the_same_fit(name, tmp_path):
    """Checkpoints of models whose n_topics was 100 go on where it is None, and back."""
    corpus, _ = toy_bars(n_documents=40, seed=0)
    new = {"init_sweeps": 2}
    old = {"n_topics": DEFAULTS[name], **new}
    for first, second in ((old, new), (new, old)):
        place = tmp_path / f"{len(first)}"
        quick(name, **first, n_laps=2).fit(corpus, checkpoint=place)
        resumed = quick(name, **second).fit(corpus, checkpoint=place, resume=True)
        np.testing.assert_array_equal(resumed.components_, quick(name, **old).fit(corpus).components_)


@pytest.mark.parametrize("name", [*DEFAULTS, "TopicModel"])
def test_model_of_the_default_goes_on_after_loading(name, tmp_path):
    X = np.array(COLLECTIONS["three documents"])
    quick(name).fit(X).save(tmp_path / "m")
    model = stickbreak.load(tmp_path / "m")
    assert model.n_topics is None
    if hasattr(model, "continue_fit"):
        model.continue_fit(X, n_laps=1)
    more = model.update if name == "TopicModel" else model.partial_fit
    assert more(X).transform(X).shape[0] == 3
