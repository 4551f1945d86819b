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
from stickbreak.questions.by_category import adjusted, differences
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

_MOST_CLASSES, _FOUND_CLASSES, _FOUND_COLUMNS = 60, 30, 3  # of a column that was named; of one that was found
_LEAST_KNOWN = 0.5  # of the documents have a value in a column of classes that is found
_AT_ONCE = 1 << 22  # weights in one block

Table = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class GroupedReport:
    """Shares of topics in groups of documents.

    Attributes
    ----------
    column : str
        The column that the groups come from.
    groups : tuple of str
        Their names; of periods the first days.
    documents : tuple of int
        Documents with tokens in each.
    shares, low, high : tuple of tuples
        A row for each topic, a value for each group: share of the tokens, ends of its 95 % interval.
    p : tuple of tuples
        Of classes: whether the share differs from that of all other classes, adjusted for their number. Of periods
        empty.
    """

    column: str
    groups: tuple[str, ...]
    documents: tuple[int, ...]
    shares: Table
    low: Table
    high: Table
    p: Table = ()


@dataclass(frozen=True, slots=True)
class TrendReport:
    """How the share of a topic changes in a year, with the ends of a 95 % interval and an adjusted p."""

    topic: int
    change: float
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class TimeReport:
    """Shares over time.

    Attributes
    ----------
    by : str
        Length of a period.
    shares : GroupedReport
    trends : tuple of TrendReport
        The fastest growing first.
    n_dated : int
        Documents with a date, of all that the report is about.
    n_wordless : int
        Those of them that have no token, and so no shares.
    """

    by: str
    shares: GroupedReport
    trends: tuple[TrendReport, ...]
    n_dated: int
    n_wordless: int


@dataclass(frozen=True, slots=True)
class SpanReport:
    """The days that the documents of a report are of, where they were chosen.

    Attributes
    ----------
    column : str
        The column of dates.
    since, until : str or None
        First and last day; None: no limit.
    n_documents : int
        Documents of these days.
    n_empty : int
        Those of them without a token.
    n_undated : int
        Documents of all days and without a date, which are left out.
    """

    column: str
    since: str | None
    until: str | None
    n_documents: int
    n_empty: int
    n_undated: int


@dataclass(frozen=True, slots=True)
class Columns:
    """What the documents of a report are grouped by.

    Attributes
    ----------
    time : (str, ndarray of datetime64[D]) or None
        Name and days of all documents.
    by : str or None
        Length of a period; None: as suits the days.
    classes : mapping of str to array-like
        Values of all documents by the name of the column.
    span : Span
        The days that documents are chosen by.
    """

    time: tuple[str, Days] | None
    by: str | None
    classes: Mapping[str, Any]
    span: Span

    def chosen(self, n_documents: int) -> NDArray[np.bool_]:
        """Tell which of all documents are of the days that were asked for.

        Parameters
        ----------
        n_documents : int

        Raises
        ------
        InputError
            If none is.
        """
        return np.ones(n_documents, bool) if self.time is None else self.span.holds(self.time[1])


def columns_of_report(
    corpus: Corpus, dates: Any, by: str | None, categories: Any, date_format: str | None, span: Span
) -> Columns:
    """Find out what the documents are grouped by.

    Parameters
    ----------
    corpus : Corpus
    dates : str, array-like, False or None
        As `topics_over_time` takes them. None: the only column of dates, if there is one. False: none.
    by : str or None
        The period.
    categories : str, sequence of str, mapping or None
        Columns, or values of all documents by the name of the column. None: columns of text or of truth values with
        few different values.
    date_format : str or None
    span : Span
        Days that documents are chosen by. With limits there must be dates.

    Raises
    ------
    InputError
        If what is named is not there.
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
        given = only_column_of_dates(corpus) if dates is None else dates
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
    """Weights of the topics of a report in the documents that it describes.

    Attributes
    ----------
    rows : ndarray of int, of shape (m,)
        The documents.
    lengths : ndarray of shape (m,)
        Their tokens.
    weights : ndarray of float32, of shape (m, n)
    """

    rows: Int
    lengths: Float
    weights: np.ndarray

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
    """Describe the days that documents were chosen by; None where all are taken.

    Parameters
    ----------
    columns : Columns
    lengths : ndarray of shape (D,)
        Tokens of the documents.
    """
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
    """Describe the shares over time; None without dates, or with a single period.

    Parameters
    ----------
    columns : Columns
    sample : SampleWeights
    lengths : ndarray of shape (D,)
        Tokens of all documents.
    numbers : sequence of int
        Of the topics.
    seed : int
        Of the resamples.
    """
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
    """Describe the shares by class; of a column with many values the most frequent.

    Parameters
    ----------
    columns : Columns
    sample : SampleWeights
    seed : int
        Of the resamples.
    """
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


def _report(column: str, names: list[str], found: GroupShares, p: Float | None = None) -> GroupedReport:
    """Return shares of groups as plain numbers, a row for each topic; groups without tokens are left out."""
    there = np.flatnonzero(found.n_documents > 0)
    return GroupedReport(
        column,
        tuple(names[g] for g in there),
        tuple(int(n) for n in found.n_documents[there]),
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
