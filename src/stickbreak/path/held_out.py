"""Documents that are set apart from topics, with half of the tokens of each held out (math.md (J1))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream

PARTS = 5  # of the documents; one at a time is set apart
MOST_TOKENS = 50_000  # that are held out of the documents that choose, and of those that score, about
ENOUGH = 0.5  # of both: then no other part is set apart
MOST_TOPICS = 2000  # that are joined pair by pair: the work grows with the third power of their number
MOST_WEIGHTS = 1 << 25  # of topics in documents: 256 MiB
MOST_SHARES = 1 << 30  # of topics in counts: each sweep makes them all


@dataclass(frozen=True, slots=True)
class HeldOutTokens:
    """I counts of words in D documents: stored as a sparse matrix by rows, with the words that occur numbered."""

    indptr: Int  # (D + 1,)
    word: Int  # (I,)  number among `words`
    count: Float  # (I,)
    words: NDArray[np.integer]  # (W',)  their columns in the model

    @classmethod
    def of(cls, counts: sparse.csr_matrix) -> HeldOutTokens:
        """Take them from a table of counts, (D, W)."""
        words, word = np.unique(counts.indices, return_inverse=True)
        return cls(counts.indptr.astype(np.int64), word.astype(np.int64), counts.data.astype(np.float64), words)

    def of_words(self, kept: NDArray[np.bool_]) -> HeldOutTokens:
        """Return the tokens of some words of the model, (W,); the documents stay."""
        own = kept[self.words[self.word]]
        indptr = np.concatenate(([0], np.cumsum(own)))[self.indptr]
        words, word = np.unique(self.word[own], return_inverse=True)
        return HeldOutTokens(indptr, word.astype(np.int64), self.count[own], self.words[words])

    @property
    def n_documents(self) -> int:
        """Documents D."""
        return self.indptr.size - 1

    @property
    def n_tokens(self) -> float:
        """Tokens in all."""
        return float(self.count.sum())

    @property
    def document(self) -> Int:
        """Document of each count, (I,)."""
        return np.repeat(np.arange(self.n_documents), np.diff(self.indptr))

    def by_document(self, values: Float) -> Float:
        """Return the sums of values of the counts, (I,), over each document, (D,)."""
        return np.bincount(self.document, values, minlength=self.n_documents).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Halves:
    """D documents, half of the tokens of each held out."""

    observed: Corpus
    held_out: HeldOutTokens


@dataclass(frozen=True, slots=True)
class Apart:
    """Documents that are set apart, and the others."""

    choosing: Halves  # documents that say which topics join
    scoring: Halves  # and those that say how well topics predict then
    others: Int  # rows of the documents that topics are learned from


def some_documents(corpus: Corpus, n_topics: int, seed: int) -> Corpus:
    """Return the documents that a path looks at: all, or as many as time and memory allow, drawn at random.

    Raises
    ------
    InputError
        If there are more topics than can be joined in a few minutes.
    """
    if n_topics > MOST_TOPICS:
        raise InputError(
            f"the model has {n_topics} topics, too many to join pair by pair; fit with {MOST_TOPICS} or fewer."
        )
    order = stream(seed, "documents of a path of joins").permutation(corpus.n_documents)
    counts = np.cumsum(np.diff(corpus.counts.indptr)[order])
    n = min(int(np.searchsorted(counts, MOST_SHARES // n_topics, side="right")), MOST_WEIGHTS // n_topics)
    return corpus if n >= corpus.n_documents else corpus[np.sort(order[: max(n, 2)])]


def set_apart(corpus: Corpus, seed: int) -> list[Apart]:
    """Set a fifth of the documents apart, then another, until enough tokens are held out.               math.md (J1)

    Every other document chooses joins, the rest scores them. Half of the tokens of each document are held out. A
    document without a token held out is left out.

    Raises
    ------
    InputError
        If no token is held out of documents of either kind.
    """
    order = stream(seed, "documents apart").permutation(corpus.n_documents)
    scores = np.zeros(corpus.n_documents, dtype=bool)
    scores[order[1::2]] = True
    found, n_tokens = [], np.zeros(2)
    for part in np.array_split(order, PARTS):
        kinds = [_first(corpus, part[scores[part] == kind], n_tokens[int(kind)]) for kind in (False, True)]
        choosing, scoring = (_halves(corpus[rows], seed) for rows in kinds)
        found.append(Apart(choosing, scoring, np.setdiff1d(np.arange(corpus.n_documents), np.concatenate(kinds))))
        n_tokens += choosing.held_out.n_tokens, scoring.held_out.n_tokens
        if (n_tokens >= ENOUGH * MOST_TOKENS).all():
            break
    if not n_tokens.all():
        raise InputError(
            f"the documents hold {corpus.n_tokens:.12g} tokens, too few to hold some of them out; give more documents."
        )
    return found


def _first(corpus: Corpus, rows: Int, n_tokens: float) -> Int:
    """Return the first of these rows, in order, with which about MOST_TOKENS tokens are held out."""
    halves = np.cumsum(np.asarray(corpus.document_lengths, dtype=np.float64)[rows]) / 2
    before = n_tokens + np.concatenate([[0.0], halves])[: rows.size]
    return np.sort(rows[before < MOST_TOKENS])


def _halves(corpus: Corpus, seed: int) -> Halves:
    """Hold out half of the tokens of each document."""
    observed, held = corpus.halves(seed=seed)
    filled = np.flatnonzero(np.diff(held.counts.indptr))
    return Halves(observed[filled], HeldOutTokens.of(held.counts[filled]))
