"""The map of documents as a page has it: a part of the report, and a page of its own."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.topics import as_topics
from stickbreak.prediction.words import check_same_words
from stickbreak.questions.document_map import MOST_DOCUMENTS, DocumentMap, beginning, document_map
from stickbreak.report.data import DocumentMapReport, MapData, MapGroups
from stickbreak.report.documents import Texts, counted_with_texts, fetch_texts, telling_words
from stickbreak.storage.persistence import package_version

_BEGINNING, _LONGEST_NAME = 160, 80  # characters
_WHOLE = 65535  # the largest coordinate
_TELLING_WORDS = 8


def build_map(
    model: Any,
    corpus: Any,
    *,
    title: str | None = None,
    texts: Texts | None = None,
    max_documents: int = MOST_DOCUMENTS,
    seed: int = 0,
) -> MapData:
    """Gather what the page of a map of documents says; `write_report` writes it.

    Parameters
    ----------
    model : fitted model
        Of words.
    corpus : Corpus or texts
        The documents to show.
    title : str, optional
        Heading of the page; the default names the number of documents.
    texts : callable or sequence of str, optional
        The texts of the documents, or a function from rows to their texts; without, a document is described by its
        most telling words. Texts in place of `corpus` are also these.
    max_documents : int, default=100000
        Of more documents, a random sample is shown.
    seed : int, default=0
        Seed of the sample and of the places.

    Returns
    -------
    MapData
        Plain numbers and strings.

    Raises
    ------
    InputError
        If the corpus does not have the words of the model, or no document has one of them.
    """
    corpus, texts = counted_with_texts(model, corpus, texts)
    check_same_words(model, corpus)
    asked = as_topics(model)
    found = document_map(asked, corpus, max_documents, seed)
    known = None if texts is None else fetch_texts(texts, found.rows.tolist(), corpus)
    told = describe_map(found, corpus, known, asked.vocabulary_, asked.word_distributions(found.numbers))
    return MapData(title or f"Map of {corpus.n_documents:,} documents", package_version(), told)


def describe_map(
    found: DocumentMap, corpus: Corpus, texts: Mapping[int, str] | None, vocabulary: Sequence[str], topic_word: Float
) -> DocumentMapReport:
    """Bring a map into the form of a page; `texts` are by row, `topic_word` the words of its topics, (K, W)."""
    low = found.positions.min(axis=0)
    span = max(float(np.ptp(found.positions, axis=0).max()), 1e-300)
    scaled = np.rint((found.positions - low) / span * _WHOLE).astype("<u2")
    points = found.rows.astype("<u4").tobytes() + scaled.T.tobytes() + found.topics.astype("<u2").tobytes()
    rows = found.rows.tolist()
    if texts is None:
        told = _telling(found, corpus, vocabulary, topic_word)
    else:
        told = [beginning(texts[row], _BEGINNING) for row in rows]
    names = None if corpus.names is None else [beginning(corpus.names[row], _LONGEST_NAME) for row in rows]
    return DocumentMapReport(
        n_documents=found.n_documents,
        n_shown=len(rows),
        searched="most telling words" if texts is None else f"the first {_BEGINNING} characters of texts",
        topics=tuple((int(k), label) for k, label in zip(found.numbers, found.labels, strict=True)),
        levels=tuple(
            MapGroups(
                tuple(level.groups.tolist()),
                level.names,
                tuple(((x - low[0]) / span * _WHOLE, (y - low[1]) / span * _WHOLE) for x, y in level.places.tolist()),
                tuple(level.sizes.tolist()),
            )
            for level in found.levels
        ),
        points=base64.b64encode(points).decode("ascii"),
        told=packed({"names": names, "texts": told}),
    )


def packed(value: Any) -> str:
    """Return JSON, compressed, in base64."""
    return base64.b64encode(zlib.compress(json.dumps(value).encode("ascii"), 6)).decode("ascii")


def _telling(found: DocumentMap, corpus: Corpus, vocabulary: Sequence[str], topic_word: Float) -> list[str]:
    """Return the words of each document that tell most of its largest topic."""
    return [
        ", ".join(vocabulary[w] for w in telling_words(corpus, row, topic_word[k], _TELLING_WORDS))
        for row, k in zip(found.rows.tolist(), found.topics.tolist(), strict=True)
    ]
