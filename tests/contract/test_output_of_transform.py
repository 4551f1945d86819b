"""Names of the columns of `transform`, and its container, of every estimator that has it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from tests.contract.small import SMALL, data_of, fitted, unfitted

from stickbreak.prediction import words

TRANSFORMERS = [name for name in SMALL if name != "GaussianDPMixture"]
DENSE = [name for name in TRANSFORMERS if name != "BackoffTreeTopics"]


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


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_sparse_and_single_weights_are_those_of_the_dense_table(name, monkeypatch):
    model, X = fitted(name), data_of(name)
    plain = model.transform(X)
    dense = plain.toarray() if sparse.issparse(plain) else plain
    monkeypatch.setattr(words, "_BLOCK_ELEMENTS", 3 * dense.shape[1])  # several blocks
    for dtype in ("float32", "float64"):
        for least in (0.0, 0.1):
            table = model.transform(X, sparse=True, dtype=dtype, least=least)
            assert isinstance(table, sparse.csr_array)
            assert table.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(table.toarray(), np.where(dense >= least, dense, 0).astype(dtype))
            assert np.all(table.data > 0)
        if not sparse.issparse(plain):
            single = model.transform(X, dtype=dtype)
            assert single.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(single, dense.astype(dtype))
    none = model.transform(X[:0], sparse=True, dtype="float32")
    assert (none.shape, none.dtype) == ((0, dense.shape[1]), np.float32)
