"""How much of the tokens of each category a topic has, and where that differs from the other documents.

The test takes the scatter of all documents for that of each side, as it is where nothing differs: in a small category
that lacks a rare topic by chance there is no scatter at all. Variances of ratios are linear approximations (Cochran,
Sampling techniques, 1977, Section 6.4), p values are adjusted after Benjamini and Hochberg (1995).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.columns import categories_of, numbered
from stickbreak.questions.intervals import RESAMPLES, GroupShares, group_shares, shares_of_sums
from stickbreak.questions.labels import labelled_topics
from stickbreak.questions.weights import documents_with, warn_of_gaps

if TYPE_CHECKING:
    import pandas as pd

MOST_CATEGORIES = 1000
_CHANCE = 0.05  # a p from which a difference may be chance
LEAST_DOCUMENTS = 10  # that are expected to have a topic, and not to have it, where a category is compared
ROUNDING = 1e-12  # a sum that is smaller, relative to its parts, is zero


def topics_by(
    model: FlatTopics,
    X: Any,
    category: Any,
    *,
    topic: int | None = None,
    n_resamples: int = RESAMPLES,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return the share of each topic in the tokens of each category, with 95 % intervals and a test.

    Intervals are those of `topics_over_time`. Each share is compared with the share in the documents of all other
    categories, p adjusted for the number of rows after Benjamini and Hochberg.               docs/math (Q1) to (Q3)

    Parameters
    ----------
    X : Corpus, sparse matrix or array of shape (D, W)
    category : str, int or array-like of length D
        A column of `Corpus.metadata`, or of X if that is a data frame; or the category of each document. Documents
        without one are left out.
    topic, n_resamples, random_state
        As in `topics_over_time`.

    Returns
    -------
    DataFrame
        A row for each topic and category: topic, label, category, mean_weight, low, high, difference, p, tokens and
        documents of the category. The largest differences are first, those with p below 0.05 before all others, and
        those without p last; those of one `topic` are in the order of the categories.

    Raises
    ------
    InputError
        If there is no such column, no category or more than 1,000, or a value is not one, as a list is.
    """
    import pandas as pd

    asked, corpus = labelled_topics(model, topic), documents_with(model, X, category)
    categories = categories_of(corpus, category, "category")
    warn_of_gaps(categories.isna().to_numpy(), "category")
    check_whole("n_resamples", n_resamples, 2)
    group, names = numbered(categories)
    if not len(names):
        raise InputError("no document has a category; give a value for each document.")
    if len(names) > MOST_CATEGORIES:
        raise InputError(
            f"there are {len(names):,} categories, such as {str(names[0])!r:.40}; give a column of at most "
            f"{MOST_CATEGORIES:,} different values."
        )
    resamples = {"n_resamples": int(n_resamples), "seed": random_state}
    found = group_shares(model, corpus, group, len(names), asked.numbers, **resamples)
    difference, p = differences(found)
    G, n = len(names), asked.numbers.size
    frame = pd.DataFrame(
        {
            "topic": np.repeat(asked.numbers, G),
            "label": np.repeat(np.array(asked.labels, dtype=object), G),
            "category": np.tile(np.asarray(names), n),
            "mean_weight": found.shares.T.ravel(),
            "low": found.low.T.ravel(),
            "high": found.high.T.ravel(),
            "difference": difference.T.ravel(),
            "p": adjusted(p.T.ravel()),
            "tokens": np.tile(found.tokens, n),
            "documents": np.tile(found.n_documents, n),
        }
    )
    frame = frame[frame["documents"] > 0].reset_index(drop=True)
    if topic is not None:
        return frame
    size, p = frame["difference"].abs().fillna(0.0), frame["p"]
    return frame.iloc[np.lexsort((-size, ~(p < _CHANCE), p.isna()))].reset_index(drop=True)


def differences(found: GroupShares) -> tuple[Float, Float]:
    """Compare each group of documents with all others, (G, n) each.                              docs/math (Q3)

    Returns
    -------
    difference : ndarray of shape (G, n)
        Share in the group less share in the others; NaN where there are no others.
    p : ndarray of shape (G, n)
        Not adjusted; NaN where fewer than `LEAST_DOCUMENTS` documents of a side are expected to have the topic, or not
        to have it.
    """
    tokens, squares = found.tokens, found.squares
    rest, rest_squares = tokens.sum() - tokens, squares.sum() - squares
    others = shares_of_sums(found.of_topics.sum(axis=0) - found.of_topics, rest)
    difference = shares_of_sums(found.of_topics, tokens) - others
    mean, first, second = _means(found)
    scatter = second - 2 * mean * first + mean**2
    scatter = np.where(scatter > ROUNDING * second, scatter, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        n = tokens.sum() ** 2 / squares.sum()
        spread = squares / tokens**2 + rest_squares / rest**2
        variance = scatter * (n / (n - 1)) * spread[:, None]
        p = np.asarray(2 * stats.t.sf(np.abs(difference) / np.sqrt(variance), n - 1))
        n_with = np.minimum(mean**2 / second, (1 - mean) ** 2 / (1 - 2 * first + second))
        n_side = np.minimum(tokens**2 / squares, rest**2 / rest_squares)
        few = ~(np.outer(n_side, np.where(scatter > 0, n_with, 1.0)) >= LEAST_DOCUMENTS)
    certain = variance == 0
    p[certain] = np.where(np.isclose(difference[certain], 0.0), 1.0, 0.0)
    p[few] = np.nan
    return difference, p


def _means(found: GroupShares) -> tuple[Float, Float, Float]:
    """Return the share of each topic in all tokens, and the means of weights and their squares by squared length."""
    share = found.of_topics.sum(axis=0) / found.tokens.sum()
    squares = found.squares.sum()
    return share, found.of_squares.sum(axis=0) / squares, found.squared.sum(axis=0) / squares


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
