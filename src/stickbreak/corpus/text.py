"""Text to counts, by scikit-learn's CountVectorizer with defaults made for topics."""

from __future__ import annotations

import logging
import math
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.arguments import advice_for, kind_of
from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.spaceless import UNCUT, is_uncut
from stickbreak.corpus.unicode_words import unicode_words
from stickbreak.corpus.validation import checked_vocabulary
from stickbreak.exceptions import InputError, InvalidCorpus

__all__ = ["TextOptions", "count_texts"]

_LOG = logging.getLogger("stickbreak")

_SMALL_COLLECTION = 20  # documents; below it a share of documents means nothing
_CONTRACTIONS = "ain aren couldn didn doesn don hadn hasn isn mightn mustn needn shouldn wasn weren wouldn"


@dataclass(frozen=True, slots=True)
class TextOptions:
    r"""How text becomes counts.

    Attributes
    ----------
    stop_words : "english", tuple of str or None
        Words to leave out. "english" is scikit-learn's list, together with the stems of contractions
        ("don", "doesn", ...). Your own words are lowercased and tokenized like the text.
    min_df : int or float
        Leave out words that are in fewer documents (an int is a number of documents, a float a share of
        them). A number is lowered for small collections, to at most one document in twenty, and at least 1.
        The default 5 thus applies from 100 documents upwards; below 40 documents all words are kept.
    max_df : int or float
        Leave out words that are in more documents. A share is ignored for fewer than 20 documents.
    max_features : int or None
        Keep at most this number of words, the most frequent ones.
    ngram_range : tuple of (int, int)
        Lengths of the n-grams to count. (1, 2) also counts pairs of neighbouring words.
    token_pattern : str or None
        Regular expression of a word. None: three or more letters of any script with their combining marks,
        not next to a digit or an underscore. Text in languages written without spaces must be split into
        words beforehand. Their words are short, so Chinese and Japanese need "[^\W\d_]{2,}".
    lowercase : bool
        Make the text lower case first.
    strip_accents : "ascii", "unicode" or None
        Remove accents first.

    Examples
    --------
    >>> TextOptions(min_df=1).ngram_range
    (1, 1)
    """

    stop_words: str | tuple[str, ...] | None = "english"
    min_df: int | float = 5
    max_df: int | float = 0.5
    max_features: int | None = None
    ngram_range: tuple[int, int] = (1, 1)
    token_pattern: str | None = None
    lowercase: bool = True
    strip_accents: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop_words", _checked_stop_words(self.stop_words))
        for field in ("min_df", "max_df"):
            object.__setattr__(self, field, _checked_frequency(field, getattr(self, field)))
        if self.max_features is not None and not _is_whole(self.max_features, 1):
            raise InputError(f"max_features is {self.max_features!r:.40}; give None or a number from 1 upwards")
        object.__setattr__(self, "ngram_range", _checked_range(self.ngram_range))
        if not (isinstance(self.lowercase, (int, np.bool_)) and self.lowercase in (0, 1)):
            raise InputError(f"lowercase is {self.lowercase!r:.40}; give True or False")
        if not (
            self.strip_accents is None or (isinstance(self.strip_accents, str) and self.strip_accents in _STRIPPED)
        ):
            raise InputError(f"strip_accents is {self.strip_accents!r:.40}; give 'ascii', 'unicode' or None")
        _check_pattern(self.token_pattern)


_STRIPPED = ("ascii", "unicode")


def _is_whole(value: Any, least: int) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def _checked_stop_words(value: Any) -> str | tuple[str, ...] | None:
    if value is None or (isinstance(value, str) and value == "english"):
        return value
    words = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
    if words is None or not all(isinstance(word, str) for word in words):
        raise InputError(f"stop_words is {value!r:.40}; give 'english', None or a list of words")
    return words


def _checked_frequency(field: str, value: Any) -> int | float:
    """Return a number of documents as int, a share of them as float."""
    if _is_whole(value, 1):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 <= float(value) <= 1:
        return float(value)
    raise InputError(f"{field} is {value!r:.40}; give a number of documents (1, 2, ...) or a share from 0.0 to 1.0")


def _checked_range(value: Any) -> tuple[int, int]:
    pair = tuple(value) if isinstance(value, Iterable) else ()  # also lists, as JSON gives them
    if len(pair) != 2 or not all(_is_whole(end, 1) for end in pair) or pair[0] > pair[1]:
        raise InputError(f"ngram_range is {value!r:.40}; give (low, high) with 1 <= low <= high")
    return int(pair[0]), int(pair[1])


def _check_pattern(pattern: Any) -> None:
    if not (pattern is None or isinstance(pattern, str)):
        raise InputError(f"token_pattern is {pattern!r:.40}; give a regular expression as a string, or None")
    try:
        groups = re.compile(pattern or "").groups
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"token_pattern {pattern!r:.60} is not a regular expression: {error}") from error
    if groups > 1:
        raise InputError(f"token_pattern {pattern!r:.60} has {groups} groups; use (?:...) for all groups but one")


def count_texts(
    texts: Iterable[str],
    options: TextOptions = TextOptions(),
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
    counts, words = _counted(_normalised(_checked_texts(texts)), options, vocabulary)
    if vocabulary is None:
        uncut = is_uncut(words, np.bincount(counts.indices, weights=counts.data, minlength=len(words)).tolist())
        if uncut:
            _LOG.warning("%s", UNCUT)
        kept = _kept(counts, options, uncut=uncut)
        if kept.size < counts.shape[1]:
            counts, words = counts[:, kept], [words[column] for column in kept]
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


def _normalised(texts: Iterable[Any]) -> Iterator[str]:
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


def _counted(
    texts: Iterator[str], options: TextOptions, vocabulary: Sequence[str] | None
) -> tuple[sp.csr_matrix, list[str]]:
    """Count all words (or those of `vocabulary`) that are not stop words."""
    vectorizer = _vectorizer(options, vocabulary)
    try:
        counts = vectorizer.fit_transform(texts)
    except InputError:
        raise
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise InvalidCorpus(
            "no word is left: token_pattern finds no words in the texts, or only stop words; change "
            "token_pattern or stop_words"
        ) from error
    return sp.csr_matrix(counts), [str(word) for word in vectorizer.get_feature_names_out()]


def english_stop_words() -> frozenset[str]:
    """Return what `stop_words="english"` stands for: scikit-learn's list and the stems of contractions."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS | set(_CONTRACTIONS.split())


def _vectorizer(options: TextOptions, vocabulary: Sequence[str] | None) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    settings: dict[str, Any] = {
        "tokenizer": unicode_words if options.token_pattern is None else None,
        "token_pattern": options.token_pattern,
        "lowercase": options.lowercase,
        "strip_accents": options.strip_accents,
        "dtype": np.int32,
    }
    stop_words = set(english_stop_words() if options.stop_words == "english" else options.stop_words or ())
    analyzer = CountVectorizer(**settings).build_analyzer()
    stop_words |= {token for word in stop_words for token in analyzer(word)}
    if vocabulary is None:
        settings["ngram_range"] = options.ngram_range
    else:  # stop words matter only between the words of an n-gram
        vocabulary = _checked_vocabulary(vocabulary)
        longest = max(options.ngram_range[1], 1 + max(word.count(" ") for word in vocabulary))
        stop_words = stop_words - set(vocabulary) if longest > 1 else set()
        settings |= {"vocabulary": vocabulary, "ngram_range": (options.ngram_range[0], longest)}
    return CountVectorizer(stop_words=sorted(stop_words) if stop_words else None, **settings)


def _checked_vocabulary(vocabulary: Sequence[str]) -> tuple[str, ...]:
    words = checked_vocabulary(vocabulary, (1, len(vocabulary)))
    if not words:
        raise InvalidCorpus("the vocabulary to count is empty; give at least one word")
    return words


def _kept(counts: sp.csr_matrix, options: TextOptions, *, uncut: bool) -> np.ndarray:
    """Choose the columns that min_df, max_df and max_features keep: ndarray of int, increasing."""
    D, W = counts.shape
    document_frequency = np.bincount(counts.indices, minlength=W)
    least, most = _document_limits(options, D)
    rare, common = document_frequency < least, document_frequency > most
    kept = np.flatnonzero(~rare & ~common)
    if kept.size == 0 and uncut:
        raise InvalidCorpus(f"no word is left of {W} in {D} documents: {UNCUT}")
    if kept.size == 0:
        raise InvalidCorpus(
            f"no word is left of {W} different words in {D} documents: min_df={options.min_df} removes "
            f"{rare.sum()} and max_df={options.max_df} removes {common.sum()}; lower min_df, raise max_df, or find "
            "other words with token_pattern"
        )
    if options.max_features is not None and kept.size > options.max_features:
        totals = np.bincount(counts.indices, weights=counts.data, minlength=W)[kept]
        kept = np.sort(kept[np.argsort(-totals, kind="stable")[: options.max_features]])
    return kept


def _document_limits(options: TextOptions, n_documents: int) -> tuple[float, float]:
    """Give the least and the largest number of documents that a word may be in."""
    least: float = options.min_df
    if isinstance(least, int):
        allowed = max(1, n_documents // _SMALL_COLLECTION)
        if allowed < least:
            _LOG.info("min_df=%d is lowered to %d for %d documents", least, allowed, n_documents)
        least = min(least, allowed)
    else:
        least = least * n_documents
    most: float = options.max_df
    if not isinstance(most, int):
        most = math.inf if n_documents < _SMALL_COLLECTION else most * n_documents
    return least, most
