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
def test_copy_and_model_go_on_alike_and_leave_each_other_as_they_were(name, call):
    model = fitted(name)
    first, second = copy.copy(model), copy.copy(model)
    expected, before, untouched = bits(model, name), frozen(vars(model)), frozen(vars(second))
    further = bits(go_on(first, name, call), name)
    assert frozen(vars(model)) == before
    assert bits(model, name) == expected
    assert bits(go_on(model, name, call), name) == further
    assert frozen(vars(second)) == untouched
    assert bits(second, name) == expected
