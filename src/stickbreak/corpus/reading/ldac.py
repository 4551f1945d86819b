"""LDA-C: a document on each line, "M word:count word:count ..." with M different words, numbered from 0."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.lines import binary_lines
from stickbreak.corpus.reading.number_lines import shown
from stickbreak.exceptions import ReadError

__all__ = ["read_ldac"]

_LINE = re.compile(rb"\s*+\d++(?:\s++\d++:\d++)*+\s*+")  # possessive: a long line takes no memory
_SEPARATE = bytes.maketrans(b":", b" ")
_LARGEST = 2**31 - 1
_MOST_DIGITS = 19  # of a number that can be shown
_TOO_LONG = re.compile(rb"\d{20,}+")


def read_ldac(
    path: Path,
    n_words: int | None,
    vocabulary_source: str = "the vocabulary",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> sp.csr_matrix:
    """Read counts in the format of Blei's lda-c.

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped.
    n_words : int or None
        Number of words W; None: as many as the file uses.
    vocabulary_source : str
        Where `n_words` comes from, for messages.
    limits : ReadLimits
        How long a line may be, and how far the largest number of a word is believed without `n_words`.

    Returns
    -------
    csr_matrix of shape (D, W), int32
        A line "0" is an empty document.

    Raises
    ------
    ReadError
        For a malformed line, or a word beyond `n_words` or beyond what the bytes make credible; the line is named.
    """
    rows: list[np.ndarray] = []
    empty_line = n_bytes = 0
    for number, line in enumerate(binary_lines(path, limits), start=1):
        n_bytes += len(line)
        if not line.strip():
            empty_line = empty_line or number
            continue
        if empty_line:
            raise ReadError(f"{path}, line {empty_line} is empty; write 0 for an empty document")
        rows.append(_document(line, f"{path}, line {number}", n_words, vocabulary_source))
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([row.shape[0] for row in rows], out=indptr[1:])
    entries = np.concatenate([*rows, np.zeros((0, 2), dtype=np.int32)])
    if n_words is None:
        n_words = int(entries[:, 0].max(initial=-1)) + 1
        limits.check_shape(path, (len(rows), n_words), n_bytes)
    if not rows or n_words == 0:
        raise ReadError(f"{path} holds no words at all; a corpus needs at least one document with a word")
    matrix = sp.csr_matrix((entries[:, 1], entries[:, 0], indptr), shape=(len(rows), n_words))
    matrix.has_canonical_format = False  # words may come in any order, or twice
    matrix.has_sorted_indices = False
    return matrix


def _document(line: bytes, where: str, n_words: int | None, vocabulary_source: str) -> np.ndarray:
    """Parse a line: int32 array of shape (M, 2) of words and counts."""
    if _LINE.fullmatch(line) is None:
        fields = (field.group() for field in re.finditer(rb"\S+", line))
        first = next(fields)
        bad = next((field for field in fields if re.fullmatch(rb"\d+:\d+", field) is None), first)
        raise ReadError(f"{where} holds {shown(bad)}; it must read 'M word:count word:count ...' in whole numbers")
    longest = _TOO_LONG.search(line)
    if longest is not None:
        digits = len(longest.group())
        raise ReadError(f"{where} holds a number of {digits} digits; words and counts must be below 2^31")
    numbers = np.fromstring(line.translate(_SEPARATE), dtype=np.uint64, sep=" ")  # from text: the lines are long
    M = len(numbers) // 2
    if numbers[0] != M:
        raise ReadError(
            f"{where} declares {numbers[0]} words but holds {M}; the line is cut off or its first number is wrong"
        )
    largest = numbers.max()
    if largest > _LARGEST:
        raise ReadError(f"{where} holds the number {largest}; words and counts must be below 2^31")
    pairs = numbers[1:].astype(np.int32).reshape(M, 2)
    if n_words is not None and M and pairs[:, 0].max() >= n_words:
        raise ReadError(
            f"{where} names word {pairs[:, 0].max()} but {vocabulary_source} has {n_words} words, numbered "
            "from 0; give the vocabulary that belongs to these counts"
        )
    return pairs
