"""How much of the tokens of each period a topic has, and which topics grow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.by_category import adjusted
from stickbreak.questions.columns import Days, numbered, period_starts
from stickbreak.questions.intervals import LEVEL, RESAMPLES, Blocks, group_shares
from stickbreak.questions.weights import Asked, weight_blocks

if TYPE_CHECKING:
    import pandas as pd

_DAYS_OF_A_YEAR = 365.25


def topics_over_time(
    topics: FlatTopics,
    corpus: Corpus,
    days: Days,
    by: str,
    asked: Asked,
    *,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the share of the tokens of each period that each topic has.                      math.md (Q1), (Q2)

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
        D documents.
    days : ndarray of datetime64[D], of shape (D,)
        NaT: the document is left out.
    by : {"day", "week", "month", "quarter", "year"}
    asked : Asked
    n_resamples : int
    seed : int

    Returns
    -------
    DataFrame
        A row for each topic and period: topic, label, period (its first day), mean_weight, low, high, tokens,
        documents. Periods without a token have no row.
    """
    import pandas as pd

    starts = period_starts(days, by)
    starts[np.asarray(corpus.document_lengths) <= 0] = np.datetime64("NaT")
    group, periods = numbered(starts.astype("datetime64[s]"))
    check_some(group)
    found = group_shares(topics, corpus, group, len(periods), asked.numbers, n_resamples=n_resamples, seed=seed)
    G, n = len(periods), asked.numbers.size
    return pd.DataFrame(
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


def topic_trends(topics: FlatTopics, corpus: Corpus, days: Days, asked: Asked) -> pd.DataFrame:
    """Return how fast the share of each topic grows: a weighted regression of weights on time.        math.md (Q4)

    The standard errors allow for any scatter of the documents (White, A heteroskedasticity-consistent covariance
    matrix estimator, 1980).

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
    days : ndarray of datetime64[D], of shape (D,)
    asked : Asked

    Returns
    -------
    DataFrame
        A row for each topic, the fastest growing first: topic, label, mean_weight, change (of it in a year), low,
        high, p (adjusted for the number of topics).

    Raises
    ------
    InputError
        If all documents are of one day, or fewer than three have a day and tokens.
    """
    blocks = partial(weight_blocks, topics, corpus, asked.numbers)
    return trends_of(blocks, np.asarray(corpus.document_lengths, dtype=np.float64), days, asked)


def trends_of(blocks: Blocks, lengths: Float, days: Days, asked: Asked) -> pd.DataFrame:
    """Return the same from weights that are known already.

    Parameters
    ----------
    blocks : callable
        As for `shares_in_groups`.
    lengths : ndarray of shape (D,)
        Tokens of the documents.
    days : ndarray of datetime64[D], of shape (D,)
    asked : Asked
    """
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
    constant = a**2 * (w**2 @ u**2) + 2 * a * b * (w**2 @ u**3) + b**2 * (w**2 @ u**4)
    scatter = squared - 2 * a * first[2] - 2 * b * first[3] + constant  # sum of w^2 u^2 (pi - a - b u)^2
    effective = float(leverage**2 / (w**2 @ u**4))  # documents of equal length and distance in time that say as much
    freedom = max(effective - 1, 1.0)
    error = np.sqrt(np.maximum(scatter, 0.0) * effective / freedom) / leverage
    reach = stats.t.ppf((1 + LEVEL) / 2, freedom) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(error > 0, 2 * stats.t.sf(np.abs(b) / error, freedom), np.where(b == 0, 1.0, 0.0))
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


def check_some(group: np.ndarray) -> None:
    """Refuse documents of which none is in a group and has words.

    Raises
    ------
    InputError
    """
    if not (group >= 0).any():
        raise InputError("no document has both words of the model and a value to group it by; give such documents.")
