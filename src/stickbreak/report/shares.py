"""The shares of topics over the documents, gathered block by block in memory of fixed size."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickbreak.questions.documents import keep_best, wilson_lower_bound

PRESENT_SHARE = 0.05  # a topic counts as present in a document from this share on
HISTOGRAM_BINS = 20


@dataclass(slots=True)
class TopicShares:
    """Running sums over documents (K topics, E examples of a topic).

    Attributes
    ----------
    n_present, n_largest : ndarray of int64, of shape (K,)
        Documents with a share of at least `PRESENT_SHARE`, and documents where the topic is the largest.
    histogram : ndarray of int64, of shape (K, HISTOGRAM_BINS)
        Documents by share.
    together : ndarray of shape (K, K)
        Sums of products of the shares of two topics.
    example_rows : ndarray of int64, of shape (K, E)
        Best documents so far, best first; -1 for none.
    example_scores, example_shares : ndarray of shape (K, E)
        Their scores (`wilson_lower_bound`) and shares.
    """

    n_present: NDArray[np.int64]
    n_largest: NDArray[np.int64]
    histogram: NDArray[np.int64]
    together: NDArray[np.float64]
    example_rows: NDArray[np.int64]
    example_scores: NDArray[np.float64]
    example_shares: NDArray[np.float64]

    @classmethod
    def empty(cls, n_topics: int, n_examples: int) -> "TopicShares":
        """Start before the first document.

        Parameters
        ----------
        n_topics, n_examples : int
            K and E.

        Returns
        -------
        TopicShares
            Zeros.
        """
        return cls(
            n_present=np.zeros(n_topics, dtype=np.int64),
            n_largest=np.zeros(n_topics, dtype=np.int64),
            histogram=np.zeros((n_topics, HISTOGRAM_BINS), dtype=np.int64),
            together=np.zeros((n_topics, n_topics)),
            example_rows=np.full((n_topics, n_examples), -1, dtype=np.int64),
            example_scores=np.full((n_topics, n_examples), -np.inf),
            example_shares=np.zeros((n_topics, n_examples)),
        )

    def add(
        self,
        rows: NDArray[np.int64],
        lengths: NDArray[np.float64],
        weights: NDArray[np.float64],
        largest: NDArray[np.float64],
    ) -> None:
        """Add a block of documents, none of them empty.

        Parameters
        ----------
        rows : ndarray of int64, of shape (n,)
            Rows of the documents in the corpus, in increasing order over all blocks.
        lengths : ndarray of shape (n,)
            Tokens of the documents, positive.
        weights : ndarray of shape (n, K)
            Topic weights; rows sum to one, or less where the documents have other topics, too.
        largest : ndarray of shape (n,)
            The largest weight of any topic, of these or others.
        """
        n_topics = weights.shape[1]
        self.n_present += (weights >= PRESENT_SHARE).sum(axis=0)
        led = (largest > 0) & (weights.max(axis=1) >= largest)  # documents of unknown words have no topic at all
        self.n_largest += np.bincount(weights[led].argmax(axis=1), minlength=n_topics)
        bins = np.minimum((weights * HISTOGRAM_BINS).astype(np.int64), HISTOGRAM_BINS - 1)
        flat = bins + HISTOGRAM_BINS * np.arange(n_topics)
        self.histogram += np.bincount(flat.ravel(), minlength=self.histogram.size).reshape(self.histogram.shape)
        self.together += weights.T @ weights
        best = self.example_rows, self.example_scores, self.example_shares
        keep_best(best, rows, wilson_lower_bound(weights, lengths[:, None]), weights)
