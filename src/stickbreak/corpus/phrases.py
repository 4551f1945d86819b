"""Phrases: neighbours that occur together far more often than their words say."""

from __future__ import annotations

import numpy as np

from stickbreak.corpus.token_sequences import TokenSequences

__all__ = ["LEAST_COUNT", "LEAST_SCORE", "find_phrases"]

LEAST_COUNT = 10
"""A phrase occurs this often."""
LEAST_SCORE = 0.5
"""The score of a phrase, from -1 to 1, is at least this."""

_BLOCK = 1 << 22  # words that are looked at at once
_MOST_PAIRS = 1 << 23  # different pairs that are held


def find_phrases(
    texts: TokenSequences,
    least_documents: float,
    longest: int = 2,
    *,
    block: int = _BLOCK,
    most_pairs: int = _MOST_PAIRS,
) -> list[str]:
    """Find the phrases of a collection: pairs of words, then pairs of what was joined before.          docs/math (W1)

    A pair of one word twice is not a phrase, nor is one with a word that holds a blank.

    Parameters
    ----------
    texts : TokenSequences
    least_documents : float
        A phrase is in this number of documents, wherever it is joined.
    longest : int
        Most words of a phrase.
    block : int
        Words that are looked at at once.
    most_pairs : int
        Different pairs that are held. If there are more, the rarest of those seen so far are forgotten.

    Returns
    -------
    list of str
        Words with blanks between them, in the order of the alphabet.
    """
    sizes = {word: longest for word in texts.words if " " in word}  # which are in no phrase
    joined, phrases = texts, set[str]()
    for _ in range(longest - 1):
        pairs = _pairs(joined, sizes, longest, block, most_pairs)
        joined = joined.joined(pairs)
        sizes |= {f"{a} {b}": sizes.get(a, 1) + sizes.get(b, 1) for a, b in pairs}
        phrases |= {f"{a} {b}" for a, b in pairs}
        if not pairs:
            break
    counted, words = texts.joined(phrase.split() for phrase in phrases).counts()
    documents = dict(zip(words, np.bincount(counted.indices, minlength=len(words)).tolist(), strict=True))
    return sorted(phrase for phrase in phrases if documents[phrase] >= least_documents)


def _pairs(
    texts: TokenSequences, sizes: dict[str, int], longest: int, block: int, most_pairs: int
) -> list[tuple[str, str]]:
    """Return the pairs of neighbours that are together often enough, and have at most `longest` words."""
    V, words = len(texts.words), texts.words
    tokens = np.bincount(texts.ids[texts.ids >= 0], minlength=V)
    size = np.array([sizes.get(word, 1) for word in words], np.int64)
    keys, counts = _pair_counts(texts, (tokens >= LEAST_COUNT) & (size < longest), block, most_pairs)
    enough = (counts >= LEAST_COUNT) & (size[keys // max(V, 1)] + size[keys % max(V, 1)] <= longest)
    keys, counts = keys[enough], counts[enough]
    score = _scores(counts, tokens[keys // max(V, 1)], tokens[keys % max(V, 1)], int(tokens.sum()))
    return sorted((words[key // V], words[key % V]) for key in keys[score >= LEAST_SCORE].tolist())


def _pair_counts(
    texts: TokenSequences, frequent: np.ndarray, block: int, most_pairs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Count the pairs of frequent words, in ascending order of their numbers."""
    V = len(texts.words)
    keys, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    for begin in range(0, texts.ids.size, block):
        real, pair = texts.pairs(begin, min(begin + block, texts.ids.size))
        pair = pair[real]
        left, right = pair // V, pair % V
        pair = pair[frequent[left] & frequent[right] & (left != right)]
        keys, place = np.unique(np.concatenate((keys, pair)), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate((counts, np.ones(pair.size))), minlength=keys.size)
        counts = counts.astype(np.int64)
        if keys.size > most_pairs:
            kept = counts > np.partition(counts, -most_pairs)[-most_pairs]
            keys, counts = keys[kept], counts[kept]
    return keys, counts


def _scores(pair: np.ndarray, left: np.ndarray, right: np.ndarray, n_tokens: int) -> np.ndarray:
    """Return the normalised pointwise mutual information of pairs.                                docs/math (W1)"""
    together = pair / n_tokens
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.log(together * n_tokens * n_tokens / (left.astype(np.float64) * right)) / -np.log(together)
    return np.nan_to_num(score, nan=1.0)
