"""The words of a topic by their relevance: the one order in which words describe a topic.

Sievert and Shirley, LDAvis: a method for visualizing and interpreting topics (2014).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.fitted import document_blocks
from stickbreak.prediction.words import top_word_indices

RELEVANCE = 0.6


class WordTopics(Protocol):
    """Topics as distributions of words."""

    def word_shares(self) -> Float:
        """Return the share of each word in the tokens of the fit, (W,)."""

    def word_distributions(self, topics: Int) -> Float:
        """Return the word distributions of these topics, (n, W)."""


def relevance(phi: Float, log_shares: Float, weight: float = RELEVANCE) -> Float:
    """Return lambda log phi_kw + (1 - lambda) log(phi_kw / p_w), a row for each topic.             math.md (Q5)

    Parameters
    ----------
    phi : ndarray of shape (n, W)
        Word distributions.
    log_shares : ndarray of shape (W,)
        log p_w, up to a constant; infinite for words that no document of the fit has: their relevance is minus
        infinity.
    weight : float
        lambda, from 0 (lift) to 1 (probability). 0.6 is what Sievert and Shirley found best for readers.
    """
    known = np.isfinite(log_shares)
    with np.errstate(divide="ignore"):
        return np.where(known, np.log(phi) - (1 - weight) * np.where(known, log_shares, 0.0), -np.inf)


def log_word_shares(topics: WordTopics) -> Float:
    """Return log p_w, with infinity for words that no document of the fit has."""
    shares = topics.word_shares()
    with np.errstate(divide="ignore"):
        return np.where(shares > 0, np.log(shares), np.inf)


def relevant_words(topics: WordTopics, numbers: Int, n_words: int, weight: float = RELEVANCE) -> list[Int]:
    """Return the most relevant words of some topics, ties by column.                               math.md (Q5)

    Parameters
    ----------
    topics : fitted model
    numbers : ndarray of int
        Topics.
    n_words : int
        Maximum number of words.
    weight : float
    """
    log_shares, found = log_word_shares(topics), []
    for block in document_blocks(numbers.size, log_shares.size):
        found += most_relevant(topics.word_distributions(numbers[block]), log_shares, n_words, weight)
    return found


def most_relevant(phi: Float, log_shares: Float, n_words: int, weight: float = RELEVANCE) -> list[Int]:
    """Return the most relevant words of word distributions, (n, W), ties by column: see `relevance`."""
    ranked = []
    for topic in phi:
        (row,) = relevance(topic[None], log_shares, weight)
        (top,) = top_word_indices(row[None], n_words)
        ranked.append(top[np.isfinite(row[top])].astype(np.int64))
    return ranked
