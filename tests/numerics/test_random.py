"""Seeds and streams; the Gamma and Beta numbers of the kernels have their laws."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, gamma, kstest, loggamma

from stickbreak.numerics.kernel_random import draw_gamma, draw_log_gamma, draw_log_odds, open_stream
from stickbreak.numerics.streams import seed_from, stream

FIRST_DRAWS = [686, 519, 140]


def test_random_state_gives_a_seed_that_moves_on():
    first, second = (np.random.RandomState(1) for _ in range(2))
    assert seed_from(first) == seed_from(second)
    assert seed_from(first) != seed_from(np.random.RandomState(1))


def test_streams_of_two_purposes_are_not_correlated():
    left, right = (stream(0, purpose).random(20_000) for purpose in ("a", "b"))
    assert abs(np.corrcoef(left, right)[0, 1]) < 5 / np.sqrt(20_000)


def test_stream_stays_the_same_from_version_to_version():
    np.testing.assert_array_equal(stream(0, "collapsed start").integers(1000, size=3), FIRST_DRAWS)
    assert seed_from(2**32 - 1) == 2**32 - 1
    assert 0 <= stream(2**32 - 1, "x").random() < 1


N = 4000
ALARM = 1e-4


def drawn(draw, *shapes):
    rng = np.zeros(1, np.uint64)
    open_stream(rng, 5, 1000 * sum(shapes))
    return np.array([draw(rng, *shapes) for _ in range(N)])


@pytest.mark.parametrize("shape", [0.01, 0.1, 0.7, 1.0, 1.03, 4.0, 300.0])
def test_gamma_numbers_have_their_law(shape):
    assert kstest(drawn(draw_gamma, shape), gamma(shape).cdf).pvalue > ALARM


@pytest.mark.parametrize("shape", [1e-6, 0.01, 0.7, 1.0, 30.0])
def test_logarithms_of_gamma_numbers_have_their_law(shape):
    # below a shape of about 1e-2 shape times the logarithm is minus an exponential number, to 1e-12
    found = drawn(draw_log_gamma, shape)
    law = loggamma(shape).cdf(found) if shape > 1e-3 else np.exp(shape * found)
    assert kstest(law, "uniform").pvalue > ALARM


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.3), (2.0, 0.5), (100.0, 103.0)])
def test_beta_numbers_have_their_law(first, second):
    assert kstest(expit(drawn(draw_log_odds, first, second)), beta(first, second).cdf).pvalue > ALARM


def test_tiny_shapes_make_a_coin():
    left = drawn(draw_log_odds, 1e-12, 3e-12) > 0
    assert abs(left.mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / N)
