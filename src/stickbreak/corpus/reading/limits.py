"""How far a file is believed: what a small file may ask for before it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stickbreak.exceptions import InputError, ReadError

__all__ = ["DEFAULT_LIMITS", "ReadLimits", "size_in_words"]

_MOST_GROWTH = 200  # of a packed file; text packs to a tenth of its size, counts to a thirtieth
_ALWAYS_UNPACKED = 1 << 28  # bytes that any packed file may hold


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits of what a file may require, so that a small or damaged file cannot take all the memory.

    Attributes
    ----------
    document_bytes : int
        Maximum number of bytes of one line, one document or one JSON value.
    unpacked_bytes : int or None
        Maximum number of bytes of a compressed file, or of one member of an archive, once it is unpacked. None: 200
        times the size of the file, and at least 256 MiB.
    declared_size : int
        Number of documents, or words, that any header may declare. A larger number is accepted only up to the number
        of bytes of the file.

    Raises
    ------
    InputError
        If a limit is not a positive whole number.
    """

    document_bytes: int = 1 << 26
    unpacked_bytes: int | None = None
    declared_size: int = 1_000_000

    def __post_init__(self) -> None:
        for name in ("document_bytes", "unpacked_bytes", "declared_size"):
            value = getattr(self, name)
            if value is None and name == "unpacked_bytes":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}; give a positive whole number")

    def most_unpacked(self, packed_bytes: int) -> int:
        """Return how many bytes a packed file of this size may hold."""
        if self.unpacked_bytes is not None:
            return self.unpacked_bytes
        return max(_ALWAYS_UNPACKED, _MOST_GROWTH * packed_bytes)

    def most_declared(self, n_bytes: int) -> int:
        """Return how many documents or words a file of `n_bytes` (unpacked) bytes may declare."""
        return max(self.declared_size, n_bytes)

    def check_shape(self, path: Path, shape: tuple[int, int], n_bytes: int) -> None:
        """Refuse a file that declares more documents or words (D, W) than its unpacked bytes make credible."""
        for size, what in zip(shape, ("documents", "words"), strict=True):
            if size > self.most_declared(n_bytes):
                raise ReadError(
                    f"{path} declares {size} {what} in {n_bytes} bytes; if that is right, raise the limit with "
                    f"--max-declared (in Python: limits=ReadLimits(declared_size={size}))"
                )

    def too_long(self, what: str) -> ReadError:
        """Return the error about a line or document ("line 3 of FILE") above the limit."""
        return ReadError(
            f"{what} is longer than {size_in_words(self.document_bytes)}; raise the limit with --max-document-bytes "
            "(in Python: limits=ReadLimits(document_bytes=...))"
        )


def size_in_words(n_bytes: int) -> str:
    """Write a number of bytes for a message.

    Examples
    --------
    >>> size_in_words(1 << 26), size_in_words(1500)
    ('64 MiB', '1,500 bytes')
    """
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.4g} {name}"
    return f"{n_bytes:,} bytes"


DEFAULT_LIMITS = ReadLimits()
