"""Text to counts, with defaults made for topics."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.arguments import advice_for, is_missing, kind_of
from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.csr import in_columns
from stickbreak.corpus.phrases import TokenSequences, find_phrases, neighbours
from stickbreak.corpus.preparing import preparation, settled
from stickbreak.corpus.pruning import document_limits, kept_words
from stickbreak.corpus.reading.blocks import Block, arrow_texts, blocks_of_texts
from stickbreak.corpus.stop_word_lists import ENGLISH, stop_words_of
from stickbreak.corpus.text_columns import (
    as_frame,
    column_of,
    is_frame,
    kept_columns,
    names_a_column,
    texts_in,
    texts_of,
)
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.corpus.validation import checked_vocabulary
from stickbreak.corpus.word_table import WordTable
from stickbreak.corpus.words import cutting, pattern_words, unicode_words
from stickbreak.exceptions import InputError, InvalidCorpus


class _Known(NamedTuple):
    """A vocabulary that has been checked."""

    words: tuple[str, ...]
    column_of: dict[str, int]
    longest: int  # most words of an n-gram


def _known(vocabulary: Sequence[str]) -> _Known:
    """Check a vocabulary."""
    words = checked_vocabulary(vocabulary, (1, len(vocabulary) if isinstance(vocabulary, Sized) else 0))
    if not words:
        raise InvalidCorpus("the vocabulary to count is empty; give at least one word")
    return _Known(words, {word: column for column, word in enumerate(words)}, 1 + max(w.count(" ") for w in words))


_remembered = lru_cache(maxsize=4)(_known)  # as text after text comes to one model


def count_blocks(
    blocks: Iterable[Block], options: TextOptions, vocabulary: Sequence[str] | None = None
) -> tuple[sp.csr_matrix, Any]:
    """Count all words of texts that are not stop words, or those of a vocabulary."""
    try:
        known = None if vocabulary is None else _remembered(vocabulary)
    except TypeError:  # a list
        known = _known(vocabulary or ())
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
    """Read the words of texts in their order, without stop words."""
    prepare = preparation(options)
    if options.tokenizer is None:
        split: Callable[[str], Iterable[str | None]] = partial(neighbours, pattern=options.token_pattern)
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

    cut = unicode_words if options.token_pattern is None else partial(pattern_words, options.token_pattern)
    settings: dict[str, Any] = {
        "tokenizer": cut if options.tokenizer is None else cutting(options.tokenizer),
        "token_pattern": None,
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


_DEFAULTS = TextOptions()


def count_texts(
    texts: Any,
    options: TextOptions = _DEFAULTS,
    names: Sequence[str] | None = None,
    *,
    vocabulary: Sequence[str] | None = None,
    text: Hashable | None = None,
    keep: Sequence[str] | str | None = None,
    vectors: Any = None,
) -> Corpus:
    """Count the words of texts.

    Parameters
    ----------
    texts : iterable of str, or of lists of words, column or data frame
        One text for each document; a missing one (None, NaN, NA) is an empty document. Texts are taken as they come, so
        a generator need not hold them all. A column of pandas, polars or Arrow is taken, too, and with `text` a data
        frame of these. Words of lists are counted as they are: no pattern, no lower case, and of stop words only those
        that are listed or of a language other than English.
    options : TextOptions
        How text becomes counts.
    names : sequence of str, optional
        The names of the documents.
    vocabulary : sequence of str, optional
        Count exactly these words (for example those of a fitted model), without pruning. Other words are
        ignored.
    text : str or int, optional
        The column of the texts, where a data frame is given.
    keep : sequence of str or "all", optional
        Columns of the data frame that become `Corpus.metadata`; "all": all but the texts. Dates that are written as
        text are recognised as `stickbreak.corpus.read` does.
    vectors : str or int, or array-like of shape (D, dim), optional
        A vector of each text, such as an embedding (`Corpus.vectors`), or the column of a data frame with them.

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
    texts, metadata = as_frame(texts), None
    if is_frame(texts) and names_a_column(vectors):
        vectors = column_of(texts, vectors)
    if text is not None or keep is not None:
        texts, metadata = _of_frame(texts, text, keep)
    blocks = blocks_of_texts(_sound(_checked_texts(texts)))
    corpus = corpus_of_blocks(blocks, options, names, vocabulary, metadata)
    return corpus if vectors is None else Corpus.from_counts(corpus, vectors=vectors)


def corpus_of_blocks(
    blocks: Iterator[Block],
    options: TextOptions,
    names: Sequence[str] | None = None,
    vocabulary: Sequence[str] | None = None,
    metadata: Any = None,
    *,
    prune: bool = True,
) -> Corpus:
    """Count texts that come many at once; the parameters are those of `count_texts`."""
    if vocabulary is None:
        options, blocks = settled(options, blocks)
    if options.finds_phrases:
        if vocabulary is not None:
            raise InputError(
                "phrases=True finds new words, but the vocabulary is given; give a list of phrases instead"
            )
        counts, found, options = found_phrases((one for block in blocks for one in block.texts.to_pylist()), options)
        words = arrow_texts(found)
    else:
        counts, words = count_blocks(blocks, options, vocabulary)
    if vocabulary is not None:  # which is checked by now
        corpus = Corpus.from_counts(counts, None, names, metadata)
        return replace(corpus, vocabulary=tuple(words.to_pylist()), text_options=options)
    if prune or not len(words):
        counts, known = pruned(counts, words, options)
    else:
        known = words.to_pylist()
    return replace(Corpus.from_counts(counts, known, names, metadata), text_options=options)


def pruned(counts: sp.csr_matrix, words: Any, options: TextOptions) -> tuple[sp.csr_matrix, list[str]]:
    """Return the counts of the words that options keep, and these words."""
    document_frequency = np.bincount(counts.indices, minlength=len(words))
    totals = np.bincount(counts.indices, weights=counts.data, minlength=len(words)).astype(np.int64)
    kept = kept_words(words, document_frequency, totals, counts.shape[0], options)
    place = np.full(len(words), -1)
    place[kept] = np.arange(len(kept))
    return in_columns(counts, place, len(kept)), words.take(kept).to_pylist()


def _of_frame(frame: Any, text: Hashable | None, keep: Any) -> tuple[Any, Any]:
    """Return the texts of a data frame, and the columns that are kept beside them."""
    if text is None or not is_frame(frame):
        raise InputError(
            "text and keep name columns of a data frame; give a data frame and both the column of the texts and those "
            "to keep, or a list of texts and neither"
        )
    texts = texts_of(frame, text)
    if texts is None:
        raise InvalidCorpus(f"column {text!r:.40} of the data frame holds no texts; name another one")
    return texts, kept_columns(frame, keep, str(text))


def _checked_texts(texts: Any) -> Iterable[Any]:
    """Refuse what is not a collection of texts, however it can be iterated over."""
    if isinstance(texts, str):
        raise InvalidCorpus("one text was given where many are needed; give a list of texts")
    if isinstance(texts, os.PathLike):
        raise InvalidCorpus(
            f"texts is the path {os.fspath(texts)!r:.60}; read a file with stickbreak.corpus.read(path)"
        )
    table = is_frame(texts) or hasattr(texts, "counts")
    numbers = getattr(getattr(texts, "dtype", None), "kind", "") in "biufc" and hasattr(texts, "dtype")
    streams = hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__")
    kinds = (bytes, bytearray, dict)
    if table or numbers or isinstance(texts, kinds) or not (isinstance(texts, Iterable) or streams):
        advice = advice_for(texts) if table or numbers else "give a list of strings"
        raise InvalidCorpus(f"texts is {kind_of(texts)}, not a list of texts; {advice}")
    found = None if isinstance(texts, Iterator | list | set | frozenset) else texts_in(texts)
    return texts if found is None else found


def _sound(texts: Iterable[Any]) -> Iterator[Any]:
    """Refuse what is no text; a missing one is empty."""
    row = -1
    for row, text in enumerate(texts):
        if isinstance(text, str):
            yield text
        elif is_missing(text):
            yield ""
        elif isinstance(text, list | tuple | np.ndarray) and all(isinstance(word, str) for word in text):
            yield list(text)
        else:
            shown = " ".join(f"{text!r:.40}".split())
            raise InvalidCorpus(f"text {row} is {type(text).__name__} {shown}, not a string; give strings only")
    if row < 0:
        raise InvalidCorpus("there are no texts at all; a corpus needs at least one document")
