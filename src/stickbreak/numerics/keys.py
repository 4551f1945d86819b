"""Keys of random streams: what a draw is for, as one number."""

from __future__ import annotations

import hashlib

import numpy as np


def key_of(seed: int, sweep: int, purpose: str) -> np.uint64:
    """Return the key of a purpose in a sweep: streams of different keys are independent."""
    digest = hashlib.blake2b(f"{seed} {sweep} {purpose}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))
