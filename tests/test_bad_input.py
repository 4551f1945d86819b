"""Bad input at the Python face: one clear error, nothing of a fit left."""

import numpy as np
import pytest
from scipy import sparse

from stickbreak import VariationalHDP
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.exceptions import InputError, InvalidCorpus, StickbreakError

COUNTS = np.array([[2, 0, 1, 4], [0, 3, 1, 0], [5, 0, 0, 2]])
KINDS = {
    "ndarray": np.asarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
}


def small(**changes) -> VariationalHDP:
    return VariationalHDP(**{"n_topics": 3, "n_laps": 2, "init_sweeps": 2, "random_state": 0, **changes})


def refused(call, *names: str, kind: type[Exception] = InputError) -> str:
    """Return the text of the error, which names what was given."""
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert isinstance(caught.value, StickbreakError)
    assert "\n" not in text
    for name in names:
        assert name in text, f"{name!r} is not named: {text}"
    return text


def no_traces(estimator: VariationalHDP) -> None:
    assert not [name for name in vars(estimator) if name.endswith("_") and name != "n_features_in_"]


@pytest.mark.parametrize("init", ["kmeans", "LDA", ""])
def test_unknown_init_is_refused_with_the_known_ones(init):
    refused(lambda: small(init=init).fit(COUNTS), repr(init), "'lda'", "'near-uniform'", "'documents'")


@pytest.mark.parametrize(
    ("init", "named"),
    [
        (np.ones((3, 5)), "(3, 5)"),
        (np.ones((3, 3)), "(3, 3)"),
        (np.ones(4), "(4,)"),
        ([[1, 2, 3]], "(1, 3)"),
        (np.ones((2, 3, 4)), "(2, 3, 4)"),
        (np.ones((0, 4)), "(0, 4)"),
    ],
)
def test_init_of_another_shape_is_refused(init, named):
    refused(lambda: small(init=init).fit(COUNTS), "init", named, "4 columns")


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf])
def test_init_with_an_impossible_value_is_refused(value):
    init = np.ones((2, 4))
    init[1, 2] = value
    refused(lambda: small(init=init).fit(COUNTS), "init", "give word distributions")


def test_init_with_an_empty_topic_is_refused():
    refused(lambda: small(init=np.diag([1.0, 1, 1, 0])).fit(COUNTS), "init", "empty row")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, -np.inf])
def test_impossible_counts_are_refused_naming_place_and_value(kind, value):
    counts = COUNTS.astype(float)
    counts[1, 2] = value
    estimator = small()
    refused(lambda: estimator.fit(KINDS[kind](counts)), "row 1", "column 2", str(value), kind=InvalidCorpus)
    no_traces(estimator)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("method", ["transform", "score", "expected_weights"])
def test_impossible_counts_are_refused_by_a_fitted_model(method, value):
    counts = COUNTS.astype(float)
    counts[1, 2] = value
    model = small().fit(COUNTS)
    refused(lambda: getattr(model, method)(counts), "row 1", "column 2", str(value), kind=InvalidCorpus)


def test_documents_that_are_all_empty_are_refused():
    refused(lambda: small().fit(np.zeros((3, 4))), "all documents are empty", kind=InvalidCorpus)


@pytest.mark.parametrize("n_jobs", [0, True])
def test_bad_n_jobs_is_refused(n_jobs):
    estimator = small(n_jobs=n_jobs)
    refused(lambda: estimator.fit(COUNTS), "n_jobs", repr(n_jobs), "-1 for all cores")
    no_traces(estimator)


BAD_PARAMETERS = [
    ("n_jobs", "two"),
    ("n_jobs", 1.5),
    ("n_topics", 0),
    ("n_topics", 2.5),
    ("alpha", 0.0),
    ("alpha", np.nan),
    ("alpha", np.inf),
    ("gamma", -1.0),
    ("eta", 0.0),
    ("init_sweeps", 0),
    ("moves", "merge"),
    ("n_laps", 0),
    ("tolerance", -1e-9),
    ("n_batches", 0),
    ("local_tolerance", 0.0),
    ("local_sweeps", 0),
    ("document_weights", "both"),
    ("random_state", -1),
    ("random_state", "seed"),
    ("verbose", "yes"),
]


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
def test_parameter_out_of_range_is_refused_naming_range_and_value(name, value):
    estimator = small(**{name: value})
    with pytest.raises(ValueError, match=rf"'{name}' parameter of VariationalHDP must be .* Got {value!r} instead"):
        estimator.fit(COUNTS)
    no_traces(estimator)


def test_every_parameter_is_validated():
    assert VariationalHDP._parameter_constraints.keys() == VariationalHDP().get_params().keys()


def test_unknown_move_is_refused_with_the_known_ones():
    refused(lambda: small(moves=["merge", "split"]).fit(COUNTS), "'split'", "'merge'", "'reorder'")


def test_move_named_twice_is_refused():
    refused(lambda: small(moves=["merge", "merge"]).fit(toy_bars(20, seed=0)[0]), "moves", "'merge'")


@pytest.mark.parametrize(("learn", "words"), [(["beta"], ("'beta'", "'alpha'")), (["eta", "eta"], ("learn", "'eta'"))])
def test_unknown_or_repeated_hyperparameter_to_learn_is_refused(learn, words):
    refused(lambda: small(learn=learn).fit(COUNTS), *words)


def test_counts_too_large_for_their_type_are_refused():
    refused(lambda: small().fit(COUNTS * 2**31), "row 2, column 0", "10737418240", kind=InvalidCorpus)


def test_transform_of_other_words_is_refused():
    model = small().fit(COUNTS)
    wider = Corpus.from_counts(np.ones((2, 5), dtype=int))
    refused(lambda: model.transform(wider), "5 words", "4", kind=InvalidCorpus)
    with pytest.raises(ValueError, match="X has 5 features, but VariationalHDP is expecting 4"):
        model.transform(wider.counts)
