"""Names of the columns of `transform`, and its container, of every estimator that has it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from tests.contract.small import SMALL, data_of, fitted, unfitted

TRANSFORMERS = [name for name in SMALL if name != "GaussianDPMixture"]
DENSE = [name for name in TRANSFORMERS if name != "BackoffTreeTopics"]


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_columns_are_named_by_the_class(name):
    model = fitted(name)
    names = model.get_feature_names_out()
    assert list(names) == [f"{name.lower()}{k}" for k in range(model.transform(data_of(name)).shape[1])]
    with pytest.raises(NotFittedError):
        unfitted(name).get_feature_names_out()


@pytest.mark.parametrize("name", DENSE)
def test_output_is_a_data_frame_where_it_is_asked_for_and_nothing_else_changes(name):
    model, X = fitted(name), data_of(name)
    before = model.transform(X)
    others = ("score", "predict", "predict_proba", "expected_weights")
    asked = {method: getattr(model, method)(X) for method in others if hasattr(model, method)}
    table = model.set_output(transform="pandas").transform(X)
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(table.to_numpy(), before)
    for method, value in asked.items():
        found = getattr(model, method)(X)
        assert type(found) is type(value)
        np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize("name", DENSE)
def test_fit_transform_is_that_of_scikit_learn(name):
    X = data_of(name)
    plain = unfitted(name).fit_transform(X)
    np.testing.assert_array_equal(plain, unfitted(name).fit(X).transform(X))
    pipeline = make_pipeline(unfitted(name)).set_output(transform="pandas")
    table = pipeline.fit_transform(X)
    assert list(table.columns) == list(pipeline.get_feature_names_out())
    np.testing.assert_array_equal(table.to_numpy(), plain)


def test_mixture_is_no_transformer_and_says_why():
    model = fitted("GaussianDPMixture")
    for method in ("transform", "fit_transform", "get_feature_names_out", "set_output", "expected_weights"):
        assert not hasattr(model, method)
        assert method == "fit_transform" or f"`{method}`" in type(model).__doc__
