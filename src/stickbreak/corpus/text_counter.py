"""Counts of all words of texts: by our own table where words are defined as usual, else by scikit-learn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import in_columns
from stickbreak.corpus.phrases import find_phrases
from stickbreak.corpus.preparing import preparation
from stickbreak.corpus.pruning import document_limits
from stickbreak.corpus.reading.blocks import Block, arrow_texts
from stickbreak.corpus.stop_word_lists import ENGLISH, stop_words_of
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.corpus.token_sequences import TokenSequences, neighbours
from stickbreak.corpus.tokenizers import cutting
from stickbreak.corpus.unicode_words import unicode_words
from stickbreak.corpus.validation import checked_vocabulary
from stickbreak.corpus.word_table import WordTable
from stickbreak.exceptions import InvalidCorpus

__all__ = ["count_blocks", "found_phrases", "ignored_words", "token_sequences"]


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
        n_words = len(vocabulary) if isinstance(vocabulary, Sized) else 0
        words = checked_vocabulary(vocabulary, (1, n_words))
        if not words:
            raise InvalidCorpus("the vocabulary to count is empty; give at least one word")
        return cls(words, {word: column for column, word in enumerate(words)}, 1 + max(w.count(" ") for w in words))


def count_blocks(
    blocks: Iterable[Block], options: TextOptions, vocabulary: Sequence[str] | None = None
) -> tuple[sp.csr_matrix, Any]:
    """Count all words of texts that are not stop words, or those of a vocabulary.

    Parameters
    ----------
    blocks : iterable of Block
        Texts, or lists of words, which are counted as they are.
    options : TextOptions
        How text becomes counts; `min_df`, `max_df` and `max_features` are not looked at.
    vocabulary : sequence of str, optional
        The words to count.

    Returns
    -------
    counts : csr_matrix of int32 of shape (D, W)
        No duplicates; the columns of a row need not ascend.
    words : pyarrow.Array of strings of shape (W,)
        In any order; the vocabulary in its own.
    """
    known = None if vocabulary is None else _Known.of(vocabulary)
    is_cut, texts = _peeked(blocks)
    if is_cut:
        counts, words = _count_lists(texts, options)
    elif _is_usual(options, known):
        table = WordTable(
            ignored_words(options) if known is None else (),
            lowercase=bool(options.lowercase),
            prepare=preparation(options),
            always=bool(options.stripped) or options.is_turkish,
        )
        counts = table.counts(_texts_of(texts))
        words = table.words
    else:
        prepared = (text for some in _texts_of(texts) for text in some.to_pylist())
        counts, words = _count_otherwise(prepared, options, known)
        words = arrow_texts(words)
    if known is None:
        return counts, words
    columns = np.array([known.column_of.get(word, -1) for word in words.to_pylist()], np.int64)
    return in_columns(counts, columns, len(known.words)), arrow_texts(known.words)


def _peeked(blocks: Iterable[Block]) -> tuple[bool, Iterator[Block]]:
    """Return whether the first document that is not empty is a list of words, and all blocks."""
    seen: list[Block] = []
    rest = iter(blocks)
    for block in rest:
        seen.append(block)
        if not block.is_empty:
            return block.is_cut, chain(seen, rest)
    return bool(seen) and seen[0].is_cut, iter(seen)


def _texts_of(blocks: Iterable[Block]) -> Iterator[Any]:
    """Give the texts; an empty list of words among them is an empty text."""
    for block in blocks:
        if block.is_cut:
            if not block.is_empty:
                raise InvalidCorpus("some documents are texts and others are lists of words; give one or the other")
            yield arrow_texts([""] * len(block))
        else:
            yield block.texts


def _count_lists(blocks: Iterable[Block], options: TextOptions) -> tuple[sp.csr_matrix, Any]:
    """Count lists of words as they are; only stop words that were asked for by name are left out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chunks, ends, n_before = [], [np.zeros(1, np.int64)], 0
    for block in blocks:
        if not block.is_cut:
            if not block.is_empty:
                raise InvalidCorpus("some documents are lists of words and others are texts; give one or the other")
            ends.append(np.full(len(block), n_before, np.int64))
            continue
        words = block.texts.flatten()
        sizes = np.asarray(pc.fill_null(pc.list_value_length(block.texts), 0)).astype(np.int64)
        ends.append(n_before + np.cumsum(sizes))
        n_before += len(words)
        chunks.append(words)
    encoded = pa.chunked_array(chunks, pa.large_string()).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    place = np.asarray(pc.fill_null(encoded.indices, -1)).astype(np.int64)
    words = encoded.dictionary
    ignored = () if options.stop_words in (None, ENGLISH) else ignored_words(options)
    left_out = np.asarray(pc.is_in(words, value_set=pa.array([*ignored, ""], words.type)))
    inside = (place >= 0) & ~np.concatenate([left_out, [True]])[place]
    indptr = np.concatenate(ends)
    document = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    kept = np.flatnonzero(~left_out)
    column = np.full(len(words) + 1, -1)
    column[kept] = np.arange(kept.size)
    ones = np.ones(int(inside.sum()), np.int32)
    entries = (ones, (document[inside], column[place[inside]]))
    return sp.coo_matrix(entries, shape=(indptr.size - 1, kept.size)).tocsr(), words.take(kept)


def _is_usual(options: TextOptions, known: _Known | None) -> bool:
    """Whether our table knows such words."""
    others = options.token_pattern is not None or options.tokenizer is not None or options.phrases
    return not others and _longest(options, known) == 1


def _longest(options: TextOptions, known: _Known | None) -> int:
    """Return the most words of an n-gram."""
    longest = options.ngram_range[1]
    return longest if known is None or options.tokenizer is not None else max(longest, known.longest)


def _count_otherwise(
    texts: Iterable[str], options: TextOptions, known: _Known | None
) -> tuple[sp.csr_matrix, Sequence[str]]:
    """Count phrases, n-grams, and words that our table does not know."""
    if options.phrases:
        return _joined(token_sequences(texts, options), options)
    return _count_by_scikit_learn(texts, options, known)


def token_sequences(texts: Iterable[str], options: TextOptions) -> TokenSequences:
    """Read the words of texts in their order, without stop words.

    Parameters
    ----------
    texts : iterable of str
        They are taken one at a time.
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
    prepare, known = preparation(options), options.phrases if isinstance(options.phrases, tuple) else ()
    return texts.joined(words for words in (prepare(phrase).split() for phrase in known) if len(words) > 1).counts()


def found_phrases(texts: Iterable[str], options: TextOptions) -> tuple[sp.csr_matrix, list[str], TextOptions]:
    """Find the phrases of texts; return the counts, the words, and the options with these phrases."""
    sequences = token_sequences(texts, options)
    least, _ = document_limits(options, sequences.starts.size - 1)
    longest = 2 if isinstance(options.phrases, bool | tuple) else options.phrases
    options = replace(options, phrases=tuple(find_phrases(sequences, least, longest)))
    return *_joined(sequences, options), options


def ignored_words(options: TextOptions) -> frozenset[str]:
    """Return the words that options leave out."""
    given = options.stop_words
    return stop_words_of(given) if isinstance(given, str) else frozenset(given or ())


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
        "preprocessor": preparation(options),
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
