"""What is made once for a model as it is: it goes with any change, and is in no copy."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from stickbreak.model.estimator import Estimator, cached


class Doubled(Estimator):
    def __init__(self, number):
        self.number = number
        self.n_calls = 0

    @cached
    def twice(self):
        self.__dict__["n_calls"] += 1
        return [2 * self.number]


@pytest.mark.parametrize("name", ["number", "another"])
def test_a_change_of_any_attribute_drops_it(name):
    model = Doubled(3)
    before = model.twice()
    setattr(model, name, 5)
    assert model.twice() is not before
    assert model.twice() == [2 * model.number]


def test_it_is_in_no_copy_and_no_pickle():
    model = Doubled(3)
    model.twice()
    for twin in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert vars(twin)["_cached"] == {}
        twin.number = 4
        assert twin.twice() == [8]
    assert model.twice() == [6]


def test_threads_all_get_it():
    pause = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            for number in range(50):
                model = Doubled(number)
                assert list(threads.map(lambda _, model=model: model.twice(), range(16))) == [[2 * number]] * 16
    finally:
        sys.setswitchinterval(pause)
