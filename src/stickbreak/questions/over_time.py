"""How much of the tokens of each period a topic has, and which topics grow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.by_category import ROUNDING, adjusted
from stickbreak.questions.columns import Days, days_of, fitting_period, numbered, period_starts
from stickbreak.questions.intervals import LEVEL, RESAMPLES, Blocks, group_shares
from stickbreak.questions.labels import LabelledTopics, labelled_topics
from stickbreak.questions.weights import documents_with, warn_of_gaps, weight_blocks

if TYPE_CHECKING:
    import pandas as pd

_DAYS_OF_A_YEAR = 365.25


def topics_over_time(
    model: FlatTopics,
    X: Any,
    dates: Any = None,
    by: str | None = None,
    *,
    topic: int | None = None,
    date_format: str | None = None,
    n_resamples: int = RESAMPLES,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return the share of each topic in the tokens of each period, with 95 % intervals.    docs/math (Q1), (Q2)

    The intervals say how the share would vary with other documents of the same kind: the documents of a period are
    resampled (Bayesian bootstrap). The topics stay fixed.

    Parameters
    ----------
    X : Corpus, sparse matrix or array of shape (D, W)
    dates : str or array-like of length D, optional
        A column of `Corpus.metadata`, or of X if that is a data frame; or the date of each document. Years as
        numbers are dates, too. The default is the only column of dates. Documents without a date are left out.
    by : {"day", "week", "month", "quarter", "year"}, optional
        The periods. Weeks begin on Monday. The default is the shortest of which the dates span 60 at most, or else
        year. Dates that all lie in different months are counted by month, or by a longer period that tells them
        apart. `attrs["by"]` of the table says which.
    topic : int, optional
        Only this topic, without any adjustment of p for the others. The default is all; of a tree the 100 largest
        leaves.
    date_format : str, optional
        How dates are written, as in `datetime.strptime`, or "seconds" or "milliseconds" since 1970. By default text
        must be as in ISO 8601 (2026-11-23); times since 1970 are recognised where nearly all lie from 1990 to 2100.
    n_resamples : int, default=500
        Number of resamples of the documents.
    random_state : int, default=0
        Seed of the resamples.

    Returns
    -------
    DataFrame
        A row for each topic and period: topic, label, period (its first day), mean_weight, low, high, tokens and
        documents of the period. Periods without tokens have no row. low and high are NaN where there is a single
        document.

    Raises
    ------
    InputError
        If there are no dates, or they cannot be read.
    """
    import pandas as pd

    asked, corpus = labelled_topics(model, topic), documents_with(model, X, dates)
    days = days_of(corpus, dates, date_format)
    warn_of_gaps(np.isnat(days), "date")
    by = fitting_period(days) if by is None else by
    resamples = {"n_resamples": check_whole("n_resamples", n_resamples, 2), "seed": random_state}
    starts = period_starts(days, by)
    starts[np.asarray(corpus.document_lengths) <= 0] = np.datetime64("NaT")
    group, periods = numbered(starts.astype("datetime64[s]"))
    if not (group >= 0).any():
        raise InputError("no document has both words of the model and a value to group it by; give such documents.")
    found = group_shares(model, corpus, group, len(periods), asked.numbers, **resamples)
    G, n = len(periods), asked.numbers.size
    table = pd.DataFrame(
        {
            "topic": np.repeat(asked.numbers, G),
            "label": np.repeat(np.array(asked.labels, dtype=object), G),
            "period": np.tile(periods, n),
            "mean_weight": found.shares.T.ravel(),
            "low": found.low.T.ravel(),
            "high": found.high.T.ravel(),
            "tokens": np.tile(found.tokens, n),
            "documents": np.tile(found.n_documents, n),
        }
    )
    table.attrs["by"] = by
    return table


def topic_trends(
    model: FlatTopics, X: Any, dates: Any = None, *, topic: int | None = None, date_format: str | None = None
) -> pd.DataFrame:
    """Return how fast the share of each topic grows, the fastest first.                        docs/math (Q4)

    Parameters
    ----------
    X : Corpus, sparse matrix or array of shape (D, W)
        Choose documents to look at some years only.
    dates, topic, date_format
        As in `topics_over_time`.

    Returns
    -------
    DataFrame
        A row for each topic: topic, label, mean_weight, change (of it in a year), low, high (95 % interval of the
        change), p (of no change; adjusted for the number of topics after Benjamini and Hochberg). Intervals allow for
        any scatter of the documents (White, A heteroskedasticity-consistent covariance matrix estimator, 1980).

    Raises
    ------
    InputError
        If there are no dates, or fewer than three documents with them, or all are of one day.
    """
    asked, corpus = labelled_topics(model, topic), documents_with(model, X, dates)
    days = days_of(corpus, dates, date_format)
    warn_of_gaps(np.isnat(days), "date")
    blocks = partial(weight_blocks, model, corpus, asked.numbers)
    return trends_of(blocks, np.asarray(corpus.document_lengths, dtype=np.float64), days, asked)


def trends_of(blocks: Blocks, lengths: Float, days: Days, asked: LabelledTopics) -> pd.DataFrame:
    """Return what `topic_trends` does, from blocks of weights, and tokens and days of documents.  docs/math (Q4)"""
    import pandas as pd

    N = lengths
    rows = np.flatnonzero(~np.isnat(days) & (N > 0))
    years = (days.astype(np.int64) - days[rows[:1]].astype(np.int64)) / _DAYS_OF_A_YEAR if rows.size else N
    if rows.size < 3 or np.ptp(years[rows]) == 0:
        raise InputError("a trend needs three documents with words, of different days; give more documents.")
    t = years - np.average(years[rows], weights=N[rows])
    n = asked.numbers.size
    first, squared = np.zeros((4, n)), np.zeros(n)
    for block, pi in blocks(rows):
        w, u = N[block], t[block]
        first += np.stack([w, w * u, (w * u) ** 2, w**2 * u**3]) @ pi
        squared += (w * u) ** 2 @ pi**2
    w, u = N[rows], t[rows]
    leverage = w @ u**2
    a, b = first[0] / w.sum(), first[1] / leverage
    fourth = w**2 @ u**4
    constant = a**2 * (w**2 @ u**2) + 2 * a * b * (w**2 @ u**3) + b**2 * fourth
    scatter = squared - 2 * a * first[2] - 2 * b * first[3] + constant  # sum of w^2 u^2 (pi - a - b u)^2
    scatter = np.where(scatter > ROUNDING * squared, scatter, 0.0)
    effective = float(leverage**2 / fourth)  # documents of equal length and distance in time that say as much
    freedom = max(effective - 1, 1.0)
    error = np.sqrt(scatter * effective / freedom) / leverage
    reach = stats.t.ppf((1 + LEVEL) / 2, freedom) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        certain = np.where(b**2 * fourth <= ROUNDING * squared, 1.0, 0.0)
        p = np.where(error > 0, 2 * stats.t.sf(np.abs(b) / error, freedom), certain)
    frame = pd.DataFrame(
        {
            "topic": asked.numbers,
            "label": list(asked.labels),
            "mean_weight": a,
            "change": b,
            "low": b - reach,
            "high": b + reach,
            "p": adjusted(p),
        }
    )
    return frame.sort_values("change", ascending=False, kind="stable", ignore_index=True)
