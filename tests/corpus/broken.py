"""What the tests of broken counts share: a sound table, and the sentence that refuses a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stickbreak.corpus import read
from stickbreak.exceptions import InvalidCorpus, ReadError

TABLE = np.array([[1, 0, 0, 2], [0, 3, 0, 0], [0, 0, 4, 0], [0, 0, 0, 5]])
FORMATS = ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")


def refusal(path: Path, **settings: Any) -> str:
    """Give the sentence that refuses a file."""
    with pytest.raises((ReadError, InvalidCorpus)) as caught:
        read(path, **settings)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    assert len(message) < 400
    return message


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
