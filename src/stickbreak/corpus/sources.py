"""Documents as a job names them: held in memory, or stored in a folder that each worker opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.corpus import Corpus, Place
from stickbreak.corpus.folder import open_counts
from stickbreak.corpus.remote_folder import rows_at
from stickbreak.storage.places import is_url


class Source(Protocol):
    """Consecutive documents of a collection."""

    def part(self, rows: slice) -> Self:
        """Return some consecutive documents of these."""
        ...

    def load(self, selection: NDArray[np.integer] | None = None) -> Corpus:
        """Return the documents, or those with these numbers, counted from the first of this source."""
        ...


@dataclass(frozen=True, slots=True)
class Held:
    """Documents in the memory of this process."""

    corpus: Corpus

    def part(self, rows: slice) -> Self:
        """Return some consecutive documents of these."""
        return type(self)(self.corpus[rows])

    def load(self, selection: NDArray[np.integer] | None = None) -> Corpus:
        """Return the documents, or those with these numbers."""
        return self.corpus if selection is None else self.corpus[selection]


@dataclass(frozen=True, slots=True)
class Stored:
    """Documents of a corpus folder, which each process opens once; they come without words and names.

    Of a folder at a URL a job fetches its rows.
    """

    place: Place

    def part(self, rows: slice) -> Self:
        """Return some consecutive documents of these."""
        return type(self)(self.place.part(rows))

    def load(self, selection: NDArray[np.integer] | None = None) -> Corpus:
        """Return the documents, or those with these numbers."""
        place = self.place
        if is_url(place.folder):
            return rows_at(place, selection)
        corpus = open_counts(place.folder, place.written, place.n_words)[place.first : place.last]
        return corpus if selection is None else corpus[selection]
