"""Paths as they are given: what is not one is refused in a sentence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from stickbreak.exceptions import InputError

PathLike = str | os.PathLike[str]
"""A path as it is given."""


def place_of(path: Any) -> Path:
    """Return a path.

    Raises
    ------
    InputError
        If no file system can have it.
    """
    try:
        place = Path(path)
        possible = b"\0" not in os.fsencode(place)
    except (TypeError, UnicodeEncodeError):
        possible = False
    if not possible:
        raise InputError(f"{path!r} is not a path; give a string or a pathlib.Path.")
    return place
