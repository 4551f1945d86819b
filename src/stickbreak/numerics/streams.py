"""Random streams, keyed by what is drawn: the same seed gives the same numbers whatever runs where."""

from __future__ import annotations

import hashlib
import zlib

import numpy as np

from stickbreak.exceptions import InputError


def seed_from(random_state: int | np.random.RandomState | None) -> int:
    """Return one integer seed for a fit from scikit-learn's kinds of random state.

    Raises
    ------
    InputError
        If it is none of them, or a number out of range.
    """
    source = source_of(random_state)
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    return int(source.randint(np.iinfo(np.int32).max))


def source_of(random_state: int | np.random.RandomState | None) -> np.random.RandomState:
    """Return the random numbers that a random state stands for.

    Raises
    ------
    InputError
        If it is none, or a number out of range.
    """
    from sklearn.utils import check_random_state

    try:
        return check_random_state(random_state)
    except ValueError:
        raise InputError(
            f"random_state is {random_state!r}; give a seed from 0 to 2**32 - 1, a RandomState, or None."
        ) from None


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator of one purpose; streams of different purposes are independent."""
    return np.random.Generator(np.random.Philox(key=[seed, zlib.crc32(purpose.encode())]))


def stream_at(seed: int, purpose: str, number: int) -> np.random.Generator:
    """Return the generator of a purpose for one of many parts, each of which has numbers of its own."""
    return np.random.Generator(np.random.Philox(key=[int(key_of(seed, 0, purpose)), number]))


def key_of(seed: int, sweep: int, purpose: str) -> np.uint64:
    """Return the key of a purpose in a sweep: streams of different keys are independent."""
    digest = hashlib.blake2b(f"{seed} {sweep} {purpose}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))
