"""What the core asks of the observations of a batch, and of the prior of its documents' weights.

Observations are counts of words (`words/`) or vectors (`vectors/`); the priors stand in `document_prior.py`.

Everything else is the same for both. The local step sees a table of weights with a row for each observation, exp E log
p(x | phi_k) up to a factor of the row; a word stands for all its counts, a vector for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.state import GlobalParameters, PairStatistics

SHARD_COUNTS = 16_384  # stored counts of a shard: large enough to hide the hand-over, small enough to balance threads


class Observations(Protocol):
    """The observations of a set of documents (of vectors: groups)."""

    @property
    def indptr(self) -> Int:
        """Observations of document d: indptr[d] to indptr[d + 1], (D_b + 1,)."""

    @property
    def word(self) -> Any:
        """Row of each observation in the table of weights, (nnz,)."""

    @property
    def count(self) -> Float:
        """How often each was observed, (nnz,)."""

    @property
    def words(self) -> Any:
        """The rows of S that the batch adds to, int32 ascending."""

    @property
    def lengths(self) -> Float:
        """Total count of each document, (D_b,)."""

    @property
    def n_documents(self) -> int:
        """Number of documents."""

    def selected(self, rows: Int) -> Self:
        """Return some of the documents."""

    @classmethod
    def joined(cls, parts: Sequence[Any]) -> Self:
        """Return the documents of several batches, one after the other."""

    def under(self, likelihood: Any) -> Self:
        """Return the same observations under a likelihood whose hyperparameters may have been learned."""

    def over_own_rows(self) -> Self:
        """Return the same observations for parameters that have only the rows of `words`."""

    def weigh(self, parameters: GlobalParameters, executor: Executor) -> Float:
        """Return exp E log p(x | phi_k) up to a factor for each row, (rows, K)."""

    def feasible(self, start: DocumentTopics, weights: Float) -> DocumentTopics:
        """Return a start in which every observation has a topic of its document that can explain it."""

    def reopened(self, start: DocumentTopics, parameters: GlobalParameters) -> DocumentTopics:
        """Return a start, after topics have gone, in which the topics of every document can explain all it holds."""

    def statistics(self, visit: Visit, executor: Executor) -> tuple[Float, Float]:
        """Return S (of the rows `words`, K) and sum r log weights of each topic, (K,)."""

    def gathered_statistics(
        self, documents: DocumentTopics, share_ptr: Int, share: Float, n_topics: int
    ) -> tuple[Float, Float]:
        """Return S and H (K,) of documents whose responsibilities are stored."""


@dataclass(slots=True)
class WeightStatistics:
    """The statistics of document weights, additive over documents (math.md (V8))."""

    T: Float  # (K + 1,) sum_d E log pi_dk
    G: Float  # (K + 1,) sum_d (N_dk - theta_dk) E log pi_dk
    Q: Float  # (K + 1,) sum_d log Gamma(theta_dk)
    Q0: float  # sum_d log Gamma(sum_k theta_dk)

    @classmethod
    def zeros(cls, n_topics: int) -> WeightStatistics:
        """Return the statistics of no documents."""
        return cls(np.zeros(n_topics + 1), np.zeros(n_topics + 1), np.zeros(n_topics + 1), 0.0)


class Dropped(NamedTuple):
    """By how much statistics of documents change if theta of a topic that they lack is dropped (math.md (V18))."""

    T: float  # the same for every topic that stays
    G: Float | float  # (K,) of the topics that stay and the inactive rest
    Q0: float


class DocumentPrior(Protocol):
    """The prior of the weights of documents that were visited together, and what follows from it."""

    def statistics(
        self, documents: DocumentTopics, lengths: Float, n_topics: int, executor: Executor
    ) -> WeightStatistics:
        """Return the statistics of documents with `lengths` (D_b,) tokens."""

    def add_statistics(self, documents: DocumentTopics, lengths: Float, total: WeightStatistics) -> None:
        """Add the statistics of documents to a total, in place."""

    def relabelled(self, new_index: Int) -> Self:
        """Return the prior after topics were renamed: pooled where equal, dropped with its mass where -1."""

    def dropped(self, topic: int, lengths: Float) -> Dropped:
        """Return what changes if theta of a topic is dropped that no document with `lengths` (n,) tokens holds."""

    def track_pairs(self, visit: Visit, rows: tuple[int, int], left: Int, right: Int) -> PairStatistics:
        """Return the statistics of the union of each pair over documents first..last of a visit."""


@dataclass(frozen=True, slots=True)
class Visit:
    """All that one visit of a batch found; the responsibilities follow from it and are never stored.

    r_dwk = weight_dk weights[w, k] / Z_dw,   ratio = c_dw / Z_dw.
    """

    batch: Observations
    prior: DocumentPrior  # of the weights of its documents
    weights: Float  # (W_b, K) exp(E log phi), of each vector its likelihood; up to a factor for each row
    ratio: Float  # (nnz,)
    documents: DocumentTopics
    weight: Float  # (documents.topic.size,)
    entropy: Float  # (documents.topic.size,) sum_w c r log Z
    sweeps: Int  # (D_b,)
    value: Float  # (D_b,) each document's part of the objective, up to constants: to compare visits
    restarts: Int  # (2,) tried, accepted
