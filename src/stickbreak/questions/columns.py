"""Columns beside the documents, by their name in `Corpus.metadata` or given as they are: categories, dates, spans."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.metadata import in_tables
from stickbreak.exceptions import InputError
from stickbreak.fitting.loop import logger
from stickbreak.numerics.arrays import Int

if TYPE_CHECKING:
    import pandas as pd

Days = NDArray[np.datetime64]
PERIODS = ("day", "week", "month", "quarter", "year")
_DAYS, _MONTHS = {"day": 1, "week": 7}, {"month": 1, "quarter": 3, "year": 12}
_MOST_PERIODS = 60  # that a table, picture or report has, where nobody says how long they are
_DAYS_THAT_SAY = 3  # how precise dates are, where each lies in a period of its own: two may do so by chance
_FIRST_YEAR, _LAST_YEAR = 1000, 9999
_MOST_WRONG = 0.05  # of the values of a column of dates, that are none
_DATED = r"\d{4}-(0[1-9]|1[0-2])(?!\d)"  # how a date that is text begins
_UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6}  # since 1970; how many a second has
_DAY, _SINCE, _UNTIL, _LAST = 86_400, 631_152_000, 4_102_444_800, 253_402_300_800  # seconds: 1990, 2100 and 10000
_DIGITS = re.compile(r"\d{9,16}(\.\d{1,9})?")
_NAME_OF_TIMES = re.compile(r"(?<!candi)date|time|created|updated|published|posted|epoch|utc|_at$|^ts$", re.IGNORECASE)


def column_of(corpus: Corpus, given: Any, parameter: str) -> pd.Series:
    """Return a value for each document.

    Parameters
    ----------
    corpus : Corpus
        D documents.
    given : str, int or array-like of length D
        A column of `Corpus.metadata`, or the values.
    parameter : str
        The name of what was given, for messages.

    Raises
    ------
    InputError
        If there is no such column, or not one value for each document.
    """
    import pandas as pd
    import pyarrow as pa

    if isinstance(given, str | Integral):
        given = str(given)
        there = () if corpus.metadata is None else tuple(corpus.metadata.column_names)
        if corpus.metadata is None or given not in there:
            has = f"has the columns {', '.join(map(repr, there))}" if there else "has no columns beside the documents"
            raise InputError(
                f"{parameter} is {given!r}, but the corpus {has}; read it with keep=[{given!r}], or give an array."
            )
        column = corpus.metadata[given]
        types = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()} if column.null_count else {}
        return column.to_pandas(date_as_object=False, types_mapper=types.get).reset_index(drop=True)
    given = list(given) if isinstance(given, Iterator) else given
    try:
        values = pd.Series(given).reset_index(drop=True)
    except UnicodeEncodeError:
        values = pd.Series([in_tables([one])[0] if isinstance(one, str) else one for one in given])
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{parameter} cannot be read ({error}); give a value for each document.") from None
    if len(values) != len(corpus):
        raise InputError(
            f"{parameter} has {len(values)} values for {len(corpus)} documents; give a value for each document."
        )
    return values


def categories_of(corpus: Corpus, given: Any, parameter: str) -> pd.Series:
    """Return the category of each document.

    Parameters
    ----------
    corpus, given, parameter
        As in `column_of`.

    Raises
    ------
    InputError
        Also if a value is not one that others can be equal to, as a list is, or values cannot be sorted. The lists of a
        field of JSON lines are read as one category, such as "grain, ship"; an empty one is none. Floats that are all
        whole numbers are read as these.
    """
    from pandas.api.types import is_string_dtype

    values = column_of(corpus, given, parameter)
    if isinstance(given, str | Integral) and is_string_dtype(values):
        values = values.map(_joined)
    if values.dtype.kind == "f":
        known = values.dropna()
        if np.array_equal(known, np.round(known)) and (known.abs() < 2**63).all():
            return values.astype("Int64")  # blanks make floats of a column of whole numbers
    if values.dtype != object:
        return values
    advice = "give a text, number or date for each document."
    for value in values:
        if isinstance(value, bytes | list | dict | set | np.ndarray):
            value = value.tolist() if isinstance(value, np.ndarray) else value
            raise InputError(f"{parameter} has {value!r:.60} for a document; {advice}")
        try:
            hash(value)
        except TypeError:
            raise InputError(f"{parameter} has {value!r:.60} for a document; {advice}") from None
    try:
        numbered(values)
    except TypeError as error:
        raise InputError(f"{parameter} has values of different kinds ({error}); {advice}") from None
    return values


def listed(entry: Any) -> Any:
    """Return the list that a field of JSON lines held, which its column keeps as text; anything else as it is."""
    if not isinstance(entry, str) or not entry.startswith("["):
        return entry
    try:
        found = json.loads(entry)
    except ValueError:
        return entry
    return found if isinstance(found, list) else entry


def _joined(entry: Any) -> Any:
    """Return a list that a field of JSON lines held as one text; anything else as it is."""
    found = listed(entry)
    return found if found is entry else ", ".join(map(str, found)) or None


def days_of(corpus: Corpus, given: Any, date_format: str | None = None) -> Days:
    """Return the day of each document, with NaT where there is none.

    Parameters
    ----------
    corpus : Corpus
    given : str, array-like or None
        A column of `Corpus.metadata`, or dates. None: the only column of dates that there is, or the only column of
        text that `date_format` reads.
    date_format : str, optional
        How text is to be read, as `datetime.strptime` has it, or "seconds", "milliseconds" or "microseconds" since
        1970. By default as ISO 8601; numbers are years, or times since 1970 where nearly all lie from 1990 to 2100.

    Returns
    -------
    ndarray of datetime64[D], of shape (D,)

    Raises
    ------
    InputError
        If there are no dates, or they cannot be read.
    """
    _check_format(date_format)
    name = only_column_of_dates(corpus, date_format) if given is None else given
    values = column_of(corpus, name, "dates")
    days = _days(values, date_format, repr(name) if isinstance(name, str) else "dates")
    if np.isnat(days).all():
        raise InputError(f"{name!r:.40} holds no date; give a date for each document.")
    return days


def _check_format(date_format: Any) -> None:
    if not isinstance(date_format, str | None):
        raise InputError(f"date_format is {date_format!r:.60}; give text such as '%d.%m.%Y', or leave it out.")


def only_column_of_dates(corpus: Corpus, date_format: str | None = None) -> str:
    """Return the name of the column of dates, written as ISO 8601 or in another format; refuse none, and several."""
    found = columns_of_dates(corpus.metadata, date_format)
    if len(found) == 1:
        return str(found[0])
    there = () if corpus.metadata is None else corpus.metadata.column_names
    if not there:
        raise InputError(
            "the documents have no columns; give a table of them with --metadata TABLE (in Python: read them with "
            "keep, or give dates as an array)."
        )
    example = "2026-11-23" if date_format is None else date_format
    lacking = f"no column of dates such as {example} among {', '.join(map(repr, there))}"
    has = f"several columns of dates ({', '.join(found)})" if found else lacking
    raise InputError(
        f"the documents have {has}; name the column with --dates (in Python: dates, which may be an array); if its "
        "dates are written otherwise, say how with --date-format (in Python: date_format)."
    )


def columns_of_dates(table: Any, date_format: str | None = None) -> list[str]:
    """Return the names of the columns of dates of an Arrow table.

    Without any, those of text that nearly always is a date; without these, those of numbers that are seconds or
    milliseconds since 1970 by their values and by their name, such as created_utc.

    Parameters
    ----------
    table : pyarrow.Table or None
    date_format : str, optional
        How text is written that is a date. By default as ISO 8601.
    """
    import pyarrow as pa

    _check_format(date_format)
    schema = () if table is None else table.schema
    found = [field.name for field in schema if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type)]
    if not found and date_format not in _UNITS:
        found = [
            field.name for field in schema if _is_text(field.type) and _holds_dates(table[field.name], date_format)
        ]
    if not found and date_format in (None, *_UNITS):
        found = [
            field.name for field in schema if _NAME_OF_TIMES.search(field.name) and _holds_times(table[field.name])
        ]
    return found


def _holds_times(column: Any) -> bool:
    """Tell whether a column of Arrow holds numbers that are times since 1970."""
    import pandas as pd

    values = column.to_pandas()
    if _is_text(column.type) and _are_digits(values):
        values = pd.to_numeric(values, errors="coerce")
    if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_bool_dtype(values.dtype):
        return False
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return _unit_of(numbers[np.isfinite(numbers)]) is not None


def _is_text(kind: Any) -> bool:
    """Tell whether a column of Arrow holds strings."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _holds_dates(column: Any, date_format: str | None) -> bool:
    """Tell whether nearly all texts of a column begin as dates do, or are written in a format."""
    values = column.to_pandas().dropna()
    if not len(values):
        return False
    dated = values.str.match(_DATED) if date_format is None else _times(values, date_format).notna()
    return bool(dated.mean() >= 1 - _MOST_WRONG)


def _days(values: pd.Series, date_format: str | None, name: str) -> Days:
    """Return values of any common kind as days."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(values.dtype):
        if not _are_digits(values) or date_format not in (None, *_UNITS):
            return _read_days(values, date_format, name)
        values = pd.to_numeric(values, errors="coerce")
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    known = np.isfinite(numbers)
    if date_format is not None and date_format not in _UNITS:
        texts = [f"{number:.0f}" if ok else None for number, ok in zip(numbers, known, strict=True)]
        return _read_days(pd.Series(texts, dtype="string"), date_format, name)
    if date_format is None and _are_years(numbers[known]):
        since = np.where(known, numbers - 1970, 0).astype("timedelta64[Y]")
        days = (np.datetime64(0, "Y") + since).astype("datetime64[D]")
        days[~known] = np.datetime64("NaT")
        return days
    unit = date_format or _unit_of(numbers[known])
    if unit is None:
        first = f" ({numbers[known][0]:.12g})" if known.any() else ""
        raise InputError(
            f"{name} holds numbers that are not years{first}, nor seconds or milliseconds since 1970; give dates as "
            "2026-11-23, or say what they are with --date-format seconds (in Python: date_format='seconds')."
        )
    days, inside = np.full(numbers.size, "NaT", "datetime64[D]"), known & (np.abs(numbers) < _LAST * _UNITS[unit])
    days[inside] = np.floor(numbers[inside] / (_DAY * _UNITS[unit])).astype("timedelta64[D]") + np.datetime64(0, "D")
    if date_format is None:
        logger.warning("%s holds %s since 1970: they are read as dates of Greenwich", name, unit)
    return days


def _are_digits(values: pd.Series) -> bool:
    """Tell whether texts are numbers of many digits, as JSON may hold times, but for a few such as "unknown"."""
    known = [value for value in values.dropna() if not isinstance(value, str) or value.strip()]
    digits = sum(isinstance(value, str) and _DIGITS.fullmatch(value.strip()) is not None for value in known)
    return bool(digits) and digits >= (1 - _MOST_WRONG) * len(known)


def _are_years(known: NDArray[np.float64]) -> bool:
    """Tell whether numbers are years; no numbers are, too."""
    return bool(((known >= _FIRST_YEAR) & (known <= _LAST_YEAR) & (known == np.floor(known))).all())


def _unit_of(known: NDArray[np.float64]) -> str | None:
    """Return the unit in which nearly all numbers are times from 1990 to 2100; None where none is."""
    for unit, of_second in _UNITS.items():
        inside = (known >= _SINCE * of_second) & (known < _UNTIL * of_second)
        if known.size and inside.mean() >= 1 - _MOST_WRONG:
            return unit
    return None


def _times(values: pd.Series, date_format: str) -> pd.Series:
    """Read text in a format; what is not written so may be a date of ISO 8601, unless both begin with the year."""
    import pandas as pd

    found = pd.to_datetime(values, format=date_format, utc=True, errors="coerce")
    if date_format.startswith("%Y"):  # 2021-01-31 is wrong for %Y-%d-%m
        return found
    others = values[found.isna() & values.astype("string").str.match(_DATED).fillna(False)]
    found[others.index] = pd.to_datetime(others, format="ISO8601", utc=True, errors="coerce")
    return found


def _read_days(values: pd.Series, date_format: str | None, name: str) -> Days:
    """Read text as days. A few values that are none, such as "unknown", count as missing; of many the first is told."""
    found = _times(values, date_format or "ISO8601")
    there = (values.notna() & (values.astype(str).str.strip() != "")).to_numpy()
    wrong, known = found.isna().to_numpy() & there, int(there.sum())
    if wrong.sum() > _MOST_WRONG * known:
        row = int(np.argmax(wrong))
        first = f"{str(values.iloc[row])!r:.60} of document {row}, and {wrong.sum() - 1:,} more of {known:,}"
        if date_format is None:
            raise InputError(
                f"{name} holds what is not a date ({first}); give dates as 2026-11-23, or say how they are "
                "written with --date-format %d.%m.%Y (in Python: date_format='%d.%m.%Y')."
            )
        raise InputError(
            f"{name} holds what is not a date as {date_format} ({first}); give the format of most of its dates, and "
            "write the others as 2026-11-23, which is read beside it."
        )
    return found.dt.tz_localize(None).to_numpy().astype("datetime64[D]")


def period_starts(days: Days, by: str) -> Days:
    """Return the first day of the period of each day; weeks begin on Monday.

    Parameters
    ----------
    days : ndarray of datetime64[D]
    by : {"day", "week", "month", "quarter", "year"}

    Raises
    ------
    InputError
        If there is no such period.

    Examples
    --------
    >>> days = np.array(["2026-11-23", "2026-11-22", "NaT"], "datetime64[D]")
    >>> [period_starts(days, by).astype(str).tolist()[:2] for by in ("week", "quarter")]
    [['2026-11-23', '2026-11-16'], ['2026-10-01', '2026-10-01']]
    """
    if by not in PERIODS:
        raise InputError(f"by is {by!r}; give one of {', '.join(map(repr, PERIODS))}.")
    known = ~np.isnat(days)
    starts = days.copy()
    if by == "week":
        number = days[known].astype(np.int64)
        starts[known] = (number - (number + 3) % 7).astype("datetime64[D]")  # day 0 was a Thursday
    elif by == "quarter":
        month = days[known].astype("datetime64[M]").astype(np.int64)
        starts[known] = (month - month % 3).astype("datetime64[M]").astype("datetime64[D]")
    elif by != "day":
        starts[known] = days[known].astype({"month": "datetime64[M]", "year": "datetime64[Y]"}[by])
    return starts


def fitting_period(days: Days, most: int = _MOST_PERIODS) -> str:
    """Return the shortest period of which the days span `most` at most, or else year.

    No period is shorter than the dates are precise: months or years, which count from their first day, stay these. So
    do three days or more that all lie in different months or years.

    Parameters
    ----------
    days : ndarray of datetime64[D]
        One at least that is not NaT.
    most : int, default=60

    Examples
    --------
    >>> ends = "2021-03-03", "2021-03-04", "2026-01-01", "2026-01-02"
    >>> [fitting_period(np.arange("2021-01-02", end, dtype="datetime64[D]")) for end in ends]
    ['day', 'week', 'month', 'quarter']
    """
    known = np.unique(days[~np.isnat(days)])
    starts = {by: np.unique(period_starts(known, by)) for by in PERIODS}
    told_apart = [
        by
        for by in PERIODS
        if starts[by].size == known.size and (known.size >= _DAYS_THAT_SAY or (starts[by] == known).all())
    ]
    for by in PERIODS[PERIODS.index(told_apart[-1]) :]:
        if _n_periods(starts[by][0], starts[by][-1], by) <= most:
            return by
    return PERIODS[-1]


def _n_periods(first: np.datetime64, last: np.datetime64, by: str) -> int:
    """Return how many periods there are from one that begins on a day to one that begins on another."""
    if by in _DAYS:
        return int((last - first).astype(np.int64)) // _DAYS[by] + 1
    months = last.astype("datetime64[M]") - first.astype("datetime64[M]")
    return int(months.astype(np.int64)) // _MONTHS[by] + 1


def numbered(values: Any) -> tuple[Int, Any]:
    """Return the number of the group of each value, -1 for none, and the groups in ascending order."""
    import pandas as pd

    codes, groups = pd.factorize(values, sort=True)
    return codes.astype(np.int64), groups


@dataclass(frozen=True, slots=True)
class Span:
    """Days from a first one to a last one, both included.

    Attributes
    ----------
    since, until : datetime64[D] or None
        None: no limit on this side.
    """

    since: np.datetime64 | None
    until: np.datetime64 | None

    @classmethod
    def of(cls, since: Any, until: Any, prefix: str = "") -> Self:
        """Read the first and the last day; a month or a year begins with its first day and ends with its last.

        Parameters
        ----------
        since, until : str, date, datetime64 or None
            As 2026-11-23, 2026-11 or 2026.
        prefix : str, default=""
            What stands before the names of both in messages, such as "--".

        Raises
        ------
        InputError
            If one is not a day, or `until` is before `since`.

        Examples
        --------
        >>> str(Span.of("2026", "2026-02").until)
        '2026-02-28'
        """
        first, last = _day(prefix + "since", since), _day(prefix + "until", until, last=True)
        if first is not None and last is not None and last < first:
            raise InputError(
                f"{prefix}until is {str(until)!r}, which is before {prefix}since, {str(since)!r}; exchange them."
            )
        return cls(first, last)

    @property
    def whole(self) -> bool:
        """Whether there is no limit."""
        return self.since is None and self.until is None

    def holds(self, days: Days) -> NDArray[np.bool_]:
        """Tell which days are in the span; documents without a date are in one without limits only.

        Parameters
        ----------
        days : ndarray of datetime64[D]

        Raises
        ------
        InputError
            If none is.
        """
        kept = np.ones(days.size, bool) if self.whole else ~np.isnat(days)
        if self.since is not None:
            kept &= days >= self.since
        if self.until is not None:
            kept &= days <= self.until
        if not kept.any():
            raise InputError("no document is of these days; give another first or last day.")
        return kept


def _day(name: str, given: Any, *, last: bool = False) -> np.datetime64 | None:
    """Read a day; of a month or a year the first one, or the last."""
    if given is None:
        return None
    try:
        read: Any = np.datetime64(given)
        whole = last and np.datetime_data(read)[0] in ("Y", "M")  # of several days
        day: Any = np.datetime64(read + 1, "D") - 1 if whole else np.datetime64(read, "D")
    except ValueError:
        day = np.datetime64("NaT", "D")
    if np.isnat(day):
        raise InputError(f"{name} is {str(given)!r}, which is not a day; give one as 2026-11-23.")
    return np.datetime64(day)
