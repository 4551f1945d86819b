"""`learned_` of the estimators: the names of the hyperparameters that were learned in the fit."""

import numpy as np
import pytest
from tests.contract.small import data_of, unfitted

import stickbreak
from stickbreak.likelihoods import DiagonalGaussian
from stickbreak.report.fit import describe_fit

LEARNED = {
    "TopicModel": [["alpha"], [], ["eta"], ["alpha", "eta"]],
    "VariationalHDP": [["eta"], [], ["alpha", "gamma", "eta"]],
    "GibbsHDP": [["alpha"], [], ["eta", "gamma"]],
    "HybridHDP": [["gamma"], [], ["alpha", "gamma", "eta"]],
    "LDA": [["alpha"], [], ["eta"], ["alpha", "eta"]],
    "Pachinko": [["alpha"], [], ["alpha", "sub_alpha", "eta"]],
    "HierarchicalPachinko": [["sub_alpha"], [], ["eta"]],
    "NestedCRP": [["gamma"], []],
    "NestedHDP": [[]],
    "OnlineHDP": [[]],
    "SplitMergeOnlineHDP": [[]],
    "BackoffTreeTopics": [["alpha", "eta"], [], ["eta"]],
    "GaussianHDP": [["alpha"], [], ["alpha", "gamma", "scale"]],
    "GaussianDPMixture": [[]],
}
CASES = [(name, learn) for name, sets in LEARNED.items() for learn in sets]


def fit(name, learn):
    return unfitted(name, **({} if LEARNED[name] == [[]] else {"learn": learn})).fit(data_of(name))


@pytest.mark.parametrize(("name", "learn"), CASES)
def test_learned_names_what_the_fit_learned_and_each_is_an_attribute(name, learn, tmp_path):
    model = fit(name, learn)
    assert model.learned_ == learn
    for hyperparameter in learn:
        assert getattr(model, hyperparameter + "_") > 0
    model.save(tmp_path / "model")
    assert stickbreak.load(tmp_path / "model").learned_ == learn
    settings = dict(describe_fit(model, 1).settings)
    assert sorted(key for key, text in settings.items() if ", learned" in text) == sorted(learn)


@pytest.mark.parametrize("given", ["full", "diagonal", "an object"])
def test_loaded_model_of_vectors_is_fitted_from_the_prior_that_was_given_and_not_from_the_learned_one(given, tmp_path):
    data = data_of("GaussianHDP")
    likelihood = DiagonalGaussian.from_data(np.concatenate(data)) if given == "an object" else given
    model = unfitted("GaussianHDP", likelihood=likelihood, learn=("alpha", "gamma", "scale")).fit(data)
    before = model.scale_, model.objective_, model.means_.tobytes()
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.scale_ == before[0]
    again = loaded.fit(data)
    assert (again.scale_, again.objective_, again.means_.tobytes()) == before
