"""How much of the tokens of each category a topic has, and where that differs from the other documents.

The test is that of Welch (1947) for two means of different variance, with the linear approximation of the variance of a
ratio (Cochran, Sampling techniques, 1977, Section 6.4), and the adjustment of Benjamini and Hochberg (1995).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.columns import numbered
from stickbreak.questions.intervals import RESAMPLES, GroupShares, group_shares, shares_of_sums
from stickbreak.questions.weights import Asked

if TYPE_CHECKING:
    import pandas as pd

_MOST_CATEGORIES = 1000
_ROUNDING = 1e-12  # a sum of squares that is smaller, relative to its parts, is zero


def topics_by(
    topics: FlatTopics,
    corpus: Corpus,
    categories: Any,
    asked: Asked,
    *,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the share of the tokens of each category that each topic has.             math.md (Q1), (Q2), (Q3)

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
        D documents.
    categories : array-like of length D
        Documents without one are left out.
    asked : Asked
    n_resamples : int
    seed : int

    Returns
    -------
    DataFrame
        A row for each topic and category: topic, label, category, share, low, high, difference (from the share in the
        documents of the other categories), p (adjusted), tokens, documents.

    Raises
    ------
    InputError
        If there are more than 1,000 categories, or none.
    """
    import pandas as pd

    group, names = numbered(categories)
    if not len(names):
        raise InputError("no document has a category; give a value for each document.")
    if len(names) > _MOST_CATEGORIES:
        raise InputError(
            f"there are {len(names):,} categories, such as {str(names[0])!r:.40}; give a column of at most "
            f"{_MOST_CATEGORIES:,} different values."
        )
    found = group_shares(topics, corpus, group, len(names), asked.numbers, n_resamples=n_resamples, seed=seed)
    difference, p = differences(found)
    G, n = len(names), asked.numbers.size
    frame = pd.DataFrame(
        {
            "topic": np.repeat(asked.numbers, G),
            "label": np.repeat(np.array(asked.labels, dtype=object), G),
            "category": np.tile(np.asarray(names), n),
            "share": found.shares.T.ravel(),
            "low": found.low.T.ravel(),
            "high": found.high.T.ravel(),
            "difference": difference.T.ravel(),
            "p": adjusted(p.T.ravel()),
            "tokens": np.tile(found.tokens, n),
            "documents": np.tile(found.n_documents, n),
        }
    )
    return frame[frame["documents"] > 0].reset_index(drop=True)


def differences(found: GroupShares) -> tuple[Float, Float]:
    """Compare each group of documents with all others, (G, n) each.                              math.md (Q3)

    Returns
    -------
    difference : ndarray of shape (G, n)
        Share in the group less share in the others; NaN where there are no others.
    p : ndarray of shape (G, n)
        Of Welch's test, not adjusted; NaN where a side has a single document.
    """
    inside = (found.of_topics, found.of_squares, found.squared, found.tokens, found.squares, found.n_documents)
    outside = [part.sum(axis=0) - part for part in inside]
    share, variance, freedom = _mean_and_variance(*inside)
    other, variance_of_other, freedom_of_other = _mean_and_variance(*outside)
    difference, both = share - other, variance + variance_of_other
    with np.errstate(invalid="ignore", divide="ignore"):
        degrees = both**2 / (variance**2 / freedom + variance_of_other**2 / freedom_of_other)
        p = np.asarray(2 * stats.t.sf(np.abs(difference) / np.sqrt(both), degrees))
    certain = both == 0
    p[certain] = np.where(np.isclose(difference[certain], 0.0), 1.0, 0.0)
    return difference, p


def _mean_and_variance(
    of_topics: Float, of_squares: Float, squared: Float, tokens: Float, squares: Float, n_documents: Int
) -> tuple[Float, Float, Float]:
    """Return shares, their variances and degrees of freedom; NaN where these are not known."""
    share = shares_of_sums(of_topics, tokens)
    with np.errstate(invalid="ignore", divide="ignore"):
        n = np.where(n_documents > 1, tokens**2 / squares, np.nan)
        freedom = np.where(n > 1, n - 1, np.nan)[:, None]
        scatter = squared - 2 * share * of_squares + share**2 * squares[:, None]
        scatter = np.where(scatter > _ROUNDING * squared, scatter, 0.0)
        variance = scatter / tokens[:, None] ** 2 * (n[:, None] / freedom)
    return share, variance, freedom


def adjusted(p: Float) -> Float:
    """Return p values adjusted for their number, so that their false discovery rate is bounded; NaN stays.

    Examples
    --------
    >>> adjusted(np.array([0.01, np.nan, 0.04, 0.03])).tolist()
    [0.03, nan, 0.04, 0.04]
    """
    result = np.full(p.shape, np.nan)
    known = np.isfinite(p)
    if known.any():
        result[known] = stats.false_discovery_control(np.clip(p[known], 0.0, 1.0))
    return result
