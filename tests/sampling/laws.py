"""Whether what was drawn has the law that it should have."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2, t

ALARM = 1e-4  # accepted rate of false alarms of a chi-square test, all of fixed seeds
BLOCKS = 50
FLOOR = 1e-4  # of the standard error of a mean


def chi_square(seen, p):
    """Return the P-value of the frequencies `seen` in cells of probabilities p."""
    return chi2.sf(*statistic(seen, p))


def statistic(seen, p):
    """Return the chi-square statistic and its degrees of freedom; cells with few expected are put together."""
    order = np.argsort(-np.asarray(p))
    expected = np.asarray(p)[order] * np.sum(seen)
    large = max(1, int(np.searchsorted(-expected, -5.0)))
    pooled = [np.append(x[:large], x[large:].sum()) for x in (np.asarray(seen)[order], expected)]
    kept = pooled[1] > 0
    return np.sum((pooled[0][kept] - pooled[1][kept]) ** 2 / pooled[1][kept]), max(1, kept.sum() - 1)


def z_scores(values, exact, exact_variance=0.0, least_error=0.0):
    """Return (mean - exact) / standard error of the columns of values (T, F), from means over blocks."""
    values = np.asarray(values, dtype=float)
    blocks = values[: len(values) // BLOCKS * BLOCKS].reshape(BLOCKS, -1, values.shape[1]).mean(axis=1)
    error = np.sqrt(blocks.var(axis=0, ddof=1) / BLOCKS + exact_variance)
    return (blocks.mean(axis=0) - exact) / np.maximum(error, np.maximum(least_error, FLOOR))


def largest_z(n, n_blocks=BLOCKS):
    """Return what the largest |z| of n scores passes with a probability of ALARM at most, all of them right.

    Scores are from means over blocks: Student's t; None: from so many terms that they are normal.
    """
    return float(t.isf(ALARM / (2 * n), np.inf if n_blocks is None else n_blocks - 1))
