"""Texts as sequences of words, where the order of words matters: to find phrases and to join them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import assemble_csr
from stickbreak.corpus.unicode_words import word_pattern

__all__ = ["TokenSequences", "neighbours"]

_BETWEEN = re.compile(r"[\s\-\u2010\u2011]+")  # what may stand between the words of a phrase: blanks and hyphens
_BREAK, _GONE = -1, -2


def neighbours(text: str, pattern: re.Pattern[str] | None) -> Iterator[str | None]:
    """Yield the words of a text, and None where others than blanks and hyphens stand between two words.

    Parameters
    ----------
    text : str
        Prepared: lower case, say.
    pattern : re.Pattern or None
        Of a word, with one group at most; None: the usual words.

    Examples
    --------
    >>> list(neighbours("new york, well-known", None))
    ['new', 'york', None, 'well', 'known']
    """
    found, end = word_pattern(text) if pattern is None else pattern, None
    group = found.groups
    for match in found.finditer(text):
        if end is not None and text[end : match.start()] != " " and not _BETWEEN.fullmatch(text, end, match.start()):
            yield None
        end = match.end()
        yield match[group]


@dataclass(frozen=True, slots=True)
class TokenSequences:
    """The words of texts in their order, as numbers.

    Attributes
    ----------
    ids : ndarray of int32
        The number of each word; -1 where two words do not stand together, and before each text.
    starts : ndarray of int64 of shape (D + 1,)
        Where each text begins.
    words : list of str
        Of each number.
    """

    ids: np.ndarray
    starts: np.ndarray
    words: list[str]

    @classmethod
    def of(
        cls, texts: Iterable[str], split: Callable[[str], Iterable[str | None]], ignored: frozenset[str] = frozenset()
    ) -> Self:
        """Read texts, one at a time.

        Parameters
        ----------
        texts : iterable of str
        split : callable
            Returns the words of a text, with None where two do not stand together.
        ignored : frozenset of str
            Words that are left out; those on their two sides do not stand together.
        """
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

    def joined(self, phrases: Iterable[tuple[str, str]]) -> Self:
        """Join the words of phrases by a blank, in the order of the text: a word belongs to one phrase, the first.

        Parameters
        ----------
        phrases : iterable of (str, str)
        """
        number = {word: place for place, word in enumerate(self.words)}
        V = len(self.words)
        known = {
            number[a] * V + number[b]: f"{a} {b}" for a, b in dict.fromkeys(phrases) if a in number and b in number
        }
        if not known:
            return self
        keys = np.array(sorted(known), np.int64)
        found, pair = self.pairs(0, self.ids.size)
        place = np.minimum(np.searchsorted(keys, pair), keys.size - 1)
        found &= keys[place] == pair
        places = np.flatnonzero(found)
        run_begins = np.ones(places.size, bool)
        run_begins[1:] = np.diff(places) > 1
        within = np.arange(places.size) - np.maximum.accumulate(np.where(run_begins, np.arange(places.size), 0))
        first = places[within % 2 == 0]
        ids = self.ids.copy()
        ids[first] = V + place[first]
        ids[first + 1] = _GONE
        kept = ids != _GONE
        before = np.concatenate(([0], np.cumsum(kept)))
        words = [*self.words, *(known[int(key)] for key in keys)]
        return type(self)(ids[kept], before[self.starts], words)

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
