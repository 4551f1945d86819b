"""Text to counts, with defaults made for topics."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from stickbreak.corpus.arguments import advice_for, kind_of
from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.csr import in_columns
from stickbreak.corpus.pruning import kept_words
from stickbreak.corpus.text_counter import count_all
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.exceptions import InputError, InvalidCorpus

__all__ = ["count_texts", "normalised"]

_DEFAULTS = TextOptions()


def count_texts(
    texts: Iterable[str],
    options: TextOptions = _DEFAULTS,
    names: Sequence[str] | None = None,
    *,
    vocabulary: Sequence[str] | None = None,
) -> Corpus:
    """Count the words of texts.

    Parameters
    ----------
    texts : iterable of str
        One text for each document. Texts are taken one at a time, so a generator need not hold them all.
    options : TextOptions
        How text becomes counts.
    names : sequence of str, optional
        The names of the documents.
    vocabulary : sequence of str, optional
        Count exactly these words (for example those of a fitted model), without pruning. Other words are
        ignored.

    Returns
    -------
    Corpus
        All documents, including those with no words left.

    Raises
    ------
    InvalidCorpus
        If there is no text, a text is not a string, or no word is left; the message says which option removed
        them.

    Examples
    --------
    >>> corpus = count_texts(["Bread and butter.", "Bread with butter", "Peanut butter"])
    >>> corpus.words
    ('bread', 'butter', 'peanut')
    >>> count_texts(["bread, bread"], vocabulary=corpus.words).counts.toarray()
    array([[2, 0, 0]], dtype=int32)
    """
    if not isinstance(options, TextOptions):
        raise InputError(f"options is {options!r:.40}; give stickbreak.corpus.TextOptions(...)")
    counts, words = count_all(normalised(_checked_texts(texts)), options, vocabulary)
    if vocabulary is None:
        document_frequency = np.bincount(counts.indices, minlength=len(words))
        totals = np.bincount(counts.indices, weights=counts.data, minlength=len(words)).astype(np.int64)
        kept = kept_words(words, document_frequency, totals, counts.shape[0], options)
        column_of = np.full(len(words), -1)
        column_of[kept] = np.arange(len(kept))
        counts, words = in_columns(counts, column_of, len(kept)), [words[place] for place in kept]
    return Corpus.from_counts(counts, words, names)


def _checked_texts(texts: Any) -> Iterable[Any]:
    """Refuse what is not a collection of texts, however it can be iterated over."""
    if isinstance(texts, str):
        raise InvalidCorpus("one text was given where many are needed; give a list of texts")
    if isinstance(texts, os.PathLike):
        raise InvalidCorpus(
            f"texts is the path {os.fspath(texts)!r:.60}; read a file with stickbreak.corpus.read(path)"
        )
    table = hasattr(texts, "columns") or hasattr(texts, "column_names") or hasattr(texts, "counts")
    numbers = getattr(getattr(texts, "dtype", None), "kind", "") in "biufc" and hasattr(texts, "dtype")
    if table or numbers or isinstance(texts, (bytes, bytearray, dict)) or not isinstance(texts, Iterable):
        advice = advice_for(texts) if table or numbers else "give a list of strings"
        raise InvalidCorpus(f"texts is {kind_of(texts)}, not a list of texts; {advice}")
    return texts


def _shown(value: object) -> str:
    return " ".join(f"{value!r:.40}".split())


def normalised(texts: Iterable[Any]) -> Iterator[str]:
    """Compose letters and accents (NFC), so that one word has one spelling."""
    row = -1
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            missing = " (for a missing text: '')" if text is None or text != text else ""
            raise InvalidCorpus(
                f"text {row} is {type(text).__name__} {_shown(text)}, not a string; give strings only{missing}"
            )
        yield text if text.isascii() else unicodedata.normalize("NFC", text)
    if row < 0:
        raise InvalidCorpus("there are no texts at all; a corpus needs at least one document")
