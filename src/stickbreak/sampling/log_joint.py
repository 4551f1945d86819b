"""The joint log-likelihood of a state, with all its constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from stickbreak.numerics.arrays import Int
from stickbreak.numerics.stirling import StirlingRatios
from stickbreak.sampling.kernels import counts as kernels
from stickbreak.sampling.known import KnownTopics, LabelTables
from stickbreak.sampling.state import Concentrations, DocumentTopics, TopicCounts, packed

_SMALL = 1 << 20  # cells of a table of all pairs that is always small enough


@dataclass(frozen=True, slots=True)
class TablePairs:
    """How often a topic of a document has n tokens at m tables; in the order of n, then of m."""

    n: Int  # (P,)
    m: Int  # (P,)
    times: Int  # (P,)

    @classmethod
    def of(cls, n: NDArray[np.integer], m: NDArray[np.integer]) -> Self:
        """Count equal pairs."""
        width = int(m.max(initial=0)) + 1
        key, n_keys = n.astype(np.int64) * width + m, (int(n.max(initial=0)) + 1) * width
        if n_keys > max(_SMALL, key.size):
            found, key = np.unique(key, return_inverse=True)
        else:
            found = np.arange(n_keys)
        total = np.bincount(key, minlength=found.size)
        found, total = found[total > 0], total[total > 0]
        return cls(found // width, found % width, total)

    @classmethod
    def of_documents(cls, start: Int, documents: DocumentTopics) -> Self:
        """Count the pairs of the topics of the first D documents, which begin at start (D + 1,)."""
        size = documents.size[: start.size - 1]
        own = start, size, documents.n, documents.m
        n_most, m_most = kernels.largest_pair(*own)
        if (n_most + 1) * (m_most + 1) > _SMALL:
            n, m = (packed(start, size, x) for x in (documents.n, documents.m))
            return cls.of(n, m)
        times = np.zeros((n_most + 1, m_most + 1), np.int64)
        kernels.count_pairs(*own, times)
        n_of, m_of = np.nonzero(times)
        return cls(n_of, m_of, times[n_of, m_of])

    @property
    def most_tables(self) -> int:
        """The most tables that a topic has in a document."""
        return int(self.m.max(initial=0))


def log_joint(
    pairs: TablePairs,
    lengths: Int,
    counts: TopicCounts,
    concentrations: Concentrations,
    ratios: StirlingRatios,
    known: KnownTopics | None = None,
    labels: LabelTables | None = None,
) -> float:
    """Return log p(x, z, m | alpha, gamma, eta) in nats.                                   docs/math (G1)

    The same for all representations: which tokens of a topic share a table is summed out, and so are corpus weights.

    Parameters
    ----------
    pairs : TablePairs
        Of all documents.
    lengths : ndarray of shape (D,)
        Tokens of each document.
    counts : TopicCounts
        Of the same state.
    concentrations : Concentrations
    ratios : StirlingRatios
    known : KnownTopics, optional
        In `counts`, and given: nothing that is drawn.                                      docs/math (G15)
    labels : LabelTables, optional
        What the tables say of the labels of the documents, which are given, too.           docs/math (G16)
    """
    alpha, gamma, eta = concentrations.alpha, concentrations.gamma, concentrations.eta
    m_k, n_labels = counts.m[: counts.n_topics], 0 if labels is None else labels.n_labels
    of_labels, of_others = (0, 0) if known is None else known.n_tables(n_labels)
    n_known = (0 if known is None else known.n.size) - n_labels
    tables = kernels.log_seatings(pairs.n, pairs.m, pairs.times, ratios)
    tables = tables + (m_k.sum() - of_labels - of_others) * np.log(alpha)
    tables += (gammaln(alpha) - gammaln(alpha + lengths)).sum()
    others = m_k[n_labels:]
    top = (others.size - n_known) * np.log(gamma) + gammaln(others).sum()
    top = top + gammaln(gamma + n_known) - gammaln(gamma + others.sum())
    words = kernels.log_words(counts.words, counts.n, counts.n_topics, eta)
    given = 0.0 if known is None else known.log(eta)
    return float(tables + top + words - given) + (0.0 if labels is None else labels.log())
