"""Bad input at the Python face: one clear error, nothing of a fit left."""

import numpy as np
import pytest
from scipy import sparse

from stickbreak import VariationalHDP
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


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf])
def test_init_with_an_impossible_value_is_refused(value):
    init = np.ones((2, 4))
    init[1, 2] = value
    refused(lambda: small(init=init).fit(COUNTS), "init", "give word distributions")


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


def test_every_parameter_is_validated():
    assert VariationalHDP._parameter_constraints.keys() == VariationalHDP().get_params().keys()


def test_counts_too_large_for_their_type_are_refused():
    refused(lambda: small().fit(COUNTS * 2**31), "row 2, column 0", "10737418240", kind=InvalidCorpus)
