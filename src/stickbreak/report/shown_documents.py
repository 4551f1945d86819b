"""The documents that a report shows: their texts, topics and columns, and the topic of each word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.words import document_blocks
from stickbreak.questions.columns import listed
from stickbreak.report.shown import ReportTopics
from stickbreak.report.snippets import Texts, best_passage, fetch_texts

_LEAST_SHOWN = 1000  # beside the examples of topics, random ones
_TOPICS, _TELLING_WORDS = 6, 8  # of a document
_LEAST_SHARE = 0.01
_LONGEST_VALUE = 80  # characters of a value of a column
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """A document that a report shows.

    Attributes
    ----------
    row : int
        Row of the document in the corpus.
    name : str
        Name of the document.
    n_tokens : float
        Length of the document.
    topics : tuple of (int, float)
        Its largest topics, by their place in the report, and their shares.
    values : tuple of (str or None)
        What it has in the columns of the report.
    snippet : str or None
        The passage of its text that is richest in words of its topics, if texts were given.
    words : tuple of str
        Its most telling words, if no text was given.
    marks : dict of str to int
        Words of the passage that the model knows, in lower case, and the topic that each most probably has here.
    """

    row: int
    name: str
    n_tokens: float
    topics: tuple[tuple[int, float], ...]
    values: tuple[str | None, ...]
    snippet: str | None
    words: tuple[str, ...]
    marks: dict[str, int]


@dataclass(slots=True)
class DocumentWriter:
    """Turns rows of a corpus into one `DocumentReport` each.

    Attributes
    ----------
    shown : ReportTopics
    corpus : Corpus
    lengths : ndarray of shape (D,)
        Tokens of the documents.
    texts : callable, sequence of str or None
    columns : sequence of str
        Names of the columns of the metadata that are shown.
    snippet_length : int
        Characters of a passage.
    """

    shown: ReportTopics
    corpus: Corpus
    lengths: Float
    texts: Texts | None
    columns: Sequence[str]
    snippet_length: int

    def write(self, rows: Int, of_topics: dict[int, list[int]]) -> tuple[DocumentReport, ...]:
        """Describe documents.

        Parameters
        ----------
        rows : ndarray of int, of shape (m,)
        of_topics : dict of int to list of int
            The topics that a row is an example of.
        """
        texts = None if self.texts is None else fetch_texts(self.texts, rows.tolist(), self.corpus.n_documents)
        values, told = self._values(rows), []
        index = {word: w for w, word in enumerate(self.shown.model.vocabulary_)}
        for block in document_blocks(rows.size, len(self.shown.numbers)):
            weights = self.shown.of_documents(rows[block])[0]
            for row, theta, own in zip(rows[block].tolist(), weights, values[block], strict=True):
                largest = [int(k) for k in np.argsort(-theta, kind="stable")[:_TOPICS] if theta[k] >= _LEAST_SHARE]
                text = None if texts is None else self._passage(texts[row], of_topics.get(row) or largest[:2])
                told.append(
                    DocumentReport(
                        row=row,
                        name=self.corpus.document_names[row],
                        n_tokens=float(self.lengths[row]),
                        topics=tuple((k, float(theta[k])) for k in largest),
                        values=own,
                        snippet=text,
                        words=self._telling_words(row, theta) if text is None else (),
                        marks={} if text is None else self._marks(text, theta, index),
                    )
                )
        return tuple(told)

    def _values(self, rows: Int) -> list[tuple[str | None, ...]]:
        """Return what the documents have in the columns, as text."""
        if self.corpus.metadata is None or not self.columns:
            return [() for _ in rows]
        table = self.corpus.metadata.select(list(self.columns)).take(rows)
        return [tuple(_plain(value) for value in row.values()) for row in table.to_pylist()]

    def _passage(self, text: str, topics: Sequence[int]) -> str:
        """Cut the passage with most words of some topics out of a text."""
        terms = frozenset(part for k in topics for word, _ in self.shown.words[k] for part in word.lower().split())
        return best_passage(text, terms, self.snippet_length)

    def _marks(self, text: str, theta: Float, index: dict[str, int]) -> dict[str, int]:
        """Return the topic with the largest theta_k phi_kw of each word of a text; also of two that are one phrase."""
        tokens = [token.lower() for token in _WORD.findall(text)]
        found: dict[str, tuple[str, ...]] = {token: (token,) for token in tokens if token in index}
        found |= {f"{a} {b}": (a, b) for a, b in pairwise(tokens) if f"{a} {b}" in index}
        if not found or not theta.any():
            return {}
        columns = [index[word] for word in found]
        weights = theta[:, None] * self.shown.topic_word[:, columns]
        told = zip(found.values(), weights.argmax(axis=0).tolist(), weights.max(axis=0).tolist(), strict=True)
        return {part: k for parts, k, weight in told if weight > 0 for part in parts}

    def _telling_words(self, row: int, theta: Float) -> tuple[str, ...]:
        """Return the words of a document that contribute most to its topics, by count times theta phi."""
        counts = self.corpus.counts
        entries = slice(counts.indptr[row], counts.indptr[row + 1])
        words = counts.indices[entries]
        telling = counts.data[entries] * (theta @ self.shown.topic_word[:, words])
        return tuple(
            self.shown.model.vocabulary_[w] for w in words[np.argsort(-telling, kind="stable")[:_TELLING_WORDS]]
        )


def rows_shown(examples: Int, described: Int, seed: int) -> Int:
    """Return the documents that a report shows: the examples, and random ones where these are few.

    Parameters
    ----------
    examples : ndarray of int
        Rows; -1 for none.
    described : ndarray of int
        Documents to choose from.
    seed : int
    """
    chosen = np.unique(examples[examples >= 0]).astype(np.int64)
    others = np.setdiff1d(described, chosen)
    missing = min(max(0, _LEAST_SHOWN - chosen.size), others.size)
    random = np.random.default_rng(seed).choice(others, size=missing, replace=False)
    return np.union1d(chosen, random).astype(np.int64)


def _plain(value: Any) -> str | None:
    """Return a value of a column as text in one line."""
    if value is None:
        return None
    value = listed(value)
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    text = " ".join(str(value).split()).removesuffix(" 00:00:00")
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
