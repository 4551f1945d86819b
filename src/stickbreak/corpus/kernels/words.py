"""The words of a block of UTF-8 text, found and counted by document in one pass over its bytes."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit

OTHER, LETTER, MARK, DIGIT = 0, 1, 2, 3  # kinds of characters; an underscore is a digit here
_SHORTEST = 3  # characters of a word
_PRIME = np.uint64(1099511628211)  # of the hash of Fowler, Noll and Vo (FNV-1a)
_HALF = np.uint64(32)


@njit(cache=True, nogil=True)
def count_block(
    text, ends, kinds, seed, slots, hashes, starts, arena, n_words, n_ignored, document_of, place_of, first
):
    """Count the words of the documents of a block; new words join the table.

    A word is a run of letters and marks that begins with a letter, has three or more characters, and touches no digit
    or underscore.

    Parameters
    ----------
    text : ndarray of uint8
        Valid UTF-8 of all documents, one after another, lower case if that is wanted.
    ends : ndarray of int64 of shape (D,)
        Where each document ends in `text`.
    kinds : ndarray of uint8
        The kind of each character by its code point; of the first 128 if all of the text is ASCII.
    seed : uint64
        Where a hash starts.
    slots : ndarray of int32 of shape (a power of two,)
        The table: a word plus one, 0 for none. At least twice as many as words that it can come to hold.
    hashes, starts, arena : ndarray of uint64, int64 (one more), uint8
        Of each word: its hash, where it begins in `arena`, its bytes there. With room for all that can be new.
    n_words : int
        Words in the table.
    n_ignored : int
        The first words of the table are not counted.
    document_of, place_of : ndarray of int64
        Of each word: the document that it was last in, and its entry there.
    first : int
        The number of the first document of this block; never that of an earlier one.

    Returns
    -------
    n_words : int
        Words in the table now.
    n_entries : int
    words, counts : ndarray of int32
        The first of them are the entries, document by document, in the order of the first occurrence.
    entries_end : ndarray of int64 of shape (D,)
        Where the entries of each document end.
    """
    most = text.size // _SHORTEST + 1
    words, counts = np.empty(most, np.int32), np.empty(most, np.int32)
    entries_end = np.empty(ends.size, np.int64)
    mask = np.uint64(slots.size - 1)
    n_entries, at = 0, 0
    for d in range(ends.size):
        end = ends[d]
        while at < end:
            begin = at
            kind, at = _next(text, at, kinds)
            if kind == OTHER:
                continue
            fits, n, h, stop = kind == LETTER, 0, seed, at
            while True:
                for i in range(begin if n == 0 else stop, at):
                    h = (h ^ np.uint64(text[i])) * _PRIME
                n, stop = n + 1, at
                if at >= end:
                    break
                kind, at = _next(text, at, kinds)
                if kind == OTHER:
                    break
                fits = fits and kind != DIGIT
            if not fits or n < _SHORTEST:
                continue
            h ^= h >> _HALF
            word, slot = _find(text, begin, stop, h, mask, slots, hashes, starts, arena)
            if word < 0:
                word, n_words = n_words, n_words + 1
                slots[slot], hashes[word], document_of[word] = n_words, h, -1
                for i in range(stop - begin):
                    arena[starts[word] + i] = text[begin + i]
                starts[n_words] = starts[word] + stop - begin
            if word < n_ignored:
                continue
            if document_of[word] == first + d:
                counts[place_of[word]] += 1
            else:
                document_of[word], place_of[word] = first + d, n_entries
                words[n_entries], counts[n_entries] = word, 1
                n_entries += 1
        entries_end[d] = n_entries
    return n_words, n_entries, words, counts, entries_end


@njit(cache=True, inline="always")
def _next(text, at, kinds):
    """Return the kind of the character at a place, and where the next one begins."""
    byte = text[at]
    if byte < 0x80:
        return kinds[byte], at + 1
    if byte < 0xE0:
        return kinds[(np.int64(byte) & 0x1F) << 6 | np.int64(text[at + 1]) & 0x3F], at + 2
    if byte < 0xF0:
        point = (np.int64(byte) & 0x0F) << 12 | (np.int64(text[at + 1]) & 0x3F) << 6 | np.int64(text[at + 2]) & 0x3F
        return kinds[point], at + 3
    high = (np.int64(byte) & 0x07) << 18 | (np.int64(text[at + 1]) & 0x3F) << 12
    return kinds[high | (np.int64(text[at + 2]) & 0x3F) << 6 | np.int64(text[at + 3]) & 0x3F], at + 4


@njit(cache=True, inline="always")
def _find(text, begin, stop, h, mask, slots, hashes, starts, arena):
    """Return a word of the table (-1: it is new) and its slot."""
    slot = h & mask
    while True:
        word = slots[slot] - 1
        if word < 0:
            return word, slot
        if hashes[word] == h and starts[word + 1] - starts[word] == stop - begin:
            i = 0
            while i < stop - begin and arena[starts[word] + i] == text[begin + i]:
                i += 1
            if i == stop - begin:
                return word, slot
        slot = (slot + np.uint64(1)) & mask


@njit(cache=True, nogil=True)
def rehash(slots, hashes, n_words):
    """Enter words in the empty slots of a larger table.

    Parameters
    ----------
    slots : ndarray of int32 of shape (a power of two,)
        All zero; filled here.
    hashes : ndarray of uint64
        Of each word.
    n_words : int
        How many they are.
    """
    mask = np.uint64(slots.size - 1)
    for word in range(n_words):
        slot = hashes[word] & mask
        while slots[slot]:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word + 1
