"""Text to counts, with defaults made for topics."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stickbreak.corpus.arguments import advice_for, kind_of
from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.csr import in_columns
from stickbreak.corpus.preparing import settled
from stickbreak.corpus.pruning import kept_words
from stickbreak.corpus.reading.blocks import Block, arrow_texts, blocks_of_texts
from stickbreak.corpus.text_columns import as_frame, is_frame, kept_columns, texts_in, texts_of
from stickbreak.corpus.text_counter import count_blocks, found_phrases
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.corpus.wrong_input import is_missing
from stickbreak.exceptions import InputError, InvalidCorpus

__all__ = ["corpus_of_blocks", "count_texts"]

_DEFAULTS = TextOptions()


def count_texts(
    texts: Any,
    options: TextOptions = _DEFAULTS,
    names: Sequence[str] | None = None,
    *,
    vocabulary: Sequence[str] | None = None,
    text: Hashable | None = None,
    keep: Sequence[str] | str | None = None,
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
    metadata = None
    if text is not None or keep is not None:
        texts, metadata = _of_frame(texts, text, keep)
    blocks = blocks_of_texts(_sound(_checked_texts(texts)))
    return corpus_of_blocks(blocks, options, names, vocabulary, metadata)


def corpus_of_blocks(
    blocks: Iterator[Block],
    options: TextOptions,
    names: Sequence[str] | None = None,
    vocabulary: Sequence[str] | None = None,
    metadata: Any = None,
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
    document_frequency = np.bincount(counts.indices, minlength=len(words))
    totals = np.bincount(counts.indices, weights=counts.data, minlength=len(words)).astype(np.int64)
    kept = kept_words(words, document_frequency, totals, counts.shape[0], options)
    place = np.full(len(words), -1)
    place[kept] = np.arange(len(kept))
    counts, known = in_columns(counts, place, len(kept)), words.take(kept).to_pylist()
    return replace(Corpus.from_counts(counts, known, names, metadata), text_options=options)


def _of_frame(frame: Any, text: Hashable | None, keep: Any) -> tuple[Any, Any]:
    """Return the texts of a data frame, and the columns that are kept beside them."""
    frame = as_frame(frame)
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
