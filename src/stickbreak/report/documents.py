"""The documents that a report shows: their passages, topics and columns, and the topic of each word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import regex

from stickbreak.corpus import Corpus, TextOptions
from stickbreak.corpus.preparing import preparation, readable
from stickbreak.corpus.text_columns import text_of, texts_in
from stickbreak.exceptions import InputError
from stickbreak.model.input_documents import counted_for
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.words import document_blocks
from stickbreak.questions.columns import listed
from stickbreak.report.data import DocumentReport
from stickbreak.report.topics import ReportTopics

Texts = Callable[[Sequence[int]], Sequence[str]] | Sequence[str]
Prepare = Callable[[str], str]

_LEAST_SHOWN = 1000  # beside the examples of topics, random ones
_TOPICS, _TELLING_WORDS = 6, 8  # of a document
_LEAST_SHARE = 0.01
_LONGEST_VALUE = 80  # characters of a value of a column
_READ_CHARACTERS = 20_000  # of a long document, only its beginning is searched
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_\u200c\u200d]+")  # as the page cuts passages


@dataclass(slots=True)
class DocumentWriter:
    """Turns rows of a corpus into one `DocumentReport` each."""

    shown: ReportTopics
    corpus: Corpus
    lengths: Float  # (D,) tokens of the documents
    texts: Mapping[int, str] | None  # by row
    columns: Sequence[str]  # of the metadata, those that are shown
    snippet_length: int  # characters

    def write(self, rows: Int, of_topics: dict[int, list[int]]) -> tuple[DocumentReport, ...]:
        """Describe documents; `of_topics` are the topics that a row is an example of."""
        texts = self.texts
        values, told = self._values(rows), []
        prepare = cache(preparation(self.corpus.text_options or TextOptions()))
        index = {prepare(word): w for w, word in enumerate(self.shown.model.vocabulary_)}
        for block in document_blocks(rows.size, len(self.shown.numbers)):
            weights = self.shown.of_documents(rows[block])[0]
            for row, theta, own in zip(rows[block].tolist(), weights, values[block], strict=True):
                largest = [int(k) for k in np.argsort(-theta, kind="stable")[:_TOPICS] if theta[k] >= _LEAST_SHARE]
                asked = of_topics.get(row) or largest[:2]
                text = None if texts is None else self._passage(texts[row], asked, prepare)
                told.append(
                    DocumentReport(
                        row=row,
                        name=self.corpus.document_names[row],
                        n_tokens=float(self.lengths[row]),
                        topics=tuple((k, float(theta[k])) for k in largest),
                        values=own,
                        snippet=text,
                        words=self._telling_words(row, theta) if text is None else (),
                        marks={} if text is None else self._marks(text, theta, index, prepare),
                    )
                )
        return tuple(told)

    def _values(self, rows: Int) -> list[tuple[str | None, ...]]:
        """Return what the documents have in the columns, as text."""
        if self.corpus.metadata is None or not self.columns:
            return [() for _ in rows]
        table = self.corpus.metadata.select(list(self.columns)).take(rows)
        return [tuple(_plain(value) for value in row.values()) for row in table.to_pylist()]

    def _passage(self, text: str, topics: Sequence[int], prepare: Prepare) -> str:
        """Cut the passage with most words of some topics out of a text."""
        terms = frozenset(part for k in topics for word, _ in self.shown.words[k] for part in prepare(word).split())
        return best_passage(text, terms, self.snippet_length, prepare)

    def _marks(self, text: str, theta: Float, index: dict[str, int], prepare: Prepare) -> dict[str, int]:
        """Return the topic with the largest theta_k phi_kw of each word of a text; also of two that are one phrase."""
        tokens = [(token, prepare(token)) for token in _WORD.findall(text)]
        found: dict[tuple[str, ...], int] = {(token,): index[word] for token, word in tokens if word in index}
        found |= {(s, t): index[f"{a} {b}"] for (s, a), (t, b) in pairwise(tokens) if f"{a} {b}" in index}
        if not found or not theta.any():
            return {}
        weights = theta[:, None] * self.shown.topic_word[:, list(found.values())]
        told = zip(found, weights.argmax(axis=0).tolist(), weights.max(axis=0).tolist(), strict=True)
        return {part: k for parts, k, weight in told if weight > 0 for part in parts}

    def _telling_words(self, row: int, theta: Float) -> tuple[str, ...]:
        """Return the words of a document that contribute most to its topics."""
        telling = telling_words(self.corpus, row, theta @ self.shown.topic_word, _TELLING_WORDS)
        return tuple(self.shown.model.vocabulary_[w] for w in telling)


def telling_words(corpus: Corpus, row: int, probabilities: Float, n_words: int) -> list[int]:
    """Return the words of a document with the largest products of count and probability, (W,)."""
    counts = corpus.counts
    entries = slice(counts.indptr[row], counts.indptr[row + 1])
    words = counts.indices[entries]
    telling = counts.data[entries] * probabilities[words]
    return [int(w) for w in words[np.argsort(-telling, kind="stable")[:n_words]]]


def rows_shown(examples: Int, described: Int, seed: int) -> Int:
    """Return the documents that a report shows: the examples (-1: none), and random ones where these are few."""
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


def counted_with_texts(model: Any, X: Any, texts: Texts | None) -> tuple[Corpus, Texts | None]:
    """Return documents as a Corpus, and `texts`, or else those that X holds."""
    own = None if isinstance(X, Corpus) else texts_in(X)
    return counted_for(model, X if own is None else own), own if texts is None else texts


def fetch_texts(texts: Texts, rows: Sequence[int], corpus: Corpus) -> dict[int, str]:
    """Return the texts of some documents by row, as they are shown; a function is called once."""
    given: list[Any]
    if callable(texts):
        given = list(texts(rows))
        if len(given) != len(rows):
            raise InputError(f"texts returned {len(given)} texts for {len(rows)} documents; return one for each row.")
    else:
        every = list(texts)  # by place: a Series has labels of its own
        if len(every) != corpus.n_documents:
            raise InputError(
                f"there are {len(every)} texts for {corpus.n_documents} documents; give one text for each document."
            )
        given = [every[row] for row in rows]
    found = [text_of(text) for text in given]
    return dict(zip(rows, readable(found, corpus.text_options), strict=True))


def best_passage(text: str, words: frozenset[str], length: int, prepare: Prepare) -> str:
    """Cut the passage of about `length` characters with the most different words of a topic out of a text.

    `prepare` makes a word of the text one that can be among `words`.

    Examples
    --------
    >>> text = "It rained all day. The cat sat on the mat, and then it slept."
    >>> best_passage(text, frozenset({"cat", "mat"}), 30, str.lower)
    '… The cat sat on the mat, and…'
    """
    line = " ".join(text[:_READ_CHARACTERS].split())
    if len(line) <= length:
        return line + ("…" if len(text) > _READ_CHARACTERS else "")
    begin = _lead_in(line, _richest_start(line, words, length - 2, prepare), length)
    end = min(len(line), begin + length - 2)
    if end < len(line):
        end = max(line.rfind(" ", begin + length // 2, end), 0) or end
    passage = line[begin:end].strip()
    return ("… " if begin > 0 else "") + passage + ("…" if end < len(line) else "")


def _richest_start(line: str, words: frozenset[str], length: int, prepare: Prepare) -> int:
    """Return where the window begins that holds the most different words; the first such, or zero."""
    hits = [(m.start(), m.end(), word) for m in _WORD.finditer(line) if (word := prepare(m[0])) in words]
    inside: Counter[str] = Counter()
    best, most, first = 0, 0, 0
    for _, end, word in hits:
        inside[word] += 1
        while hits[first][0] < end - length and hits[first][1] < end:
            inside[hits[first][2]] -= 1
            inside += Counter()  # drops words that left
            first += 1
        if len(inside) > most:
            best, most = hits[first][0], len(inside)
    return best


def _lead_in(line: str, position: int, length: int) -> int:
    """Move the start of a passage back to the beginning of its sentence, or by a few words."""
    earliest = max(0, position - length // 3)
    if earliest == 0:
        return 0
    for mark in (". ", "! ", "? ", " "):
        found = line.find(mark, earliest, position)
        if found >= 0:
            return found + len(mark)
    return position
