"""LDA-C: a document on each line, "M word:count word:count ..." with M different words, numbered from 0."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.files import open_binary
from stickbreak.corpus.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.exceptions import ReadError

__all__ = ["read_ldac"]

_LINE = re.compile(rb"\s*\d+(?:\s+\d+:\d+)*\s*")
_SEPARATE = bytes.maketrans(b":", b" ")
_LARGEST = 2**31 - 1
_MOST_DIGITS = 19  # of a number that can be shown; Python refuses to convert thousands of digits


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

    Returns
    -------
    csr_matrix of shape (D, W), int32
        A line "0" is an empty document.

    Raises
    ------
    ReadError
        For a malformed line, or a word beyond `n_words`; the line is named.
    """
    rows: list[np.ndarray] = []
    empty_line = 0
    with open_binary(path, limits) as file:
        for number, line in enumerate(file, start=1):
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
    if not rows or n_words == 0:
        raise ReadError(f"{path} holds no words at all; a corpus needs at least one document with a word")
    matrix = sp.csr_matrix((entries[:, 1], entries[:, 0], indptr), shape=(len(rows), n_words))
    matrix.has_canonical_format = False  # words may come in any order, or twice
    matrix.has_sorted_indices = False
    return matrix


def _document(line: bytes, where: str, n_words: int | None, vocabulary_source: str) -> np.ndarray:
    """Parse a line: int32 array of shape (M, 2) of words and counts."""
    if _LINE.fullmatch(line) is None:
        fields = line.split()
        bad = next((f for f in fields[1:] if re.fullmatch(rb"\d+:\d+", f) is None), fields[0])
        shown = bad.decode("utf-8", "backslashreplace")
        raise ReadError(f"{where} holds {shown!r:.60}; it must read 'M word:count word:count ...' in whole numbers")
    fields = line.translate(_SEPARATE).split()
    longest = max(fields, key=len)
    if len(longest) > _MOST_DIGITS:
        raise ReadError(f"{where} holds a number of {len(longest)} digits; words and counts must be below 2^31")
    numbers = [int(field) for field in fields]
    M = len(numbers) // 2
    if numbers[0] != M:
        raise ReadError(
            f"{where} declares {numbers[0]} words but holds {M}; the line is cut off or its first number is wrong"
        )
    largest = max(numbers)
    if largest > _LARGEST:
        raise ReadError(f"{where} holds the number {largest}; words and counts must be below 2^31")
    pairs = np.array(numbers[1:], dtype=np.int32).reshape(M, 2)
    if n_words is not None and M and pairs[:, 0].max() >= n_words:
        raise ReadError(
            f"{where} names word {pairs[:, 0].max()} but {vocabulary_source} has {n_words} words, numbered "
            "from 0; give the vocabulary that belongs to these counts"
        )
    return pairs
