"""How probable a label is, given the weight of its topic (math.md (L18))."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from stickbreak.model.document_labels import DocumentLabels
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream

MOST_DOCUMENTS = 5000  # that the curve is fitted to
LEAST_WEIGHT = 1e-4  # smaller weights of a topic say no more
RIDGE = 1e-3  # of the slope: a perfect separation has no other limit
STEPS = 100


def documents_for_curve(labels: DocumentLabels, seed: int) -> Int:
    """Return the documents with labels that the curve is fitted to, in their order."""
    rows = np.flatnonzero(np.diff(labels.start) > 0)
    if rows.size > MOST_DOCUMENTS:
        rows = np.sort(stream(seed, "documents of the label curve").permutation(rows)[:MOST_DOCUMENTS])
    return rows.astype(np.int64)


def log_odds(weights: Float) -> Float:
    """Return log w / (1 - w) of weights, cut at both ends."""
    cut = np.clip(weights, LEAST_WEIGHT, 1.0 - LEAST_WEIGHT)
    return np.asarray(np.log(cut / (1.0 - cut)))


def fitted_curve(weights: Float, has: Float) -> list[float]:
    """Return a and b of P(label | weight) = 1 / (1 + exp(-a - b log_odds)), by Newton's method.         math.md (L18)

    Parameters
    ----------
    weights : ndarray of shape (n, n_labels)
        Weights of the topics of labels in documents.
    has : ndarray of shape (n, n_labels)
        1 for the labels that they have.
    """
    x, y, at = log_odds(weights).ravel(), has.ravel(), np.zeros(2)
    design = np.stack([np.ones_like(x), x], axis=1)
    for _ in range(STEPS):
        p = expit(design @ at)
        slope = design.T @ (y - p) - RIDGE * at
        curvature = (design * (p * (1.0 - p))[:, None]).T @ design + RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        at = at + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if float(np.abs(step).max()) < 1e-9:
            break
    return [float(at[0]), float(at[1])]


def probabilities(weights: Float, curve: list[float]) -> Float:
    """Return the probability of each label, (D, n_labels).                                            math.md (L18)"""
    return np.asarray(expit(curve[0] + curve[1] * log_odds(weights)))
