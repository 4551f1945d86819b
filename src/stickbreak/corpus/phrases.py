"""Texts as sequences of words; phrases in them: neighbours that occur together far more often than their words say."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Self

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import assemble_csr
from stickbreak.corpus.words import matches, word_pattern

_BETWEEN = re.compile(r"[\s\-\u2010\u2011]+")  # what may stand between the words of a phrase: blanks and hyphens
_BREAK, _GONE = -1, -2


def neighbours(text: str, pattern: str | None) -> Iterator[str | None]:
    """Yield the words of a text, and None where others than blanks and hyphens stand between two words.

    Examples
    --------
    >>> list(neighbours("new york, well-known", None))
    ['new', 'york', None, 'well', 'known']
    """
    end = None
    for match in word_pattern(text).finditer(text) if pattern is None else matches(pattern, text):
        if end is not None and text[end : match.start()] != " " and not _BETWEEN.fullmatch(text, end, match.start()):
            yield None
        end = match.end()
        yield match[match.re.groups]


@dataclass(frozen=True, slots=True)
class TokenSequences:
    """The words of texts in their order, as numbers."""

    ids: np.ndarray  # the number of each word; -1 where two words do not stand together, and before each text
    starts: np.ndarray  # where each text begins
    words: list[str]  # of each number

    @classmethod
    def of(
        cls, texts: Iterable[str], split: Callable[[str], Iterable[str | None]], ignored: frozenset[str] = frozenset()
    ) -> Self:
        """Read texts, one at a time."""
        number: dict[str, int] = {}
        ids, starts = array("i"), array("q")
        for text in texts:
            starts.append(len(ids))
            ids.append(_BREAK)
            for word in split(text):
                if word is None or word in ignored:
                    ids.append(_BREAK)
                else:
                    ids.append(number.setdefault(word, len(number)))
        starts.append(len(ids))
        return cls(np.frombuffer(ids, np.int32), np.frombuffer(starts, np.int64), list(number))

    def pairs(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return, for some places, whether a pair of neighbours begins there, and the number of that pair."""
        ids = self.ids[begin : end + 1].astype(np.int64)
        left, right = ids[:-1], ids[1:]
        return (left != _BREAK) & (right != _BREAK), left * len(self.words) + right

    def joined(self, phrases: Iterable[Sequence[str]]) -> Self:
        """Join the words of phrases by blanks: the longest first, those of a length in the order of the text."""
        number = {word: place for place, word in enumerate(self.words)}
        given = {tuple(number[word] for word in phrase) for phrase in phrases if all(word in number for word in phrase)}
        if not given:
            return self
        V, ids = len(self.words), self.ids.copy()
        for length, group in groupby(sorted(given, key=lambda phrase: (-len(phrase), phrase)), key=len):
            known = list(group)
            names = [" ".join(self.words[w] for w in phrase) for phrase in known]
            numbers = np.array([number.setdefault(name, len(number)) for name in names])
            places, which = _found(ids, known, length, V)
            for step in range(1, length):
                ids[places + step] = _GONE
            ids[places] = numbers[which]
        kept = ids != _GONE
        before = np.concatenate(([0], np.cumsum(kept)))
        return type(self)(ids[kept], before[self.starts], list(number))

    def counts(self) -> tuple[sp.csr_matrix, list[str]]:
        """Return how often each word is in each text, (D, W), and the words."""
        V, D = len(self.words), self.starts.size - 1
        document = np.repeat(np.arange(D), np.diff(self.starts))
        real = self.ids != _BREAK
        if not V or not real.any():
            return sp.csr_matrix(np.empty((D, 0), np.int32)), []
        cell, count = np.unique(document[real] * V + self.ids[real], return_counts=True)
        indptr = np.searchsorted(cell, np.arange(D + 1) * V)
        dtype = np.int32 if cell.size < 2**31 else np.int64
        counts = assemble_csr(count.astype(np.int32), (cell % V).astype(dtype), indptr.astype(dtype), V)
        return counts, self.words


def _found(ids: np.ndarray, phrases: Sequence[tuple[int, ...]], length: int, V: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where phrases of one length begin, from the left and without overlaps, and which they are."""
    n = max(ids.size - length + 1, 0)
    beginning = np.where(ids[:n] < V, ids[:n], _BREAK).astype(np.int64)  # the number of a beginning of phrases
    number = {phrase[:1]: phrase[0] for phrase in phrases}
    for step in range(1, length):
        longer = sorted({phrase[: step + 1] for phrase in phrases})
        keys = np.array([number[one[:-1]] * V + one[-1] for one in longer], np.int64)
        number = {one: place for place, one in enumerate(longer)}
        following = ids[step : step + n].astype(np.int64)
        key = beginning * V + following
        place = np.minimum(np.searchsorted(keys, key), keys.size - 1)
        fits = (beginning >= 0) & (following >= 0) & (following < V) & (keys[place] == key)
        beginning = np.where(fits, place, _BREAK)
    places, end = [], 0
    for at in np.flatnonzero(beginning >= 0).tolist():
        if at >= end:
            places.append(at)
            end = at + length
    chosen = np.array(places, np.int64)
    return chosen, beginning[chosen]


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
