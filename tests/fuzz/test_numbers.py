"""A small share of the odd numbers of `python -m fuzz numbers`, and the cases that once killed the process."""

import argparse
import os
import random
import signal

import numpy as np
import pytest
from fuzz.child import Unsound, tried
from fuzz.models import FITS
from fuzz.odd_values import NONSENSE, SMALL, ends, of_arguments, of_parameters

import stickbreak
from fuzz import numbers
from stickbreak.ranges import LARGEST, SMALLEST
from stickbreak.sampling.concentrations import GammaPrior, resample_alpha, resample_gamma

SECONDS = 120.0


@pytest.mark.parametrize("estimator", SMALL)
def test_nonsense_for_a_parameter_is_refused_or_fits(estimator):
    odd = [case for case in of_parameters() if case.estimator == estimator]
    for case in random.Random(len(estimator)).sample(odd, 12):
        outcome = tried(case.run, SECONDS)
        assert not outcome.failed, (case.where, case.value, outcome)


def test_nonsense_for_an_argument_is_refused_or_answered():
    fitted = {
        name: FITS[SMALL[name]].model().fit(FITS[SMALL[name]].documents())
        for name in ("CollapsedHDP", "GaussianDPMixture")
    }
    for case in random.Random(1).sample(list(of_arguments(fitted)), 30):
        outcome = tried(case.run, SECONDS)
        assert not outcome.failed, (case.where, case.value, outcome)


@pytest.mark.parametrize("name", ["collapsed", "hybrid", "gibbs", "variational stochastic"])
def test_the_smallest_and_the_largest_priors_fit(name):
    cases = [case for case in numbers._pairs(name, FITS[name]) if "lone words" in case.name]
    for case in random.Random(2).sample(cases, 3):
        outcome = tried(case.run, SECONDS)
        assert not outcome.failed, (case.name, outcome)


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
    model = stickbreak.CollapsedHDP(alpha=alpha, learn=learn, n_laps=3)
    with pytest.raises(ValueError, match=rf"range \[{SMALLEST}, {LARGEST}\]"):
        model.fit(np.ones((3, 4), dtype=int))


@pytest.mark.parametrize("given", [{"eta": 1e308}, {"alpha": 5e-324, "eta": 5e-324}, {"gamma": np.inf}])
def test_priors_that_ended_in_a_division_by_zero_are_refused(given):
    with pytest.raises(ValueError, match="must be a float in the range"):
        stickbreak.CollapsedHDP(**given).fit(np.ones((3, 4), dtype=int))


def test_sampled_concentrations_stay_in_their_range():
    rng, far = np.random.default_rng(0), GammaPrior(1e-9, 1e9)
    assert all(SMALLEST <= resample_gamma(1.0, far, 1, 1, rng) <= LARGEST for _ in range(50))
    wide = GammaPrior(1e9, 1e-9)
    assert all(SMALLEST <= resample_alpha(1.0, wide, 3, np.array([2, 3]), rng) <= LARGEST for _ in range(50))


def test_a_child_tells_deaths_hangs_and_raw_errors_apart():
    def dies():
        os.kill(os.getpid(), signal.SIGKILL)

    def lies():
        raise Unsound("NaN")

    def hangs():
        while True:
            pass

    assert tried(lambda: None, 5).kind == "sound"
    assert tried(lambda: 1 / 0, 5).kind == "raw error"
    assert tried(lies, 5).kind == "unsound"
    assert tried(dies, 5).kind == "died"
    assert tried(hangs, 0).kind == "hang"
    assert tried(lambda: stickbreak.CollapsedHDP(alpha=-1).fit(np.ones((2, 2), int)), 5).kind == "refused"


def test_the_mode_counts_failures_and_shows_the_slowest(capsys):
    parser = argparse.ArgumentParser()
    numbers.add_arguments(parser)
    assert numbers.run(parser.parse_args(["--only", "CollapsedHDP(held_back=n"])) == 0
    shown = capsys.readouterr().out
    assert "parameters   refused" in shown
    assert "slowest accepted" in shown
    assert "nan" in NONSENSE
