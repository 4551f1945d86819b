"""Where documents are stored: what a job names in their stead."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """Consecutive documents of a corpus folder; small, so that it travels where the documents need not.

    Attributes
    ----------
    folder : str
        Absolute path or URL of a corpus folder, on storage that all who load it see.
    written : int
        When the folder was written, in nanoseconds, or a number of its files at a URL: another corpus in its place is
        not taken for it.
    n_words : int
        W.
    first, last : int
        Number of the first document, and of the one after the last.
    """

    folder: str
    written: int
    n_words: int
    first: int
    last: int

    def part(self, rows: slice) -> Place:
        """Return the place of some consecutive documents of these."""
        begin, end, _ = rows.indices(self.last - self.first)
        first = self.first + begin
        return Place(self.folder, self.written, self.n_words, first, first + max(0, end - begin))
