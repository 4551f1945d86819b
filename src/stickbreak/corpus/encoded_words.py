"""Many words as one run of bytes: lists of them would take Python one step for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np

__all__ = ["EncodedWords"]

_AT_ONCE = 1 << 16  # words


@dataclass(frozen=True, slots=True)
class EncodedWords:
    """Words in UTF-8, one after another.

    Attributes
    ----------
    content : ndarray of uint8
        A half of a surrogate pair is three bytes, like any character.
    starts : ndarray of int64 of shape (W + 1,)
        Where each begins, and where the last one ends.
    """

    content: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, words: Sequence[str]) -> Self:
        """Encode words."""
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        starts = np.zeros(len(encoded) + 1, np.int64)
        starts[1:] = np.cumsum([len(word) for word in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), starts)

    @classmethod
    def of_arrow(cls, words: Any) -> Self:
        """Take the words of an array of Arrow's large binary."""
        _, starts, content = words.buffers()
        starts = np.frombuffer(starts, np.int64, len(words) + 1, 8 * words.offset)
        return cls(np.frombuffer(content or b"", np.uint8), starts)

    def arrow(self) -> Any:
        """Return them as an array of Arrow's large binary."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self.starts), pa.py_buffer(self.content)]
        return pa.Array.from_buffers(pa.large_binary(), self.starts.size - 1, buffers)

    def __len__(self) -> int:
        return self.starts.size - 1

    def listed(self) -> list[str]:
        """Decode them, all at once."""
        text = self.content[self.starts[0] : self.starts[-1]].tobytes().decode("utf-8", "surrogatepass")
        return [text[first:last] for first, last in pairwise(self._characters_before().tolist())]

    def lengths(self) -> np.ndarray:
        """Return the number of characters of each."""
        return np.diff(self._characters_before())

    def _characters_before(self) -> np.ndarray:
        """Return how many characters stand before each, and at the end."""
        before = np.zeros(self.starts.size, np.int64)
        for first in range(0, len(self), _AT_ONCE):
            starts = self.starts[first : first + _AT_ONCE + 1]
            is_first = (self.content[starts[0] : starts[-1]] & 0xC0) != 0x80  # byte of a character
            so_far = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_first)])
            before[first + 1 : first + starts.size] = before[first] + so_far[starts[1:] - starts[0]]
        return before

    def take(self, places: np.ndarray) -> Self:
        """Return some of them, in the order of `places`."""
        sizes = np.diff(self.starts)[places]
        starts = np.zeros(sizes.size + 1, np.int64)
        np.cumsum(sizes, out=starts[1:])
        content = np.empty(starts[-1], np.uint8)
        for first in range(0, places.size, _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            begin, end = starts[first], starts[min(first + _AT_ONCE, places.size)]
            shifts = np.repeat(self.starts[places[some]] - starts[:-1][some], sizes[some])
            content[begin:end] = self.content[shifts + np.arange(begin, end)]
        return type(self)(content, starts)
