"""A small share of the odd numbers of `python -m fuzz numbers`, and the cases that once killed the process."""

import random

import numpy as np
import pytest
from fuzz.models import FITS
from fuzz.numbers import outcomes
from fuzz.odd_values import SMALL, ends, of_arguments, of_parameters

import stickbreak
from fuzz import numbers
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.numerics.ranges import LARGEST, SMALLEST
from stickbreak.sampling.chain import resample_alpha, resample_gamma


def check_outcomes(cases):
    found = list(outcomes(cases))
    assert len(found) == len(cases)
    assert not [(case.name, outcome) for case, outcome in found if outcome.failed]


@pytest.mark.parametrize("estimator", SMALL)
def test_nonsense_for_a_parameter_is_refused_or_fits(estimator):
    fit = FITS[SMALL[estimator]]
    fit.model().fit(fit.documents())  # children have the kernels that their parent has
    odd = [case for case in of_parameters() if case.estimator == estimator]
    check_outcomes([numbers.of_parameter(case) for case in random.Random(len(estimator)).sample(odd, 12)])


def test_nonsense_for_an_argument_is_refused_or_answered():
    fitted = {
        name: FITS[SMALL[name]].model().fit(FITS[SMALL[name]].documents())
        for name in ("TopicModel", "GaussianDPMixture")
    }
    odd = random.Random(1).sample(list(of_arguments(fitted)), 30)
    check_outcomes([numbers.of_argument(case) for case in odd])


@pytest.mark.parametrize("name", ["topics", "hybrid", "gibbs", "variational stochastic"])
def test_the_smallest_and_the_largest_priors_fit(name):
    FITS[name].model().fit(FITS[name].documents())
    cases = [case for case in numbers._pairs(name, FITS[name]) if "lone words" in case.name]
    check_outcomes(random.Random(2).sample(cases, 3))


@pytest.mark.parametrize("name", SMALL)
def test_numbers_outside_of_a_range_are_refused(name):
    fit = FITS[SMALL[name]]
    for parameter, (_, outside) in ends(type(fit.model())).items():
        for value in outside:
            with pytest.raises(ValueError, match=parameter):
                fit.model().set_params(**{parameter: value}).fit(fit.documents())


@pytest.mark.parametrize("alpha", [1e7, 1e38, 1e100, 1e150, 1e308, 5e-324])
@pytest.mark.parametrize("learn", [(), ("alpha",)])
def test_an_alpha_that_killed_the_process_is_refused_with_its_range(alpha, learn):
    model = stickbreak.TopicModel(alpha=alpha, learn=learn, n_laps=3)
    with pytest.raises(ValueError, match=rf"range \[{SMALLEST}, {LARGEST}\]"):
        model.fit(np.ones((3, 4), dtype=int))


@pytest.mark.parametrize("given", [{"eta": 1e308}, {"alpha": 5e-324, "eta": 5e-324}, {"alpha": np.inf}])
def test_priors_that_ended_in_a_division_by_zero_are_refused(given):
    with pytest.raises(ValueError, match="must be a float in the range"):
        stickbreak.TopicModel(**given).fit(np.ones((3, 4), dtype=int))


def test_sampled_concentrations_stay_in_their_range():
    rng, far = np.random.default_rng(0), GammaPrior(1e-9, 1e9)
    assert all(SMALLEST <= resample_gamma(1.0, far, 1, 1, rng) <= LARGEST for _ in range(50))
    wide = GammaPrior(1e9, 1e-9)
    assert all(SMALLEST <= resample_alpha(1.0, wide, 3, np.array([2, 3]), rng) <= LARGEST for _ in range(50))


def test_refusals_of_scikit_learn_are_told_from_raw_errors():
    def kind(call):
        return next(outcomes([numbers.Case("arguments", "", call)]))[1].kind

    assert kind(lambda: None) == "result"
    assert kind(lambda: 1 / 0) == "raw error"
    assert kind(lambda: np.float64(1.0) / np.float64(0.0)) == "warning"
    assert kind(lambda: stickbreak.TopicModel(alpha=-1).fit(np.ones((2, 2), int))) == "Refused"
    assert kind(lambda: stickbreak.TopicModel().fit([["bread", "jam"], [1]])) != "raw error"
