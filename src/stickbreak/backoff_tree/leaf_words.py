"""The words of the leaves that have tokens, leaf after leaf: what top words are read from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.prediction.words import relevance


@dataclass(frozen=True, slots=True)
class LeafWords:
    """A sparse table of K leaves and W words; the words of leaf k stand at start[k] .. start[k + 1] - 1.

    Attributes
    ----------
    start : ndarray of shape (K + 1,)
    word : ndarray of int32, of shape (entries,)
        Ascending within a leaf.
    count : ndarray of int32, of shape (entries,)
        Tokens of the word at the leaf.
    probability : ndarray of shape (entries,)
        P(w | z), smoothing included.                                                             math.md (T6)
    word_tokens : ndarray of shape (W,)
        Tokens of each word at all leaves.
    """

    start: Int
    word: Int32
    count: Int32
    probability: Float
    word_tokens: Float

    @property
    def counts(self) -> sparse.csr_array:
        """Tokens of each word at each leaf, (K, W)."""
        return sparse.csr_array((self.count, self.word, self.start), shape=(self.start.size - 1, self.word_tokens.size))

    def at_leaf(self, k: int) -> tuple[Int, Float]:
        """Return the words that have tokens at a leaf, with P(w | z)."""
        here = slice(self.start[k], self.start[k + 1])
        return self.word[here].astype(np.int64), self.probability[here]

    def below(self, low: int, high: int) -> tuple[Int, Float]:
        """Return the words that have tokens at leaves low .. high - 1, with their share of the tokens there."""
        here = slice(self.start[low], self.start[high])
        tokens = np.bincount(self.word[here], weights=self.count[here], minlength=self.word_tokens.size)
        words = np.flatnonzero(tokens)
        return words, tokens[words] / tokens.sum()

    def best(self, found: tuple[Int, Float], n: int) -> tuple[Int, Float]:
        """Return the n words, with their probabilities, that say most about a node.                 math.md (T14)"""
        words, probability = found
        order = np.argsort(-relevance(probability, np.log(self.word_tokens[words])), kind="stable")[:n]
        return words[order], probability[order]
