"""Paths as they are given: what is not one is refused in a sentence."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from stickbreak.exceptions import InputError

PathLike = str | os.PathLike[str]
"""A path as it is given."""

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)  # a drive of Windows has one letter
_URL_AS_PATH = re.compile(_URL.pattern[:-1], re.IGNORECASE)  # pathlib makes one slash of two
# the part before an @; where it has a colon, also beyond a slash that was not escaped
_SECRET = re.compile(r"(?<=:/)(/?)(?:[^/@?:]*:[^@?]*|[^/@?]*)@|\?.*", re.DOTALL)


def is_url(given: object) -> bool:
    """Return whether something is a URL, not a path."""
    return isinstance(given, str) and _URL.match(given) is not None


def without_secrets(url: str) -> str:
    """Return a URL for a message or a file: without credentials and options."""
    return _SECRET.sub(lambda found: found[1] or "", url)


def place_of(path: Any) -> Path:
    """Return a path.

    Raises
    ------
    InputError
        If no file system can have it, or it is a URL.
    """
    if is_url(path) or (isinstance(path, Path) and _URL_AS_PATH.match(str(path))):
        raise InputError(
            f"{without_secrets(str(path)):.100} is a URL, but models, checkpoints, scratch folders and outputs need a "
            "disk; name a path, one that all workers see where there are several machines."
        )
    try:
        place = Path(path)
        possible = b"\0" not in os.fsencode(place)
    except (TypeError, UnicodeEncodeError):
        possible = False
    if not possible:
        raise InputError(f"{path!r} is not a path; give a string or a pathlib.Path.")
    return place
