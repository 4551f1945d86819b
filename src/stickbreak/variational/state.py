"""State of the variational models: what is stored between steps, as plain arrays.

Notation (docs/notation.md): D documents, W words, K active topics; the last of K + 1 entries is the inactive rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.likelihoods import Likelihood
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.kernels import statistics as statistics_kernels

PER_TOPIC = ("N", "H", "T", "G", "Q")  # the vectors of a Summary
NARROW = 2**16  # topics whose numbers fit two bytes


@dataclass(slots=True)
class GlobalParameters:
    """Corpus-level variational parameters (docs/math, the model)."""

    # q(phi_k) = Dir(tau_k), word-major so that the rows of a document's words are contiguous. Of vectors a family's
    # parameters are no table: tau and tau_sum are S and N, from which q(phi_k) follows (docs/math (E1)).
    tau: Float  # (W, K)
    tau_sum: Float  # (K,)    tau.sum(0); of vectors N
    rho: Float  # (K,)    q(u_k) = Beta(rho_k omega_k, (1 - rho_k) omega_k)
    omega: Float  # (K,)
    transitions: Float | None = None  # (K + 1, K) those of the totals: of sequences

    @classmethod
    def of(
        cls, likelihood: Likelihood, S: Float, N: Float, rho: Float, omega: Float, transitions: Float | None = None
    ) -> GlobalParameters:
        """Return the globals that follow from statistics of all rows."""
        tau = likelihood.table(S)
        return cls(tau, likelihood.table_sum(0.0, tau, N), rho, omega, transitions)

    def followed(self, likelihood: Likelihood, S: Float, N: Float, rho: Float, omega: Float) -> GlobalParameters:
        """Return the globals after the statistics of their rows have become S."""
        tau = likelihood.table(S)
        return GlobalParameters(tau, likelihood.table_sum(self.tau_sum, tau - self.tau, N), rho, omega)

    def follow_batch(self, likelihood: Likelihood, totals: Summary, words: np.ndarray) -> None:
        """Set q(phi) from totals of which only the rows `words` have changed, in place."""
        tau = likelihood.of_rows(words).table(totals.S[words])
        self.tau_sum = likelihood.table_sum(self.tau_sum, tau - self.tau[words], totals.N)
        self.tau[words] = tau
        self.transitions = totals.transitions

    @property
    def n_topics(self) -> int:
        """Number of active topics K."""
        return self.rho.size

    @property
    def expected_beta(self) -> Float:
        """E[beta_1..beta_K, beta_{>K}], (K + 1,)."""
        return expected_beta(self.rho)


def expected_beta(rho: Float) -> Float:
    """Return E[beta] (K + 1,) of independent sticks with means rho, summed in log space.      docs/math, the model"""
    log_rest = np.concatenate(([0.0], np.cumsum(np.log1p(-rho))))
    out = np.exp(log_rest)
    out[:-1] *= rho
    return out


@dataclass(frozen=True, slots=True)
class SparseRows:
    """The word statistics S of a batch, R rows and K topics, without their zeros (docs/math (V8)).

    A word meets in a batch only the topics of the few documents that hold it: dense, the tables of all batches would
    cost more memory than everything else together.

    An entry takes 10 bytes (12 for more than 65,536 topics), so that this pays below a share of 0.8.
    """

    n_topics: int  # K
    indptr: Int  # int64 (R + 1,)
    topic: NDArray[np.uint16 | np.int32]  # (nnz,) ascending within a row
    value: Float  # (nnz,)

    @classmethod
    def from_dense(cls, table: Float) -> SparseRows:
        """Compress a table of shape (R, K)."""
        n_rows, n_topics = table.shape
        indptr = np.empty(n_rows + 1, np.int64)
        statistics_kernels.count_entries(table, indptr)
        topic, value = np.empty(int(indptr[-1]), topic_type(n_topics)), np.empty(indptr[-1])
        statistics_kernels.take_entries(table, indptr, topic, value)
        return cls(n_topics, indptr, topic, value)

    @property
    def n_rows(self) -> int:
        """Number of rows R."""
        return self.indptr.size - 1

    def dense(self) -> Float:
        """Return the table, (R, K)."""
        out = np.zeros((self.n_rows, self.n_topics))
        self.add_to(out, np.arange(self.n_rows, dtype=np.int32))
        return out

    def add_to(self, table: Float, rows: NDArray[np.int32], sign: float = 1.0) -> None:
        """Add sign times row i to row `rows[i]` of a dense table with the same topics, in place.

        `table` (W, K). `rows` (R,): without repeats, as in a batch's `words`. Raises ValueError if the table has
        another number of topics, or `rows` another length.
        """
        if table.shape[1] != self.n_topics or rows.size != self.n_rows:
            raise ValueError(
                f"{self.n_rows} rows of {self.n_topics} topics cannot be added to {rows.size} rows of {table.shape[1]}"
            )
        statistics_kernels.add_entries(self.indptr, self.topic, self.value, rows, sign, table)

    def relabelled(self, new_index: Int, n_topics: int) -> SparseRows:
        """Return the table with topic k called `new_index[k]`, -1 dropped; topics with equal new index are pooled.

        `new_index` (K,): each below `n_topics`; a new topic that no old one becomes has no entries. `n_topics`: topics
        of the new table.
        """
        indptr = np.empty_like(self.indptr)
        topic, value = np.empty(self.topic.size, topic_type(n_topics)), np.empty(self.topic.size)
        size = statistics_kernels.relabel_entries(
            self.indptr, self.topic, self.value, new_index, n_topics, indptr, topic, value
        )
        if size < topic.size:
            topic, value = topic[:size].copy(), value[:size].copy()  # not views, which would keep the whole
        return SparseRows(n_topics, indptr, topic, value)


def topic_type(n_topics: int) -> type[np.uint16] | type[np.int32]:
    """Return the narrowest of the two types that hold topic numbers."""
    return np.uint16 if n_topics <= NARROW else np.int32


@dataclass(slots=True)
class Summary:
    """Additive statistics of a set of documents, one batch or the whole corpus (docs/math (V8)).

    `words` lists the words that the rows of S stand for; None means all W words.
    """

    n_documents: int
    words: NDArray[np.int32] | None  # (W_b,)
    S: Float  # (W_b, K) sum_d c_dw r_dwk
    N: Float  # (K,)     sum_d N_dk
    H: Float  # (K,)     - sum c r log r
    T: Float  # (K + 1,) sum_d E log pi_dk
    G: Float  # (K + 1,) sum_d (N_dk - theta_dk) E log pi_dk
    Q: Float  # (K + 1,) sum_d log Gamma(theta_dk)
    Q0: float  # sum_d log Gamma(sum_k theta_dk)
    transitions: Float | None = None  # (K + 1, K) expected starts, then moves from each topic: of sequences

    @classmethod
    def zeros(cls, n_words: int, n_topics: int) -> Summary:
        """Return the summary of no documents over all words."""
        per_topic = {name: np.zeros(n_topics + (name in "TGQ")) for name in PER_TOPIC}
        return cls(n_documents=0, words=None, S=np.zeros((n_words, n_topics)), Q0=0.0, **per_topic)

    @property
    def vectors(self) -> Summary:
        """The summary itself: where its numbers beside S are, as in a `StoredSummary`."""
        return self

    def expanded(self) -> Summary:
        """Return the summary itself: it has its zeros."""
        return self

    @classmethod
    def union(cls, parts: Sequence[Summary]) -> Summary:
        """Return the summary of the documents of several summaries together, over all their words."""
        if len(parts) == 1:
            return parts[0]
        several = [np.zeros(0, np.int32) if part.words is None else part.words for part in parts]
        words = np.unique(np.concatenate(several))
        total = cls.zeros(words.size, parts[0].N.size)
        for part, own in zip(parts, several, strict=True):
            total.add(replace(part, words=np.searchsorted(words, own).astype(np.int32)))
        return replace(total, words=words)

    def add(self, other: Summary | StoredSummary, sign: float = 1.0) -> None:
        """Add (sign = 1) or take away (sign = -1) another summary in place; its words must be rows of this one."""
        other.add_rows(self.S, sign)
        vectors = other.vectors
        self.n_documents += int(sign) * vectors.n_documents
        for name in PER_TOPIC:
            setattr(self, name, getattr(self, name) + sign * getattr(vectors, name))
        self.Q0 += sign * vectors.Q0
        if vectors.transitions is not None:
            self.transitions = (0.0 if self.transitions is None else self.transitions) + sign * vectors.transitions

    def add_rows(self, table: Float, sign: float) -> None:
        """Add sign S to the rows of a table that it stands for, in place."""
        table[slice(None) if self.words is None else self.words] += sign * self.S

    def without_words(self) -> Summary:
        """Return the same statistics with no rows of S: enough to evaluate a candidate."""
        return replace(self, words=np.zeros(0, np.int32), S=np.zeros((0, self.S.shape[1])))  # a view would keep all

    def pooled(self, unions: Sequence[tuple[int, int, UnionStatistics]]) -> Summary:
        """Return the summary in which, for each (keep, gone, union), `gone` is pooled into `keep`.  docs/math (V12)

        No topic may stand in two of the pairs.
        """
        out = replace(self, S=self.S.copy(), **{name: getattr(self, name).copy() for name in PER_TOPIC})
        for keep, gone, union in unions:
            out.S[:, keep] += out.S[:, gone]
            out.N[keep] += out.N[gone]
            out.H[keep] += out.H[gone] + union.H
            out.T[keep], out.G[keep], out.Q[keep] = union.T, union.G, union.Q
        all_gone = [pair[1] for pair in unions]
        out.S = np.ascontiguousarray(np.delete(out.S, all_gone, axis=1))
        for name in PER_TOPIC:
            setattr(out, name, np.delete(getattr(out, name), all_gone))
        if self.transitions is not None:
            transitions = self.transitions.copy()
            for keep, gone, _ in unions:
                transitions[:, keep] += transitions[:, gone]
                transitions[keep + 1] += transitions[gone + 1]
            rows = np.array(all_gone, np.int64) + 1
            out.transitions = np.delete(np.delete(transitions, all_gone, axis=1), rows, axis=0)
        return out

    def permuted(self, order: Int) -> Summary:
        """Return the summary with topics in a new order: new topic i is old topic order[i]."""
        with_rest = np.append(order, self.N.size)
        return replace(
            self,
            S=np.ascontiguousarray(self.S[:, order]),
            N=self.N[order],
            H=self.H[order],
            T=self.T[with_rest],
            G=self.G[with_rest],
            Q=self.Q[with_rest],
            transitions=None if self.transitions is None else self.transitions[np.append(0, order + 1)][:, order],
        )

    def vector_arrays(self) -> dict[str, NDArray]:
        """Return all but S, as arrays."""
        arrays = {name: getattr(self, name) for name in PER_TOPIC}
        transitions = {} if self.transitions is None else {"transitions": self.transitions}
        return {**arrays, **transitions, "scalars": np.array([self.n_documents, self.Q0])}

    @classmethod
    def from_vector_arrays(cls, arrays: Mapping[str, NDArray]) -> Summary:
        """Return a summary without words from what `vector_arrays` returned."""
        n_documents, Q0 = arrays["scalars"]
        per_topic = {name: arrays[name] for name in PER_TOPIC}
        S, transitions = np.zeros((0, per_topic["N"].size)), arrays["transitions"] if "transitions" in arrays else None
        words = np.zeros(0, np.int32)
        return cls(n_documents=int(n_documents), words=words, S=S, Q0=float(Q0), transitions=transitions, **per_topic)

    def compressed(self) -> StoredSummary:
        """Return the same statistics as they are kept from lap to lap; `expanded` takes it back."""
        words = np.arange(self.S.shape[0], dtype=np.int32) if self.words is None else self.words
        return StoredSummary(self.without_words(), words, SparseRows.from_dense(self.S))


@dataclass(slots=True)
class StoredSummary:
    """A summary as it is kept from lap to lap: S without its zeros.

    It can be added to totals, and follows moves, without ever becoming dense; the numbers are the same to the last bit.
    """

    vectors: Summary  # all but S
    words: NDArray[np.int32]  # (W_b,) the words that the rows of S stand for
    S: SparseRows  # (W_b, K)

    @property
    def n_topics(self) -> int:
        """Number of active topics K."""
        return self.vectors.N.size

    def expanded(self) -> Summary:
        """Return the same statistics with a dense S, (W_b, K)."""
        return replace(self.vectors, words=self.words, S=self.S.dense())

    def arrays(self) -> dict[str, NDArray]:
        """Return all of it as arrays."""
        rows = {"S_indptr": self.S.indptr, "S_topic": self.S.topic, "S_value": self.S.value}
        return {**self.vectors.vector_arrays(), "words": self.words, **rows}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> StoredSummary:
        """Return what `arrays` returned."""
        vectors = Summary.from_vector_arrays(arrays)
        S = SparseRows(vectors.N.size, *(arrays[f"S_{name}"] for name in ("indptr", "topic", "value")))
        return cls(vectors, arrays["words"], S)

    def add_rows(self, table: Float, sign: float) -> None:
        """Add sign S to the rows of a table that it stands for, in place."""
        self.S.add_to(table, self.words, sign)

    def pooled(self, unions: Sequence[tuple[int, int, UnionStatistics]]) -> StoredSummary:
        """Return the summary in which, for each (keep, gone, union), `gone` is pooled into `keep`. docs/math (V12)"""
        vectors = self.vectors.pooled(unions)
        gone = [pair[1] for pair in unions]
        stays = np.ones(self.n_topics, dtype=bool)
        stays[gone] = False
        new_index = np.cumsum(stays) - 1
        new_index[gone] = new_index[[pair[0] for pair in unions]]
        return StoredSummary(vectors, self.words, self.S.relabelled(new_index, vectors.N.size))

    def permuted(self, order: Int) -> StoredSummary:
        """Return the summary with topics in a new order: new topic i is old topic order[i]."""
        new_index = np.empty_like(order)
        new_index[order] = np.arange(order.size)
        return StoredSummary(self.vectors.permuted(order), self.words, self.S.relabelled(new_index, order.size))


class UnionStatistics(NamedTuple):
    """Statistics of the union of one pair of topics over a set of documents (docs/math (V12))."""

    T: float
    G: float
    Q: float
    H: float  # H' - H_l - H_m


@dataclass(slots=True)
class PairStatistics:
    """Statistics of the unions of P tracked pairs of topics, additive over documents (docs/math (V12))."""

    T: Float  # (P,)
    G: Float  # (P,)
    Q: Float  # (P,)
    H: Float  # (P,)     H' - H_l - H_m: only documents that use both topics add to it

    @classmethod
    def zeros(cls, n_pairs: int) -> PairStatistics:
        """Return the statistics of no documents."""
        return cls(np.zeros(n_pairs), np.zeros(n_pairs), np.zeros(n_pairs), np.zeros(n_pairs))

    def add(self, other: PairStatistics) -> None:
        """Add the statistics of other documents in place."""
        self.T += other.T
        self.G += other.G
        self.Q += other.Q
        self.H += other.H

    def union(self, index: int) -> UnionStatistics:
        """Return the statistics of one pair."""
        return UnionStatistics(*(float(x[index]) for x in (self.T, self.G, self.Q, self.H)))
