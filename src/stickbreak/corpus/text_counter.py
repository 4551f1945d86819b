"""Counts of all words of texts: by our own table where words are defined as usual, else by scikit-learn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Self
from unicodedata import normalize

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import in_columns
from stickbreak.corpus.encoded_words import EncodedWords
from stickbreak.corpus.phrases import find_phrases
from stickbreak.corpus.pruning import document_limits
from stickbreak.corpus.reading.text_blocks import TextBlock
from stickbreak.corpus.stop_word_lists import stop_words_of
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.corpus.token_sequences import TokenSequences, neighbours
from stickbreak.corpus.tokenizers import cutting
from stickbreak.corpus.unicode_words import unicode_words
from stickbreak.corpus.validation import checked_vocabulary
from stickbreak.corpus.word_table import WordTable
from stickbreak.exceptions import InvalidCorpus

__all__ = ["count_all", "count_blocks", "found_phrases", "ignored_words", "token_sequences"]


@dataclass(frozen=True, slots=True)
class _Known:
    """A vocabulary that has been checked.

    Attributes
    ----------
    words : tuple of str
    column_of : dict
        The column of each word.
    longest : int
        Most words of an n-gram.
    """

    words: tuple[str, ...]
    column_of: dict[str, int]
    longest: int

    @classmethod
    def of(cls, vocabulary: Sequence[str]) -> Self:
        """Check a vocabulary; one that was checked lately is known by then, as text after text comes to one model."""
        if type(vocabulary) is tuple:
            try:
                return cls._remembered(vocabulary)
            except TypeError:  # it holds what has no hash, and so no words
                pass
        return cls._checked(vocabulary)

    @classmethod
    @lru_cache(maxsize=4)
    def _remembered(cls, vocabulary: tuple[str, ...]) -> Self:
        return cls._checked(vocabulary)

    @classmethod
    def _checked(cls, vocabulary: Sequence[str]) -> Self:
        words = checked_vocabulary(vocabulary, (1, len(vocabulary)))
        if not words:
            raise InvalidCorpus("the vocabulary to count is empty; give at least one word")
        return cls(words, {word: column for column, word in enumerate(words)}, 1 + max(w.count(" ") for w in words))


def count_all(
    texts: Iterable[str], options: TextOptions, vocabulary: Sequence[str] | None = None
) -> tuple[sp.csr_matrix, Sequence[str]]:
    """Count all words of texts that are not stop words, or those of a vocabulary.

    Parameters
    ----------
    texts : iterable of str
        Composed (NFC). They are taken one at a time.
    options : TextOptions
        How text becomes counts; `min_df`, `max_df` and `max_features` are not looked at.
    vocabulary : sequence of str, optional
        The words to count.

    Returns
    -------
    counts : csr_matrix of int32 of shape (D, W)
        No duplicates; the columns of a row need not ascend.
    words : sequence of str of length W
        In any order; the vocabulary in its own.
    """
    known = None if vocabulary is None else _Known.of(vocabulary)
    if not _is_usual(options, known):
        return _count_otherwise(texts, options, known)
    table = _table(options, known)
    return _of_vocabulary(table.counts(texts), table.words, known)


def count_blocks(
    blocks: Iterable[TextBlock], options: TextOptions, vocabulary: Sequence[str] | None = None
) -> tuple[sp.csr_matrix, EncodedWords | None]:
    """Count words as `count_all` does, of texts that come many at once and need not be composed.

    Parameters
    ----------
    blocks : iterable of TextBlock
    options, vocabulary
        As of `count_all`.

    Returns
    -------
    counts : csr_matrix of int32 of shape (D, W)
    words : EncodedWords or None
        Of each column; None where a vocabulary says what they are.
    """
    known = None if vocabulary is None else _Known.of(vocabulary)
    if not _is_usual(options, known):
        texts = (normalize("NFC", text) for block in blocks for text in block.texts())
        counts, found = _count_otherwise(texts, options, known)
        return counts, None if known else EncodedWords.of(found)
    table = _table(options, known)
    counts = table.counts_of_blocks(blocks)
    return (counts, table.encoded) if known is None else (_of_vocabulary(counts, table.words, known)[0], None)


def _is_usual(options: TextOptions, known: _Known | None) -> bool:
    """Whether our table knows such words."""
    others = options.token_pattern is not None or options.tokenizer is not None or options.phrases
    return not others and _longest(options, known) == 1


def _longest(options: TextOptions, known: _Known | None) -> int:
    """Return the most words of an n-gram."""
    longest = options.ngram_range[1]
    return longest if known is None or options.tokenizer is not None else max(longest, known.longest)


def _table(options: TextOptions, known: _Known | None) -> WordTable:
    ignored = ignored_words(options) if known is None else ()
    return WordTable(ignored, lowercase=bool(options.lowercase), prepare=preparation(options))


def _of_vocabulary(
    counts: sp.csr_matrix, found: list[str], known: _Known | None
) -> tuple[sp.csr_matrix, Sequence[str]]:
    """Return the counts of the words of a vocabulary; those of all words if there is none."""
    if known is None:
        return counts, found
    columns = np.array([known.column_of.get(word, -1) for word in found], np.int64)
    return in_columns(counts, columns, len(known.words)), known.words


def _count_otherwise(
    texts: Iterable[str], options: TextOptions, known: _Known | None
) -> tuple[sp.csr_matrix, Sequence[str]]:
    """Count phrases, n-grams, and words that our table does not know."""
    if options.phrases:
        return _of_vocabulary(*_joined(token_sequences(texts, options), options), known)
    return _count_by_scikit_learn(texts, options, known)


def token_sequences(texts: Iterable[str], options: TextOptions) -> TokenSequences:
    """Read the words of texts in their order, without stop words.

    Parameters
    ----------
    texts : iterable of str
        Composed (NFC). They are taken one at a time.
    options : TextOptions
    """
    prepare = preparation(options)
    if options.tokenizer is None:
        pattern = None if options.token_pattern is None else re.compile(options.token_pattern)
        split: Callable[[str], Iterable[str | None]] = partial(neighbours, pattern=pattern)
    else:
        split = cutting(options.tokenizer)
    ignored = {word for given in ignored_words(options) for word in split(prepare(given)) if word is not None}
    return TokenSequences.of(map(prepare, texts), split, frozenset(ignored))


def _joined(texts: TokenSequences, options: TextOptions) -> tuple[sp.csr_matrix, list[str]]:
    """Count words and the phrases that are known."""
    prepare, known = preparation(options), () if isinstance(options.phrases, bool) else options.phrases
    pairs = (prepare(normalize("NFC", phrase)).split() for phrase in known)
    return texts.joined((pair[0], pair[1]) for pair in pairs if len(pair) == 2).counts()


def found_phrases(texts: Iterable[str], options: TextOptions) -> tuple[sp.csr_matrix, list[str], TextOptions]:
    """Find the phrases of texts; return the counts, the words, and the options with these phrases."""
    sequences = token_sequences(texts, options)
    least, _ = document_limits(options, sequences.starts.size - 1)
    phrases = tuple(" ".join(pair) for pair in find_phrases(sequences, least))
    options = replace(options, phrases=phrases)
    return *_joined(sequences, options), options


def ignored_words(options: TextOptions) -> frozenset[str]:
    """Return the words that options leave out."""
    given = options.stop_words
    return stop_words_of(given) if isinstance(given, str) else frozenset(given or ())


def preparation(options: TextOptions) -> Callable[[str], str]:
    """Return what makes a text lower case and takes its accents off, as far as that is wanted."""
    if options.strip_accents is None:
        return str.lower if options.lowercase else str
    from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

    strip = strip_accents_ascii if options.strip_accents == "ascii" else strip_accents_unicode
    return (lambda text: strip(text.lower())) if options.lowercase else strip


def _count_by_scikit_learn(
    texts: Iterable[str], options: TextOptions, known: _Known | None
) -> tuple[sp.csr_matrix, Sequence[str]]:
    """Count n-grams, or words of another pattern."""
    n_texts = 0

    def numbered() -> Iterator[str]:
        nonlocal n_texts
        for text in texts:
            n_texts += 1
            yield text

    vectorizer = _vectorizer(options, None if known is None else known.words, _longest(options, known))
    try:
        counts = vectorizer.fit_transform(numbered())
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        return sp.csr_matrix(np.empty((n_texts, 0), np.int32)), []
    return sp.csr_matrix(counts), [str(word) for word in vectorizer.get_feature_names_out()]


def _vectorizer(options: TextOptions, vocabulary: Sequence[str] | None, longest: int) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    cut = cutting(options.tokenizer) if options.tokenizer is not None else unicode_words
    settings: dict[str, Any] = {
        "tokenizer": cut if options.token_pattern is None else None,
        "token_pattern": options.token_pattern,
        "lowercase": options.lowercase,
        "strip_accents": options.strip_accents,
        "dtype": np.int32,
    }
    stop_words = set(ignored_words(options))
    analyzer = CountVectorizer(**settings).build_analyzer()
    stop_words |= {token for word in stop_words for token in analyzer(word)}
    if vocabulary is not None:  # stop words matter only between the words of an n-gram
        stop_words = stop_words - set(vocabulary) if longest > 1 else set()
        settings["vocabulary"] = vocabulary
    settings["ngram_range"] = (options.ngram_range[0], longest)
    return CountVectorizer(stop_words=sorted(stop_words) if stop_words else None, **settings)
