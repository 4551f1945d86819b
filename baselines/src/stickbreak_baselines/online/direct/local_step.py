"""The local step of a minibatch, and what its responsibilities are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.direct.kernels import documents as document_kernels
from stickbreak_baselines.online.direct.weights import expected_tables


@dataclass(frozen=True, slots=True)
class Visit:
    """Documents of a minibatch after their local step: r_dwk = weights[w, k] weight_dk / Z_dw."""

    minibatch: Minibatch
    document: Int  # (nnz,)  of each count
    prior: Float  # (K,)  alpha beta_k
    weights: Float  # (W_b, K)  exp(E log phi_kw) up to a factor for each word
    weight: Float  # (D_b, K)
    z: Float  # (nnz,)
    N: Float  # (D_b, K)  N_dk
    S: Float  # (W_b, K)  tokens of words in topics
    tables: Float  # (K,)  expected tables
    value: float  # what the documents add to the bound
    sweeps: float  # of a document, on average

    def tokens_of(self, k: int) -> Float:
        """Return c_dw r_dwk of a topic, (nnz,)."""
        weights, weight = self.weights[self.minibatch.word, k], self.weight[self.document, k]
        return self.minibatch.count * weights * weight / self.z


def local_step(
    minibatch: Minibatch,
    elog: Float,
    prior: Float,
    alpha: float,
    tolerance: float,
    max_sweeps: int,
    engine: Engine,
) -> Visit:
    """Run the local step of all documents of a minibatch.                              docs/math (V5), (V6)

    Parameters
    ----------
    minibatch : Minibatch
    elog : ndarray of shape (W_b, K)
        E log phi_kw.
    prior : ndarray of shape (K,)
        alpha beta_k.
    alpha : float
    tolerance : float
        Largest change of an N_dk with which a document ends.
    max_sweeps : int
    engine : Engine
        Runs the documents of each shard.
    """
    D, K, largest = minibatch.n_documents, prior.size, elog.max(axis=1)
    weights = np.exp(elog - largest[:, None])
    z, N, weight = np.empty(minibatch.count.size), np.empty((D, K)), np.empty((D, K))
    value, sweeps = np.empty(D), np.empty(D, np.int64)

    def run(rows: tuple[int, int]) -> None:
        first, last = rows
        low, high = minibatch.indptr[first], minibatch.indptr[last]
        document_kernels.local_step(
            minibatch.indptr[first : last + 1] - low, minibatch.word[low:high], minibatch.count[low:high], weights,
            prior, tolerance, max_sweeps, z[low:high], N[first:last], weight[first:last], value[first:last],
            sweeps[first:last],
        )  # fmt: skip

    engine.map(run, minibatch.shards())
    S = np.zeros(weights.shape)
    document_kernels.add_words(minibatch.indptr, minibatch.word, minibatch.count, weights, z, weight, S)
    sizes = np.diff(minibatch.indptr)
    document = np.repeat(np.arange(D), sizes)
    lengths = np.bincount(document, minibatch.count, D)
    whole = float(value.sum()) + float(minibatch.count @ largest[minibatch.word])
    whole += float((gammaln(alpha) - gammaln(alpha + lengths)).sum())
    tables = expected_tables(N, prior)
    return Visit(minibatch, document, prior, weights, weight, z, N, S, tables, whole, float(sweeps.mean()))
