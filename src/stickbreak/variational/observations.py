"""What the core asks of the observations of a batch: counts of words (`local_step.Batch`) or vectors (`vectors.py`).

Everything else is the same for both. The local step sees a table of weights with a row for each observation, exp E log
p(x | phi_k) up to a factor of the row; a word stands for all its counts, a vector for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.state import DocumentTopics, GlobalParameters

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
        """Return the same observations as what the current likelihood sees."""

    def over_own_rows(self) -> Self:
        """Return the same observations for parameters that have only the rows of `words`."""

    def weigh(self, parameters: GlobalParameters, executor: Executor) -> Float:
        """Return exp E log p(x | phi_k) up to a factor for each row, (rows, K)."""

    def feasible(self, start: DocumentTopics, weights: Float) -> DocumentTopics:
        """Return a start in which every observation has a topic of its document that can explain it."""

    def statistics(self, visit: Visit, executor: Executor) -> tuple[Float, Float]:
        """Return S (of the rows `words`, K) and sum r log weights of each topic, (K,)."""

    def gathered_statistics(
        self, documents: DocumentTopics, share_ptr: Int, share: Float, n_topics: int
    ) -> tuple[Float, Float]:
        """Return S and H (K,) of documents whose responsibilities are stored."""


@dataclass(frozen=True, slots=True)
class Visit:
    """All that one visit of a batch found; the responsibilities follow from it and are never stored.

    r_dwk = weight_dk weights[w, k] / Z_dw,   ratio = c_dw / Z_dw.
    """

    batch: Observations
    prior: Float | None  # (K + 1,) alpha E[beta]; None in a mixture, where documents have no weights of their own
    weights: Float  # (W_b, K) exp(E log phi), of each vector its likelihood; up to a factor for each row
    ratio: Float  # (nnz,)
    documents: DocumentTopics
    weight: Float  # (documents.topic.size,)
    entropy: Float  # (documents.topic.size,) sum_w c r log Z
    sweeps: Int  # (D_b,)
    value: Float  # (D_b,) each document's part of the objective, up to constants: to compare visits
    restarts: Int  # (2,) tried, accepted
