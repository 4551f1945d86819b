"""Where a fit begins: many topics, each of the words that stand beside one word.                        docs/math (L12)

Random topics need dozens of passes to form. What stands beside a word is a topic already, if a rough one. The words are
corners: what stands beside any other word is nearly a mixture of what stands beside these.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.cooccurrence import Cooccurrence
from stickbreak.fitting.executor import one_blas_thread
from stickbreak.numerics.arrays import Float, Float32, Int
from stickbreak.numerics.corners import corners
from stickbreak.numerics.ranges import SMALLEST
from stickbreak.numerics.streams import stream

PER_DOCUMENT = 2.0  # bounds the number of topics where documents are long: each has more to say
COUNTS = 1 << 20  # stored counts, at most, in which words are seen beside each other
LEAST_DOCUMENTS = 10  # of a corner: what stands beside a rarer word is noise
DIMENSIONS = 1 << 10  # of the random projection in which corners are sought
LITTLE = 0.05  # tokens of each word in each topic to begin with


def n_to_begin_with(n_counts: int, n_documents: int, most: int) -> int:
    """Return min(sqrt(M), 2 (M D)^(1/4), most) for M stored counts of D documents.                   docs/math (L12)"""
    many = min(math.sqrt(n_counts), PER_DOCUMENT * (n_counts * n_documents) ** 0.25, most)
    return max(1, round(many))


def rough_topics(corpus: Corpus, n: int, seed: int, *, fewer: bool) -> Float:
    """Return n topics to begin with, as tokens of each word, (n, W); `fewer` where there are not as many corners.

    All words are alike in each where there is no corner, or there are not n of them and no `fewer` topics will do.
    """
    found = BesideWords(corpus, seed)
    words = found.corners(n) if n else found.words[:0]
    rows = found.topics(words) if words.size == n or (fewer and words.size) else np.ones((n, corpus.n_words))
    return of_tokens(rows, corpus.n_tokens / max(len(rows), 1))


def of_tokens(rows: Float, n_tokens: float) -> Float:
    """Return topics of that many tokens each, and a little of every word, (n, W)."""
    return np.asarray(rows * (n_tokens / np.maximum(rows.sum(axis=1, keepdims=True), SMALLEST)) + LITTLE)


class BesideWords:
    """What stands beside the words of a collection.

    Parameters
    ----------
    corpus : Corpus
        Documents of whole counts; of many, a sample is looked at.
    seed : int
    """

    def __init__(self, corpus: Corpus, seed: int) -> None:
        self._rng, share = stream(seed, "words beside words"), COUNTS / max(corpus.counts.nnz, 1)
        if share < 1.0:
            n = max(1, round(share * corpus.n_documents))
            corpus = corpus[np.sort(self._rng.choice(corpus.n_documents, n, replace=False))]
        self._seen = Cooccurrence.of(corpus)
        least = max(LEAST_DOCUMENTS, math.sqrt(corpus.n_documents) / 2)
        self.words: Int = np.flatnonzero((self._seen.mass > 0) & (self._seen.n_documents >= least))

    def corners(self, n: int) -> Int:
        """Return n words whose companions differ most, or fewer."""
        if not self.words.size:
            return self.words
        points = np.empty((self.words.size, DIMENSIONS), np.float32)
        for columns in self._seen.blocks(DIMENSIONS):
            directions = self._signs(columns.stop - columns.start)
            points[:, columns] = self._seen.times(directions, self.words)
        with one_blas_thread():  # sums of several threads come in any order
            return self.words[corners(points, n)]

    def topics(self, words: Int) -> Float:
        """Return the companions of words, as probabilities, (n, W)."""
        rows = np.maximum(self._seen.rows(words), 0.0)
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))

    def _signs(self, n: int) -> Float32:
        """Draw a table of -1 and 1, (W, n): a projection by these keeps distances as one by normal numbers does."""
        shape = self._seen.mass.size, n
        bits = np.unpackbits(np.frombuffer(self._rng.bytes(-(-shape[0] * n // 8)), np.uint8), count=shape[0] * n)
        return (np.float32(2.0) * bits - np.float32(1.0)).reshape(shape)
