"""The shares of topics over the documents, gathered block by block in memory of fixed size."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PRESENT_SHARE = 0.05  # a topic counts as present in a document from this share on
HISTOGRAM_BINS = 20
_WILSON_Z = 1.96


@dataclass(slots=True)
class TopicShares:
    """Running sums over documents (K topics, B bins along the corpus, E examples a topic).

    Attributes
    ----------
    n_present, n_largest : ndarray of int64, of shape (K,)
        Documents with a share of at least `PRESENT_SHARE`, and documents where the topic is the largest.
    histogram : ndarray of int64, of shape (K, HISTOGRAM_BINS)
        Documents by share.
    along_sum : ndarray of shape (B, K)
        Sums of shares by position in the corpus.
    along_count : ndarray of int64, of shape (B,)
        Documents by position in the corpus.
    example_rows : ndarray of int64, of shape (K, E)
        Best documents so far, best first; -1 for none.
    example_scores, example_shares : ndarray of shape (K, E)
        Their scores (`wilson_lower_bound`) and shares.
    """

    n_present: NDArray[np.int64]
    n_largest: NDArray[np.int64]
    histogram: NDArray[np.int64]
    along_sum: NDArray[np.float64]
    along_count: NDArray[np.int64]
    example_rows: NDArray[np.int64]
    example_scores: NDArray[np.float64]
    example_shares: NDArray[np.float64]

    @classmethod
    def empty(cls, n_topics: int, n_bins: int, n_examples: int) -> "TopicShares":
        """Start before the first document.

        Parameters
        ----------
        n_topics, n_bins, n_examples : int
            K, B and E.

        Returns
        -------
        TopicShares
            Zeros.
        """
        return cls(
            n_present=np.zeros(n_topics, dtype=np.int64),
            n_largest=np.zeros(n_topics, dtype=np.int64),
            histogram=np.zeros((n_topics, HISTOGRAM_BINS), dtype=np.int64),
            along_sum=np.zeros((n_bins, n_topics)),
            along_count=np.zeros(n_bins, dtype=np.int64),
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
        positions: NDArray[np.int64],
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
        positions : ndarray of int64, of shape (n,)
            Bin of each document along the corpus.
        """
        n_topics = weights.shape[1]
        self.n_present += (weights >= PRESENT_SHARE).sum(axis=0)
        led = (largest > 0) & (weights.max(axis=1) >= largest)  # documents of unknown words have no topic at all
        self.n_largest += np.bincount(weights[led].argmax(axis=1), minlength=n_topics)
        bins = np.minimum((weights * HISTOGRAM_BINS).astype(np.int64), HISTOGRAM_BINS - 1)
        flat = bins + HISTOGRAM_BINS * np.arange(n_topics)
        self.histogram += np.bincount(flat.ravel(), minlength=self.histogram.size).reshape(self.histogram.shape)
        np.add.at(self.along_sum, positions, weights)
        self.along_count += np.bincount(positions, minlength=self.along_count.size)
        self._keep_best(rows, wilson_lower_bound(weights, lengths[:, None]), weights)

    def _keep_best(self, rows: NDArray[np.int64], scores: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Merge a block into the best documents of each topic; ties go to the earlier document."""
        n_examples = self.example_rows.shape[1]
        for k in range(self.example_rows.shape[0]):
            column = scores[:, k]
            new = np.flatnonzero(column > self.example_scores[k, -1]) if n_examples else np.empty(0, int)
            if new.size == 0:
                continue
            score = np.concatenate([self.example_scores[k], column[new]])
            row = np.concatenate([self.example_rows[k], rows[new]])
            share = np.concatenate([self.example_shares[k], weights[new, k]])
            best = np.argsort(-score, kind="stable")[:n_examples]
            self.example_scores[k], self.example_rows[k] = score[best], row[best]
            self.example_shares[k] = share[best]


def wilson_lower_bound(share: NDArray[np.float64], n_tokens: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lower end of the 95 % Wilson interval of a share that was seen over some tokens.

    Ranks the documents that show a topic best: a long document with 90 % stands above one of three words with
    100 % (Wilson 1927, Probable inference, the law of succession, and statistical inference).

    Parameters
    ----------
    share : ndarray
        Shares between 0 and 1.
    n_tokens : ndarray, broadcastable to share
        Tokens of the documents, positive.

    Returns
    -------
    ndarray
        Lower bounds between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> wilson_lower_bound(np.array([1.0, 0.9]), np.array([3.0, 300.0])).round(2)
    array([0.44, 0.86])
    """
    z2 = _WILSON_Z**2
    centre = share + z2 / (2 * n_tokens)
    spread = _WILSON_Z * np.sqrt(share * (1 - share) / n_tokens + z2 / (4 * n_tokens**2))
    bound: NDArray[np.float64] = np.maximum(centre - spread, 0.0) / (1 + z2 / n_tokens)
    return bound
