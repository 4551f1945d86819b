import numpy as np
import pytest

from stickbreak.numerics.streams import seed_from, stream

FIRST_DRAWS = [686, 519, 140]


def test_integer_is_its_own_seed():
    assert seed_from(42) == 42
    assert seed_from(np.int32(7)) == 7
    assert type(seed_from(np.int32(7))) is int


def test_random_state_gives_a_seed_that_moves_on():
    first, second = (np.random.RandomState(1) for _ in range(2))
    assert seed_from(first) == seed_from(second)
    assert seed_from(first) != seed_from(np.random.RandomState(1))


def test_no_random_state_gives_another_seed_each_time():
    assert len({seed_from(None) for _ in range(4)}) > 1


@pytest.mark.parametrize("bad", [-1, 2**32, "seed", 1.5])
def test_other_random_states_are_refused(bad):
    with pytest.raises(ValueError, match=r"[Ss]eed"):
        seed_from(bad)


def test_stream_depends_on_seed_and_purpose_alone():
    draws = {
        (seed, purpose): stream(seed, purpose).random(4).tobytes() for seed in (0, 1) for purpose in ("start", "order")
    }
    assert len(set(draws.values())) == 4
    assert stream(1, "order").random(4).tobytes() == draws[1, "order"]


def test_streams_of_two_purposes_are_not_correlated():
    left, right = (stream(0, purpose).random(20_000) for purpose in ("a", "b"))
    assert abs(np.corrcoef(left, right)[0, 1]) < 5 / np.sqrt(20_000)


def test_stream_stays_the_same_from_version_to_version():
    np.testing.assert_array_equal(stream(0, "collapsed start").integers(1000, size=3), FIRST_DRAWS)
    assert seed_from(2**32 - 1) == 2**32 - 1
    assert 0 <= stream(2**32 - 1, "x").random() < 1
