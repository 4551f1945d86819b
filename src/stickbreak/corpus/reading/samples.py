"""A sample of a collection, and how much the whole holds, for an estimate of a fit."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.reading.blocks import Block
from stickbreak.corpus.reading.readers import count_blocks_of, read
from stickbreak.corpus.reading.source import ReadSettings, TextSource
from stickbreak.corpus.reading.vocabularies import checked_words, given_words
from stickbreak.corpus.text_settings import TextOptions, checked_options
from stickbreak.storage.places import PathLike
from stickbreak.storage.urls import UrlPath

__all__ = ["Extent", "read_sample"]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a collection holds, as far as a sample of it says."""

    n_documents: int
    n_words: int  # different ones
    n_tokens: float
    n_counts: int  # pairs of document and word
    longest: int  # tokens of a document


def read_sample(
    path: PathLike | UrlPath,
    n: int,
    *,
    vocabulary: Sequence[str] | PathLike | None = None,
    text: TextOptions | None = None,
    **settings: Any,
) -> tuple[Corpus, list[str] | None, Extent]:
    """Read a collection, and count some of its documents, drawn at random.

    Parameters
    ----------
    path : str or PathLike
    n : int
        Number of documents to draw.
    vocabulary, text, **settings
        As in `read`. Numbers of documents in `text` are lowered as the sample is smaller than the collection.

    Returns
    -------
    corpus : Corpus
        The sample; all documents where these are not more.
    texts : list of str or None
        Of the sample; None where the collection holds counts.
    extent : Extent
        Of the whole collection.
    """
    source = TextSource.checked(path, "read", ReadSettings.checked(**settings))
    if not source.holds_texts:
        corpus = read(path, vocabulary=vocabulary, text=text, **settings)
        rows = np.random.default_rng(0).permutation(corpus.n_documents)[:n]
        longest = int(np.max(corpus.document_lengths, initial=0))
        extent = Extent(corpus.n_documents, corpus.n_words, corpus.n_tokens, int(corpus.counts.nnz), longest)
        return corpus[np.sort(rows)], None, extent
    drawn, n_documents = _drawn(source.blocks(source.settings.dirt()), n)
    times, options = n_documents / max(len(drawn), 1), checked_options(text)
    words = given_words(checked_words(vocabulary), source.settings.encoding, source.settings.limits)
    own = replace(options, min_df=_lowered(options.min_df, times), max_df=_lowered(options.max_df, times))
    corpus = count_blocks_of(source, own, words, drawn)
    n_words, least = corpus.n_words, options.min_df
    if words is None and isinstance(least, int) and times > least and corpus.n_documents > 1:
        # Words that are too rare for the sample: as many more as its second half has new ones (Heaps' law).
        half = np.unique(corpus[: corpus.n_documents // 2].counts.indices).size
        n_words = round(n_words * (times / least) ** math.log2(n_words / max(half, 1)))
        n_words = min(n_words, options.max_features or n_words)
    n_tokens, n_counts = round(corpus.n_tokens * times), round(corpus.counts.nnz * times)
    extent = Extent(n_documents, n_words, n_tokens, n_counts, int(np.max(corpus.document_lengths)))
    return corpus, [text if isinstance(text, str) else " ".join(text) for text in _texts(drawn)], extent


def _drawn(blocks: Iterable[Block], n: int) -> tuple[list[Block], int]:
    """Return some documents at random, in their order, and the number of all."""
    rng, drawn, row = random.Random(0), list[tuple[int, Block]](), 0
    for block in blocks:
        for place in range(len(block)):
            at = row if row < n else rng.randrange(row + 1)
            if row < n:
                drawn.append((row, block.slice(place, place + 1)))
            elif at < n:
                drawn[at] = row, block.slice(place, place + 1)
            row += 1
    return [one for _, one in sorted(drawn, key=lambda each: each[0])], row


def _texts(blocks: Iterable[Block]) -> list[Any]:
    return [text for block in blocks for text in block.texts.to_pylist()]


def _lowered(limit: int | float, times: float) -> int | float:
    """Return a number of documents for a sample; a share of them stays."""
    return max(1, round(limit / times)) if isinstance(limit, int) else limit
