"""One way to score the topics of any system: weights of held-out documents by the same fixed point for all.

The weights of a document are (N_dk + alpha b_k) / (N_d + alpha) at the fixed point of zero-order collapsed inference,
with the topics phi and the topic weights b (their sum made one) of the system. Words that never occur in training are
left out everywhere: systems differ in whether they know of them at all.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.harness.corpora import Split
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.prediction.completion import completion_log_likelihood
from stickbreak.prediction.document_weights import collapsed_weights

SMALLEST_WEIGHT = 1e-12
SHARE = 0.99

Float = NDArray[np.float64]


class FoldIn:
    """The held-out documents of a split, to be scored under given topics.

    Parameters
    ----------
    split : Split
    alpha : float
        Document-level concentration, the same for all systems.
    """

    def __init__(self, split: Split, alpha: float) -> None:
        self.alpha = alpha
        known = sp.diags_array(split.seen.astype(np.float64))
        observed, held_out = (sp.csr_array(part.counts @ known) for part in (split.observed, split.held_out))
        for part in (observed, held_out):
            part.eliminate_zeros()
        both = np.flatnonzero((observed.sum(axis=1) > 0) & (held_out.sum(axis=1) > 0))
        self._observed, self._held_out = (Corpus.from_counts(part[both]) for part in (observed, held_out))
        self._whole = Corpus.from_counts(observed + held_out)

    def completion(self, topic_word: Float, weights: Float) -> float:
        """Return document completion: weights from the first halves, nats per token of the second halves."""
        theta = self._weights(self._observed, topic_word, weights)
        return mean(completion_log_likelihood(theta, topic_word, self._held_out.counts))

    def per_word(self, topic_word: Float, weights: Float) -> tuple[float, int]:
        """Return the per-word log-likelihood of Burkhardt and Kramer (2017), Eq. 26, with every token counting alike.

        The weights are estimated on the words that are scored: no held-out probability. Returned too: how many of the
        largest topics hold 99 % of these tokens.
        """
        theta = self._weights(self._whole, topic_word, weights)
        tokens = np.sort(theta.T @ np.asarray(self._whole.document_lengths, dtype=np.float64))[::-1]
        n_topics = int((np.cumsum(tokens) < SHARE * tokens.sum()).sum()) + 1
        return mean(completion_log_likelihood(theta, topic_word, self._whole.counts)), n_topics

    def _weights(self, corpus: Corpus, topic_word: Float, weights: Float) -> Float:
        prior = np.maximum(weights / weights.sum(), SMALLEST_WEIGHT) * self.alpha
        with Engine(1) as engine:
            return collapsed_weights(corpus, topic_word, prior, engine)


def mean(scored: tuple[float, float]) -> float:
    """Return the mean of a sum and a number of tokens."""
    return scored[0] / scored[1]
