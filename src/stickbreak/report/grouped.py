"""Shares of topics by period and by class in a report, where the documents have such columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.by_category import adjusted, differences
from stickbreak.questions.changed_words import LEVEL_OF_WORDS, MOST_PERIODS, shifts, topic_tokens
from stickbreak.questions.columns import (
    Days,
    Span,
    categories_of,
    days_of,
    fitting_period,
    numbered,
    only_column_of_dates,
    period_starts,
)
from stickbreak.questions.intervals import RESAMPLES, GroupShares, shares_in_groups
from stickbreak.questions.labels import LabelledTopics
from stickbreak.questions.over_time import trends_of
from stickbreak.report.data import ChangedWord, GroupedReport, SpanReport, Table, TimeReport, TrendReport

_MOST_CLASSES, _FOUND_CLASSES, _FOUND_COLUMNS = 60, 30, 3  # of a column that was named; of one that was found
_LEAST_KNOWN = 0.5  # of the documents have a value in a column of classes that is found
_DOCUMENTS_OF_WORDS, _WORDS_OF_GROUP = 20_000, 6  # that words are compared in; that are shown of either direction
_AT_ONCE = 1 << 22  # weights in one block


@dataclass(frozen=True, slots=True)
class Columns:
    """What the documents of a report are grouped by."""

    time: tuple[str, Days] | None  # name and days of all documents
    by: str | None  # length of a period; None: as suits the days
    classes: Mapping[str, Any]  # values of all documents by the name of the column
    span: Span  # the days that documents are chosen by

    def chosen(self, n_documents: int) -> NDArray[np.bool_]:
        """Tell which of all documents are of the days that were asked for."""
        return np.ones(n_documents, bool) if self.time is None else self.span.holds(self.time[1])


def columns_of_report(
    corpus: Corpus, dates: Any, by: str | None, categories: Any, date_format: str | None, span: Span
) -> Columns:
    """Find out what the documents are grouped by.

    `dates` are as `topics_over_time` takes them; None: the only column of dates, if there is one; False: none.
    `categories` are columns, or values of all documents by the name of the column; None: columns of text or of truth
    values with few different values. What is named and not there is refused.
    """
    if by is not None:
        period_starts(np.zeros(0, "datetime64[D]"), by)  # refuses a period that is none
    time = _time(corpus, dates, date_format, needed=not span.whole)
    if categories is None:
        return Columns(time, by, _found_classes(corpus, None if time is None else time[0]), span)
    if isinstance(categories, Mapping):
        given = {str(name): values for name, values in categories.items()}
    else:
        names = [categories] if isinstance(categories, str) else list(categories)
        if wrong := [name for name in names if not isinstance(name, str)]:
            raise InputError(
                f"categories has {wrong[0]!r:.60}, which is not a name of a column; name columns, or give a mapping of "
                "names to values."
            )
        given = {name: name for name in names}
    return Columns(time, by, {name: categories_of(corpus, one, "categories") for name, one in given.items()}, span)


def _time(corpus: Corpus, dates: Any, date_format: str | None, *, needed: bool) -> tuple[str, Days] | None:
    """Return the days of the documents; None where nothing is named and nothing found, and they are not needed."""
    if dates is False:
        if needed:
            raise InputError("since and until choose documents by their dates; name the column of dates.")
        return None
    try:
        given = only_column_of_dates(corpus, date_format) if dates is None else dates
        return given if isinstance(given, str) else "date", days_of(corpus, given, date_format)
    except InputError:
        if dates is None and not needed:
            return None
        raise


def _found_classes(corpus: Corpus, but: str | None) -> dict[str, Any]:
    """Return the columns of the metadata that hold few different texts or truth values."""
    import pyarrow as pa

    if corpus.metadata is None:
        return {}
    found: dict[str, Any] = {}
    for field in corpus.metadata.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if field.name == but or not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.bool_()):
            continue
        values = categories_of(corpus, field.name, "categories")
        known = values[values.notna() & (values.astype(str) != "")]
        if len(known) >= _LEAST_KNOWN * len(values) and 2 <= known.nunique() <= min(_FOUND_CLASSES, len(known) // 5):
            found[field.name] = values
        if len(found) == _FOUND_COLUMNS:
            break
    return found


@dataclass(frozen=True, slots=True)
class SampleWeights:
    """Weights of the n topics of a report in the m documents that it describes."""

    rows: Int  # (m,)
    lengths: Float  # (m,) their tokens
    weights: np.ndarray  # (m, n) float32

    def blocks(self, order: Int) -> Iterator[tuple[Int, Float]]:
        """Yield blocks of places of documents and of their weights, in an order."""
        step = max(1, _AT_ONCE // max(1, self.weights.shape[1]))
        for begin in range(0, order.size, step):
            part = order[begin : begin + step]
            yield part, self.weights[part].astype(np.float64)

    def grouped(self, group: Int, n_groups: int, seed: int) -> GroupShares:
        """Return the shares in groups of these documents."""
        shape = n_groups, self.weights.shape[1]
        return shares_in_groups(self.blocks, self.lengths, group, shape, n_resamples=RESAMPLES, seed=seed)


def describe_span(columns: Columns, lengths: Float) -> SpanReport | None:
    """Describe the days that documents were chosen by; None where all are taken."""
    if columns.time is None or columns.span.whole:
        return None
    (name, days), span = columns.time, columns.span
    chosen = span.holds(days)
    since, until = (None if day is None else str(day) for day in (span.since, span.until))
    n_empty = int((lengths[chosen] == 0).sum())
    return SpanReport(name, since, until, int(chosen.sum()), n_empty, int(np.isnat(days).sum()))


def describe_time(
    columns: Columns, sample: SampleWeights, lengths: Float, numbers: Sequence[int], seed: int
) -> TimeReport | None:
    """Describe the shares over time; None without dates, or with a single period."""
    if columns.time is None:
        return None
    name, every_day = columns.time
    days = every_day[sample.rows]
    by = columns.by or fitting_period(every_day[columns.span.holds(every_day)])
    group, periods = numbered(period_starts(days, by).astype("datetime64[s]"))
    if len(periods) < 2:
        return None
    asked = LabelledTopics(np.arange(len(numbers)), ("",) * len(numbers))
    try:
        trends = trends_of(sample.blocks, sample.lengths, days, asked)
    except InputError:  # of too few documents
        return None
    found = sample.grouped(group, len(periods), seed)
    starts = [str(np.datetime64(p, "D")) for p in periods]
    told = [
        TrendReport(int(k), float(change), _short(low), _short(high), _short(p))
        for k, change, low, high, p in trends[["topic", "change", "low", "high", "p"]]
        .to_numpy(dtype=np.float64)
        .tolist()
    ]
    dated = columns.span.holds(every_day) & ~np.isnat(every_day)
    n_wordless = int((lengths[dated] == 0).sum())
    return TimeReport(by, _report(name, starts, found), tuple(told), int(dated.sum()), n_wordless)


def describe_classes(columns: Columns, sample: SampleWeights, seed: int) -> tuple[GroupedReport, ...]:
    """Describe the shares by class; of a column with many values the most frequent."""
    told = []
    for name, values in columns.classes.items():
        of_sample = values.iloc[sample.rows]
        of_sample = of_sample.where(of_sample.astype(str) != "")
        frequent = of_sample.value_counts().index[:_MOST_CLASSES]
        group, names = numbered(of_sample.where(of_sample.isin(frequent)))
        found = sample.grouped(group, len(names), seed)
        if (found.n_documents > 0).sum() < 2:
            continue
        p = differences(found)[1]
        told.append(_report(name, [str(one) for one in names], found, adjusted(p.ravel()).reshape(p.shape)))
    return tuple(told)


def describe_changed_words(
    columns: Columns, topics: FlatTopics, corpus: Corpus, sample: SampleWeights, numbers: Sequence[int]
) -> tuple[ChangedWord, ...]:
    """Describe the words that rise and fall inside topics, by period and by class; none of a tree."""
    if topics.tree_ is not None or not sample.weights.size:
        return ()
    groups: list[tuple[str, Int, list[str]]] = []
    chosen = np.arange(0, sample.rows.size, -(-sample.rows.size // _DOCUMENTS_OF_WORDS))
    rows = sample.rows[chosen]
    if columns.time is not None:
        days = columns.time[1][rows]
        if not np.isnat(days).all():
            by = columns.by or fitting_period(days, MOST_PERIODS)
            group, periods = numbered(period_starts(days, by).astype("datetime64[s]"))
            groups.append((by, group, [str(np.datetime64(one, "D")) for one in periods]))
    for name, values in columns.classes.items():
        group, names = numbered(values.iloc[rows].where(values.iloc[rows].astype(str) != ""))
        if len(names) <= _MOST_CLASSES:
            groups.append((name, group, [str(one) for one in names]))
    groups = [one for one in groups if len(one[2]) > 1]
    if not groups:
        return ()
    tokens = topic_tokens(topics, corpus[rows], np.array(numbers, dtype=np.int64), sample.weights[chosen])
    told = []
    for column, group, names in groups:
        found, _ = shifts(tokens, group, len(names), LEVEL_OF_WORDS)
        place = found.topic * len(names) + found.group
        for one in np.unique(place):
            inside = np.flatnonzero(place == one)  # the largest lift first
            rise, fall = inside[found.lift[inside] > 1], inside[found.lift[inside] < 1][::-1]
            told += [
                ChangedWord(
                    int(found.topic[i]),
                    column,
                    names[found.group[i]],
                    topics.vocabulary_[found.word[i]],
                    float(f"{found.lift[i]:.3g}"),
                    float(f"{found.p[i]:.2g}"),
                )
                for i in (*rise[:_WORDS_OF_GROUP], *fall[:_WORDS_OF_GROUP])
            ]
    return tuple(told)


def _report(column: str, names: list[str], found: GroupShares, p: Float | None = None) -> GroupedReport:
    """Return shares of groups as plain numbers, a row for each topic; groups without tokens are left out."""
    there = np.flatnonzero(found.n_documents > 0)
    return GroupedReport(
        column,
        tuple(names[g] for g in there),
        tuple(int(n) for n in found.n_documents[there]),
        tuple(float(n) for n in found.tokens[there]),
        _table(found.shares[there]),
        _table(found.low[there]),
        _table(found.high[there]),
        () if p is None else _table(p[there]),
    )


def _table(values: Float) -> Table:
    """Return a row for each topic of shares in groups, (G, n)."""
    return tuple(tuple(_short(v) for v in row) for row in values.T)


def _short(value: float) -> float | None:
    """Return a number with four digits; None for what is not known."""
    return float(f"{value:.4g}") if np.isfinite(value) else None
