"""Vocabulary files: one word a line, found by the usual names beside a file of counts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stickbreak.corpus.reading.decoding import decoded_lines
from stickbreak.corpus.reading.files import path_beside
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.exceptions import InputError, InvalidCorpus, ReadError
from stickbreak.storage.places import PathLike

__all__ = ["checked_words", "find_vocabulary", "given_words", "read_vocabulary", "vocabulary_for"]

_BESIDE = (
    "vocab.{}.txt",
    "{}.vocab",
    "{}.tokens",
    "{}.vocab.txt",
    "vocab_{}.txt",
    "vocab.txt",
    "vocabulary.txt",
)


def read_vocabulary(path: Path, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> tuple[str, ...]:
    """Read a vocabulary: line i is the word of column i (both from 0 upwards).

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped.
    encoding : str
        Its encoding.
    limits : ReadLimits
        How long a line may be, and how much a gzipped file may hold.

    Returns
    -------
    tuple of str

    Raises
    ------
    ReadError
        If the file cannot be read, is empty, or has an empty line between words.
    InvalidCorpus
        If a word occurs twice; both lines are named.
    """
    words = [line.rstrip("\r\n") for line in decoded_lines(path, encoding, limits)]
    while words and not words[-1]:
        words.pop()
    if not words:
        raise ReadError(f"{path} is empty; a vocabulary has one word on each line")
    line_of: dict[str, int] = {}
    for number, word in enumerate(words, start=1):
        if not word:
            raise ReadError(f"{path}, line {number} is empty; a vocabulary has one word on each line")
        if word in line_of:
            raise InvalidCorpus(
                f"{path} holds {word!r} twice, on the lines {line_of[word]} and {number}; rename one of the two"
            )
        line_of[word] = number
    return tuple(words)


def find_vocabulary(counts_path: Path) -> Path | None:
    """Find the vocabulary of a file of counts by the usual names.

    Parameters
    ----------
    counts_path : Path
        Such as docword.NAME.txt.gz or NAME.ldac.

    Returns
    -------
    Path or None
        The first that exists beside it of vocab.NAME.txt, NAME.vocab, NAME.tokens, NAME.vocab.txt,
        vocab_NAME.txt, vocab.txt, vocabulary.txt (or one of these with .gz).
    """
    name = counts_path.name.removesuffix(".gz")
    name = os.path.splitext(name)[0].removeprefix("docword").lstrip("._")
    for pattern in _BESIDE:
        if "{}" in pattern and not name:
            continue
        beside = path_beside(counts_path, pattern.format(name))
        if beside is not None and beside.name != counts_path.name:
            return beside
    return None


def checked_words(vocabulary: Any) -> tuple[str, ...] | PathLike | None:
    """Refuse what is neither words nor a path; the words themselves are checked with the counts.

    Raises
    ------
    InputError
        If it is neither.
    """
    if vocabulary is None or isinstance(vocabulary, (str, os.PathLike)):
        return vocabulary
    try:
        return tuple(vocabulary)
    except TypeError:
        raise InputError(f"vocabulary is {vocabulary!r:.40}; give a list of words or the path of a file") from None


def given_words(
    vocabulary: tuple[str, ...] | PathLike | None, encoding: str, limits: ReadLimits
) -> tuple[str, ...] | None:
    """Return the words that `checked_words` let pass, read where they are in a file."""
    if isinstance(vocabulary, (str, os.PathLike)):
        return tuple(read_vocabulary(Path(vocabulary), encoding, limits))
    return vocabulary


def vocabulary_for(
    counts_path: Path,
    given: Sequence[str] | PathLike | None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> tuple[tuple[str, ...] | None, str]:
    """Give the words of a file of counts, and where they come from.

    Parameters
    ----------
    counts_path : Path
        The counts.
    given : sequence of str, path or None
        The words, or the file that holds them, or None to look for a file beside the counts.
    encoding : str
        Of the vocabulary file.
    limits : ReadLimits
        Of the vocabulary file.

    Returns
    -------
    words : tuple of str or None
        None when there is no vocabulary.
    source : str
        For messages.
    """
    if given is None:
        found = find_vocabulary(counts_path)
        if found is None:
            return None, "no vocabulary"
        return read_vocabulary(found, encoding, limits), str(found)
    if isinstance(given, (str, os.PathLike)):
        return read_vocabulary(Path(given), encoding, limits), str(given)
    return tuple(given), "the given vocabulary"
