"""Spans of days, to ask about the documents of some days alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError
from stickbreak.questions.columns import Days


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
