"""`copy.copy` of any of the estimators is a model of its own: neither changes when the other goes on."""

import copy

import pytest
from tests.contract.small import SMALL, bits, data_of, fitted, frozen, unfitted

GOING_ON = [(name, call) for name in SMALL for call in ("continue_fit", "partial_fit") if hasattr(unfitted(name), call)]
goes_on = pytest.mark.parametrize(("name", "call"), GOING_ON)


def go_on(model, name, call):
    if call == "continue_fit":
        return model.continue_fit(data_of(name), n_laps=2)
    return model.partial_fit(data_of(name)).partial_fit(data_of(name))


@goes_on
def test_copy_that_goes_on_leaves_the_model_as_it_was(name, call):
    model = fitted(name)
    expected, before = bits(model, name), frozen(vars(model))
    go_on(copy.copy(model), name, call)
    assert frozen(vars(model)) == before
    assert bits(model, name) == expected


@goes_on
def test_model_that_goes_on_leaves_its_copy_as_it_was(name, call):
    model = fitted(name)
    twin = copy.copy(model)
    expected, before = bits(twin, name), frozen(vars(twin))
    go_on(model, name, call)
    assert frozen(vars(twin)) == before
    assert bits(twin, name) == expected


@goes_on
def test_copy_goes_on_as_the_model_does(name, call):
    model = fitted(name)
    twin = go_on(copy.copy(model), name, call)
    assert bits(twin, name) == bits(go_on(model, name, call), name)


@pytest.mark.parametrize("name", SMALL)
def test_copy_of_an_unfitted_estimator_has_its_parameters(name):
    model = unfitted(name)
    twin = copy.copy(model)
    assert type(twin) is type(model)
    assert twin.get_params() == model.get_params()
