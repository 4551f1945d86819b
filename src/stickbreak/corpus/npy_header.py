"""The header of an array in NumPy's .npy format, read without evaluating it as Python."""

from __future__ import annotations

import re
from typing import IO, Literal, NamedTuple

import numpy as np

__all__ = ["ArrayHeader", "read_array_header"]

_MAGIC = b"\x93NUMPY"
_LONGEST = 1 << 16  # bytes; the header of an array of numbers has some hundred
_MOST_DIMENSIONS = 3
_SIZE = re.compile(r"\d{1,19}", re.ASCII)
_ENTRY = re.compile(
    r"""\s*(?:'descr'\s*:\s*'(?P<dtype>[<>=|]?[biufcSU]\d{1,4})'"""
    r"""|'fortran_order'\s*:\s*(?P<order>True|False)"""
    r"""|'shape'\s*:\s*\((?P<shape>[\d\s,L]*)\))\s*(?:,|(?=\}))"""
)


class ArrayHeader(NamedTuple):
    """What an array is, and how many bytes its header takes."""

    dtype: np.dtype
    shape: tuple[int, ...]
    order: Literal["C", "F"]
    n_bytes: int


def read_array_header(content: IO[bytes]) -> ArrayHeader | None:
    """Read the header of an array of plain numbers or strings; None where there is none.

    Parameters
    ----------
    content : binary file
        Stands afterwards at the first byte of the array.

    Returns
    -------
    ArrayHeader or None
    """
    start = content.read(8)
    n_length = {1: 2, 2: 4, 3: 4}.get(start[6], 0) if len(start) == 8 and start.startswith(_MAGIC) else 0
    length = content.read(n_length)
    n_text = int.from_bytes(length, "little")
    if not n_length or len(length) < n_length or n_text > _LONGEST:
        return None
    return _parsed(content.read(n_text).decode("latin-1"), 8 + n_length + n_text)


def _parsed(text: str, n_bytes: int) -> ArrayHeader | None:
    """Parse a dictionary of three entries; None when it is anything else."""
    text = text.strip()
    at, found = 1, {"dtype": "", "order": "", "shape": ""}
    seen = []
    while text.startswith("{") and (entry := _ENTRY.match(text, at)):
        seen.append(entry.lastgroup)
        found |= {name: value for name, value in entry.groupdict().items() if value is not None}
        at = entry.end()
    if sorted(map(str, seen)) != sorted(found) or text[at:].strip() != "}":
        return None
    try:
        dtype = np.dtype(found["dtype"])
    except TypeError:
        return None
    sizes = found["shape"].replace("L", "").split(",")  # Python 2 wrote 3L
    sizes = sizes if sizes[-1].strip() else sizes[:-1]
    if len(sizes) > _MOST_DIMENSIONS or not all(_SIZE.fullmatch(size.strip()) for size in sizes):
        return None
    shape = tuple(int(size) for size in sizes)
    return ArrayHeader(dtype, shape, "F" if found["order"] == "True" else "C", n_bytes)
