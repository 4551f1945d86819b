"""The alpha that predicts: from documents that had no part in the topics.                            docs/math (L21)"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from stickbreak.corpus import Corpus
from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream
from stickbreak.prediction.completion import completion_log_likelihood
from stickbreak.prediction.document_weights import collapsed_weights

SHARE, MOST_TOKENS = 0.1, 1 << 14  # of the documents that are set apart
FORGETTING = 10  # laps in which topics forget them
RANGE = math.log(16.0)  # of the logarithm of the factor
PRECISION = 0.1  # of it


def documents_apart(corpus: Corpus, seed: int) -> Int:
    """Draw the documents to be set apart, in the order of their numbers: none where there are fewer than ten."""
    lengths = np.asarray(corpus.document_lengths)
    rows = stream(seed, "documents apart").permutation(np.flatnonzero(lengths > 1))
    rows = rows[: int(SHARE * rows.size)]
    return np.sort(rows[: np.searchsorted(np.cumsum(lengths[rows]), MOST_TOKENS) + 1])


def best_factor(apart: Corpus, topics: Float, a: Float, expected: float, executor: Executor, seed: int) -> float:
    """Return the factor of a with which the first halves of documents predict the second ones best.

    Parameters
    ----------
    apart : Corpus
        Documents that the topics do not know.
    topics : ndarray of shape (K, W)
        Positive word distributions.
    a : ndarray of shape (K,)
    expected : float
        What the factor is without documents.
    executor : Executor
    seed : int
        Of the halves.
    """
    observed, held_out = apart.halves(seed=seed)

    def loss(log_factor: float) -> float:
        weights = collapsed_weights(observed, topics, math.exp(log_factor) * a, executor)
        predicted, _ = completion_log_likelihood(weights, topics, held_out.counts)
        return 2.0 * (log_factor - math.log(expected)) ** 2 - predicted

    found = minimize_scalar(loss, bounds=(-RANGE, RANGE), method="bounded", options={"xatol": PRECISION})
    return math.exp(found.x)
