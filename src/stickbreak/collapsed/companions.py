"""Topics that begin as the words seen beside a word (math.md (C25)).

Sampled passes over many short documents need dozens of passes until random topics have formed. The words that stand
beside a word in the documents are a topic already, if a rough one. How many such topics differ by more than chance, two
halves of the documents say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

import numpy as np

from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.walking import Documents, are_short
from stickbreak.corpus import Corpus
from stickbreak.corpus.cooccurrence import Cooccurrence
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import one_blas_thread
from stickbreak.numerics.arrays import Float, Float32, Int
from stickbreak.numerics.corners import corners
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.streams import stream

PURPOSE = "words beside words"  # of the stream of random numbers
DOCUMENTS = 1 << 18  # at most, in which words are seen beside each other
COUNTS = 1 << 19  # stored counts of long documents, at most
LEAST_DOCUMENTS = 5  # of a word: the row of a rarer one is noise
DIMENSIONS = 1 << 8, 1 << 10  # of the random projection of the rows, at least and at most
ROUNDING = 1e-10  # of the largest value
FEW, FEWEST = 1 / 6, 50  # topics: fewer than this times the root of D, and than these, show what co-occurrence misses


class Halves(NamedTuple):
    """What stands beside each of some words, in two halves of some documents."""

    words: Int  # (n,)
    first: Cooccurrence
    second: Cooccurrence

    @classmethod
    def of(cls, corpus: Corpus, rng: np.random.Generator) -> Halves:
        """Halve documents at random; take the words that are in enough of both halves."""
        half = rng.random(corpus.n_documents) < 0.5
        first, second = (Cooccurrence.of(corpus[np.flatnonzero(part)]) for part in (half, ~half))
        least = max(LEAST_DOCUMENTS, math.sqrt(corpus.n_documents) / 4)
        seen = (first.mass > 0) & (second.mass > 0)
        return cls(np.flatnonzero(seen & (np.minimum(first.n_documents, second.n_documents) >= least)), first, second)

    def points(self, dimensions: int, rng: np.random.Generator) -> tuple[Float32, Float32]:
        """Return the rows of both halves in a random projection, (n, dimensions) each."""
        shape = self.words.size, dimensions
        points = np.empty(shape, np.float32), np.empty(shape, np.float32)
        for columns in self.first.blocks(dimensions):
            directions = signs((self.first.mass.size, columns.stop - columns.start), rng)
            for out, half in zip(points, (self.first, self.second), strict=True):
                out[:, columns] = half.times(directions, self.words)
        return points

    def weights(self) -> Float:
        """Return the share of each word of all these, (n,)."""
        mass: Float = self.first.mass[self.words] + self.second.mass[self.words]
        return mass / mass.sum()

    def rows(self, words: Int) -> Float:
        """Return the mean of the rows of both halves, (words, W)."""
        return (self.first.rows(words) + self.second.rows(words)) / 2


def signs(shape: tuple[int, int], rng: np.random.Generator) -> Float32:
    """Draw a table of -1 and 1: a projection by these keeps distances as one by normal numbers does."""
    n = math.prod(shape)
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-n // 8)), np.uint8), count=n)
    return (np.float32(2.0) * bits - np.float32(1.0)).reshape(shape)


def shown(first: Float32, second: Float32, weights: Float) -> int:
    """Return how many topics the rows of two halves show beyond chance.                             math.md (C25)

    Parameters
    ----------
    first, second : ndarray of shape (n, m)
        Rows of n words in each half.
    weights : ndarray of shape (n,)
        Of the words, summing to one.
    """
    centre = weights @ (first + second) / 2  # in float64, and so are its differences
    product = (weights[:, None] * (first - centre)).T @ (second - centre)
    values = np.linalg.eigvalsh((product + product.T) / 2)
    return 1 + int(np.count_nonzero(values > max(-values[0], ROUNDING * values[-1])))


@dataclass(frozen=True, slots=True)
class Companions:
    """What stands beside the words of a collection."""

    n_shown: int  # topics that two halves of the documents show
    n_tokens: float  # of these documents
    _halves: Halves
    _points: Float32  # (n, dimensions)  mean of the halves

    @classmethod
    def of(cls, documents: Documents, dimensions: int, seed: int, engine: Engine) -> Companions | None:
        """Look at the documents that take part, or many of them; None if no word is in enough, or counts are weights.

        Draws of weights predict worse than their expected shares.
        """
        rng, rows = stream(seed, PURPOSE), taking_part(documents, engine)
        chosen = documents.chosen(enough(rows, documents.n_documents, documents.n_counts, rng))
        return None if (chosen.counts.data % 1.0).any() else cls.within(chosen, dimensions, rng)

    @classmethod
    def within(cls, corpus: Corpus, dimensions: int, rng: np.random.Generator) -> Companions | None:
        """Look at all documents of a corpus of whole counts; None if no word is in enough of them."""
        halves = Halves.of(corpus, rng)
        if not halves.words.size:
            return None
        first, second = halves.points(n_corners(dimensions) - 1, rng)
        with one_blas_thread():  # sums of several threads come in any order
            n_shown = shown(first, second, halves.weights())
        return cls(n_shown, corpus.n_tokens, halves, np.float32(0.5) * (first + second))

    @property
    def n_words(self) -> int:
        """Number of words that are in enough of the documents: corners that there can be."""
        return self._points.shape[0]

    def topics(self, n: int, eta: Eta) -> Float:
        """Return the rows of n corners, or of as many as there are, as counts of all tokens and eta, (n, W).

        A word that stands beside none of the corners has all topics.
        """
        with one_blas_thread():
            found = corners(self._points, n)
        counts = np.maximum(self._halves.rows(self._halves.words[found]), 0.0)
        return counts * (self.n_tokens / counts.sum()) + eta


def enough(rows: Int, n_documents: int, n_counts: int, rng: np.random.Generator) -> Int:
    """Return the documents in which words are seen beside each other: all of some, or a sample of these, ascending."""
    most = DOCUMENTS if are_short(n_documents, n_counts) else COUNTS * n_documents // n_counts
    return np.sort(rng.choice(rows, most, replace=False)) if rows.size > most else rows


def are_shown(found: Companions | None, n_documents: int) -> TypeGuard[Companions]:
    """Return whether co-occurrence in short documents shows enough topics to begin with."""
    return found is not None and found.n_shown >= min(FEW * math.sqrt(n_documents), FEWEST)


def dimensions_of(n_documents: int) -> int:
    """Return in how many dimensions the topics of short documents are counted."""
    return round(4 * FEW * math.sqrt(n_documents))


def n_corners(dimensions: int) -> int:
    """Return how many corners there can be: one more than dimensions, which are never fewer or more than DIMENSIONS."""
    least, most = DIMENSIONS
    return 1 + min(most, max(least, dimensions))


def enough_dimensions(least: int, n_topics: int) -> int:
    """Return in how many dimensions there can be that number of corners: `least`, or the next power of two."""
    return least if n_topics <= max(least, DIMENSIONS[0]) else 1 << (n_topics - 1).bit_length()
