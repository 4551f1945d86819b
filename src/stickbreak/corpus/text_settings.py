"""How text becomes counts: the options, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import regex

from stickbreak.corpus.stop_word_lists import ENGLISH, stop_words_of
from stickbreak.exceptions import InputError


@dataclass(frozen=True, slots=True)
class TextOptions:
    r"""How text becomes counts.

    Attributes
    ----------
    stop_words : str, tuple of str or None
        Words to leave out: a language ("english", "german", ...: see `stickbreak.corpus.languages`), or your own. They
        are lowercased and tokenized like the text. For both together give
        `[*stickbreak.corpus.stop_words_of("german"), "firma"]`.
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
    phrases : bool, int or tuple of str
        Count phrases, such as "new york", as words of their own. True: those of two words in the texts, found by how
        much more often than by chance their words are neighbours (docs/math (W1)); a corpus and a model remember them.
        A number n from 2 to 5: phrases of two to n words. A tuple: your own phrases. A phrase is written with blanks
        between its words, and these words are not counted a second time. Where phrases share words the longest one
        counts, then the first. Blanks and hyphens may stand between them in the text, but no stop words or other signs.
    strip : "auto", sequence of {"html", "urls"} or None
        Leave out HTML tags (and write entities such as `&amp;` as the signs that they stand for), and addresses: URLs,
        e-mail, @names. "auto": those that a tenth of the first texts have, as a corpus and a model remember. None:
        nothing.
    tokenizer : callable, str or None
        Your own function from a text to a list of words, for languages without spaces (`jieba.lcut`, say), in place of
        `token_pattern`. Words without a letter or digit are left out. It is saved by its name alone, "jieba:lcut": the
        function is to be given again to `stickbreak.load`. A name in its place must be exchanged for the function
        before texts are counted.

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
    phrases: bool | int | tuple[str, ...] = False
    tokenizer: Callable[[str], Iterable[str]] | str | None = None
    strip: str | tuple[str, ...] | None = "auto"

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
        object.__setattr__(self, "strip", _checked_strip(self.strip))
        _check_pattern(self.token_pattern)
        object.__setattr__(self, "phrases", _checked_phrases(self.phrases))
        if not (self.tokenizer is None or isinstance(self.tokenizer, str) or callable(self.tokenizer)):
            raise InputError(f"tokenizer is {self.tokenizer!r:.40}; give a function from a text to a list of words")
        if self.phrases and self.ngram_range != (1, 1):
            raise InputError("phrases and ngram_range both join words; give one of them")
        if self.tokenizer is not None and self.token_pattern is not None:
            raise InputError("tokenizer and token_pattern both say what a word is; give one of them")

    @property
    def stripped(self) -> tuple[str, ...]:
        """What is left out of texts for certain: "html", "urls"."""
        return self.strip if isinstance(self.strip, tuple) else ()

    @property
    def finds_phrases(self) -> bool:
        """Whether phrases are to be found in the texts."""
        return self.phrases is True or (isinstance(self.phrases, int) and self.phrases > 1)

    @property
    def is_turkish(self) -> bool:
        """Whether the small letter of I has no dot."""
        return bool(self.lowercase) and self.stop_words == "turkish"

    @property
    def tokenizer_name(self) -> str | None:
        """The tokenizer as "module:function"; None where there is none."""
        given = self.tokenizer
        if given is None or isinstance(given, str):
            return given
        known = given if hasattr(given, "__qualname__") else type(given)
        return f"{known.__module__}:{known.__qualname__}"

    def as_plain(self) -> dict[str, Any]:
        """Return the options for JSON."""
        return {**asdict(replace(self, tokenizer=None)), "tokenizer": self.tokenizer_name}

    @classmethod
    def from_plain(cls, known: Mapping[str, Any]) -> Self:
        """Return what `as_plain` returned.

        Parameters
        ----------
        known : mapping

        Raises
        ------
        TypeError, InputError
            If it is something else.
        """
        return cls(**known)


def checked_options(text: object) -> TextOptions:
    """Return how text becomes counts; the default for None."""
    if not (text is None or isinstance(text, TextOptions)):
        raise InputError(f"text is {text!r:.40}; give stickbreak.corpus.TextOptions(...) or None")
    return text or TextOptions()


_STRIPPED = ("ascii", "unicode")
_MOST_WORDS = 5  # of a phrase


def _is_whole(value: Any, least: int) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def _checked_stop_words(value: Any) -> str | tuple[str, ...] | None:
    if value is None or (isinstance(value, str) and value == ENGLISH):
        return value
    if isinstance(value, str):
        stop_words_of(value)  # refuses what is no language
        return str(value)
    words = tuple(value) if isinstance(value, Iterable) else None
    if words is None or not all(isinstance(word, str) for word in words):
        raise InputError(f"stop_words is {value!r:.40}; give the name of a language, None or a list of words")
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


def _checked_strip(value: Any) -> str | tuple[str, ...] | None:
    if value is None or (isinstance(value, str) and value == "auto"):
        return value
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ("",)
    if not all(isinstance(name, str) and name in ("html", "urls") for name in names):
        raise InputError(f"strip is {value!r:.40}; give 'auto', None, or a list of 'html' and 'urls'")
    return tuple(dict.fromkeys(names))


def _checked_phrases(value: Any) -> bool | int | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if _is_whole(value, 2) and value <= _MOST_WORDS:
        return int(value)
    phrases = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) else None
    if phrases is None or not all(
        isinstance(phrase, str) and 2 <= len(phrase.split()) <= _MOST_WORDS for phrase in phrases
    ):
        raise InputError(
            f"phrases is {value!r:.60}; give True, False, a number from 2 to {_MOST_WORDS}, or a list of phrases of 2 "
            f"to {_MOST_WORDS} words"
        )
    return phrases


def _check_pattern(pattern: Any) -> None:
    if not (pattern is None or isinstance(pattern, str)):
        raise InputError(f"token_pattern is {pattern!r:.40}; give a regular expression as a string, or None")
    if pattern == "":
        raise InputError("token_pattern is empty, which finds no word; give a regular expression, or None")
    try:
        groups = regex.compile(pattern or "").groups
    except (regex.error, OverflowError, RecursionError) as error:
        raise InputError(f"token_pattern {pattern!r:.60} is not a regular expression: {error}") from error
    if groups > 1:
        raise InputError(f"token_pattern {pattern!r:.60} has {groups} groups; use (?:...) for all groups but one")
