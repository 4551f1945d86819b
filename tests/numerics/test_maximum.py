"""The maximum of a function of one positive number."""

import math

import pytest

from stickbreak.numerics.maximum import maximiser


@pytest.mark.parametrize("best", [1e-3, 0.4999, 0.5, 0.50001, 7.0, 900.0])
@pytest.mark.parametrize("start", [2e-3, 0.5, 800.0])
def test_maximiser_finds_the_sign_change_from_either_side(start, best):
    assert maximiser(lambda x: best - x, start, (1e-4, 1e4)) == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize(("sign", "limit"), [(1.0, 50.0), (-1.0, 0.01)])
def test_maximiser_stops_at_the_limit_that_the_slope_leads_to(sign, limit):
    assert maximiser(lambda x: sign, 0.3, (0.01, 50.0)) == limit
    assert maximiser(lambda x: sign, limit, (0.01, 50.0)) == pytest.approx(limit, rel=1e-15)


def test_maximiser_keeps_a_start_outside_the_limits_unless_the_slope_leads_back():
    assert maximiser(lambda x: 1.0, 80.0, (0.01, 50.0)) == pytest.approx(80.0, rel=1e-15)
    assert maximiser(lambda x: 60.0 - x, 80.0, (0.01, 50.0)) == pytest.approx(60.0, rel=2e-6)


def test_maximiser_asks_for_each_slope_once_and_for_few_near_the_start():
    asked = []

    def slope(x):
        asked.append(x)
        return math.log(0.5015 / x)

    maximiser(slope, 0.5, (1e-3, 1e3))
    assert len(asked) == len(set(asked)) <= 6
