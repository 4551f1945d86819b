"""A call that fails or is interrupted leaves any of the estimators exactly as it was."""

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from tests.contract.small import FACES, SMALL, attributes, bits, data_of, fitted, frozen, raising, unfitted

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError, StickbreakError
from stickbreak.hybrid import global_step
from stickbreak.hybrid import laps as steps

STREAMS = ("HybridHDP", "NestedHDP", "OnlineHDP", "SplitMergeOnlineHDP", "VariationalHDP")


def names_of(X):
    """Return X with other words, or other vectors."""
    if isinstance(X, Corpus):
        wider = sparse.hstack([X.counts, X.counts[:, :3]])
        return Corpus.from_counts(wider, vocabulary=[f"other{w}" for w in range(wider.shape[1])])
    return np.ones((4, 5)) if isinstance(X, np.ndarray) else [np.random.default_rng(0).normal(size=(4, 5))]


def fails(model, X, how, folder):
    """Make a fit fail in one of the ways; the first three change nothing, the others end in mid-work."""
    if how == "bad X":
        model.fit([["a text"], ["another"]])
    if how == "bad X of other words":
        broken = names_of(X)
        if isinstance(broken, Corpus):
            broken = Corpus(broken.counts * 0, broken.vocabulary)
        model.fit(broken if isinstance(broken, Corpus) else np.full((3, 7), np.nan))
    if how == "bad parameter":
        model.set_params(gamma=-1.0) if "gamma" in model.get_params() else model.set_params(learn=("gamma",))
        model.fit(names_of(X))
    if how == "callback":
        model.fit(names_of(X), callback=raising(RuntimeError("mine"), 2))
    if how == "interrupt":
        model.fit(names_of(X), callback=raising(KeyboardInterrupt(), 2))
    if how == "checkpoint":
        (folder / "mine.txt").write_text("mine")
        model.fit(names_of(X), checkpoint=folder / "mine.txt" / "ck")


SHARED = ("bad X", "bad X of other words", "bad parameter", "checkpoint")  # before the work of a family begins
WAYS = [(name, how) for name in FACES for how in SHARED]
WAYS += [(name, how) for name in SMALL for how in ("callback", "interrupt")]


@pytest.mark.parametrize(("name", "how"), WAYS)
def test_failed_fit_leaves_a_fitted_model_as_it_was(name, how, tmp_path):
    X = data_of(name)
    model = fitted(name)
    expected, before = bits(model, name), frozen(attributes(model))
    with pytest.raises((StickbreakError, ValueError, RuntimeError, KeyboardInterrupt)):
        fails(model, X, how, tmp_path)
    if how == "bad parameter":
        model.set_params(
            **{key: getattr(unfitted(name), key) for key in ("gamma", "learn") if key in model.get_params()}
        )
    assert frozen(attributes(model)) == before
    assert bits(model, name) == expected


@pytest.mark.parametrize(("name", "how"), WAYS)
def test_failed_first_fit_leaves_no_fitted_model(name, how, tmp_path):
    model = unfitted(name)
    with pytest.raises((StickbreakError, ValueError, RuntimeError, KeyboardInterrupt)):
        fails(model, data_of(name), how, tmp_path)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert not [key for key in vars(model) if key.endswith("_")]


@pytest.mark.parametrize("error", [RuntimeError("mine"), KeyboardInterrupt()], ids=["error", "interrupt"])
@pytest.mark.parametrize("name", SMALL)
def test_failed_continuation_leaves_the_model_and_can_be_repeated(name, error):
    X = data_of(name)
    model, twin = fitted(name), fitted(name)
    expected, before = bits(model, name), frozen(attributes(model))
    with pytest.raises(type(error)):
        model.continue_fit(X, n_laps=4, callback=raising(error, 7))
    assert frozen(attributes(model)) == before
    assert bits(model, name) == expected
    going_on = {"n_laps": 3}
    assert bits(model.continue_fit(X, **going_on), name) == bits(twin.continue_fit(X, **going_on), name)


@pytest.mark.parametrize("representation", ["indicator", "franchise", "partially-collapsed"])
@pytest.mark.parametrize("estimate", ["average", "best", "last"])
def test_failed_continuation_of_chains_leaves_what_they_keep(representation, estimate):
    X = data_of("GibbsHDP")
    model = unfitted("GibbsHDP", representation=representation, estimate=estimate).fit(X)
    before = frozen(attributes(model))
    with pytest.raises(RuntimeError):
        model.continue_fit(X, n_laps=5, callback=raising(RuntimeError("mine"), 8))
    assert frozen(attributes(model)) == before


@pytest.mark.parametrize("first", [False, True], ids=["after a fit", "after a minibatch"])
@pytest.mark.parametrize("how", ["text", "negative", "total", "parameter", "other words"])
@pytest.mark.parametrize("name", STREAMS)
def test_failed_partial_fit_leaves_the_model(name, how, first):
    X = data_of(name)
    given = {"learn": ()} if "learn" in unfitted(name).get_params() else {}
    model = unfitted(name, **given).partial_fit(X) if first else fitted(name)
    expected, before = bits(model, name), frozen(attributes(model))
    given = {"text": ["a text"], "negative": -X.counts.toarray(), "other words": names_of(X)}.get(how, X)
    changed = {"total": {"total_documents": 3}, "parameter": {"n_jobs": 0}}.get(how, {})
    kept = {key: getattr(model, key) for key in changed}
    with pytest.raises((StickbreakError, ValueError)):
        model.set_params(**changed).partial_fit(given)
    model.set_params(**kept)
    assert frozen(attributes(model)) == before
    assert bits(model, name) == expected


@pytest.mark.parametrize("how", ["negative", "no token", "labels", "error", "interrupt"])
def test_failed_update_leaves_the_model(how):
    X = data_of("TopicModel")
    model, twin = fitted("TopicModel"), fitted("TopicModel")
    expected, before = bits(model, "TopicModel"), frozen(attributes(model))
    given = {"negative": -X.counts.toarray(), "no token": X.counts * 0}.get(how, names_of(X))
    error = {"error": RuntimeError("mine"), "interrupt": KeyboardInterrupt()}.get(how)
    with pytest.raises((StickbreakError, ValueError, RuntimeError, KeyboardInterrupt)):
        model.update(
            given,
            labels=["one"] * X.n_documents if how == "labels" else None,
            callback=None if error is None else raising(error, 2),
        )
    assert frozen(attributes(model)) == before
    assert bits(model, "TopicModel") == expected
    assert bits(model.update(X), "TopicModel") == bits(twin.update(X), "TopicModel")


@pytest.mark.parametrize(("room", "where"), [(steps, "weigh"), (steps, "sample_parts"), (steps, "take_step")])
def test_unbounded_step_that_breaks_off_leaves_its_columns_or_is_told(room, where, monkeypatch):
    X = data_of("HybridHDP")
    model, twin = (
        unfitted("HybridHDP", top_level="unbounded", init="random", n_topics=12).partial_fit(X) for _ in range(2)
    )
    n_columns = model._state.n_topics
    monkeypatch.setattr(global_step, "VANISHED_TOKENS", 30.0)
    expected, before = bits(model, "HybridHDP"), frozen(attributes(model))
    assert (model._state.tokens < 30).any()

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(room, where, interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[:10])
    if where == "take_step":
        with pytest.raises(InputError, match="failed while it changed"):
            model.partial_fit(X[:10])
        return
    assert model._state.n_topics == n_columns
    assert frozen(attributes(model)) == before
    assert bits(model, "HybridHDP") == expected
    others = X.counts.toarray()[10:20] * (np.arange(X.n_words) % 2)  # words stand in other rows of the tables
    following = Corpus.from_counts(others, vocabulary=X.vocabulary)
    assert bits(model.partial_fit(following), "HybridHDP") == bits(twin.partial_fit(following), "HybridHDP")


@pytest.mark.parametrize("name", STREAMS)
def test_model_whose_arrays_are_read_only_learns_on(name, tmp_path):
    X = data_of(name)
    joblib.dump(fitted(name), tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    assert bits(mapped.partial_fit(X), name) == bits(fitted(name).partial_fit(X), name)
