"""State of the variational HDP: what is stored between steps, as plain arrays.

Notation (docs/notation.md): D documents, W words, K active topics; the last of K + 1 entries is the inactive rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.likelihoods import Likelihood
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.sparse_rows import SparseRows

PER_TOPIC = ("N", "H", "T", "G", "Q")  # the vectors of a Summary


@dataclass(slots=True)
class GlobalParameters:
    """Corpus-level variational parameters (math.md, the model)."""

    # q(phi_k) = Dir(tau_k), word-major so that the rows of a document's words are contiguous. Of vectors a family's
    # parameters are no table: tau and tau_sum are S and N, from which q(phi_k) follows (math.md (E1)).
    tau: Float  # (W, K)
    tau_sum: Float  # (K,)    tau.sum(0); of vectors N
    rho: Float  # (K,)    q(u_k) = Beta(rho_k omega_k, (1 - rho_k) omega_k)
    omega: Float  # (K,)

    @classmethod
    def of(cls, likelihood: Likelihood, S: Float, N: Float, rho: Float, omega: Float) -> GlobalParameters:
        """Return the globals that follow from statistics of all rows."""
        tau = likelihood.table(S)
        return cls(tau, likelihood.table_sum(0.0, tau, N), rho, omega)

    def followed(self, likelihood: Likelihood, S: Float, N: Float, rho: Float, omega: Float) -> GlobalParameters:
        """Return the globals after the statistics of their rows have become S."""
        tau = likelihood.table(S)
        return GlobalParameters(tau, likelihood.table_sum(self.tau_sum, tau - self.tau, N), rho, omega)

    def follow_batch(self, likelihood: Likelihood, totals: Summary, words: np.ndarray) -> None:
        """Set q(phi) from totals of which only the rows `words` have changed, in place."""
        tau = likelihood.table(totals.S[words])
        self.tau_sum = likelihood.table_sum(self.tau_sum, tau - self.tau[words], totals.N)
        self.tau[words] = tau

    @property
    def n_topics(self) -> int:
        """Number of active topics K."""
        return self.rho.size

    @property
    def expected_beta(self) -> Float:
        """E[beta_1..beta_K, beta_{>K}], (K + 1,)."""
        return expected_beta(self.rho)


def expected_beta(rho: Float) -> Float:
    """Return E[beta] (K + 1,) of independent sticks with means rho, summed in log space.      math.md, the model"""
    log_rest = np.concatenate(([0.0], np.cumsum(np.log1p(-rho))))
    out = np.exp(log_rest)
    out[:-1] *= rho
    return out


def runs(indptr: Int, rows: Int) -> tuple[Int, Int]:
    """Return (indptr, places) of some rows of a compressed array: entry i of the selection is entry places[i]."""
    sizes = np.diff(indptr)[rows]
    selected = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return selected, np.arange(selected[-1]) + np.repeat(indptr[:-1][rows] - selected[:-1], sizes)


@dataclass(slots=True)
class DocumentTopics:
    """Expected counts N_dk of the topics that a document uses, compressed by rows.

    Topics that are not listed have N_dk = 0 exactly; theta_dk = alpha E[beta_k] + N_dk.
    """

    indptr: Int  # int64 (D + 1,)
    topic: NDArray[np.int32]  # (nnz,) ascending within a document
    n_dk: Float  # (nnz,)

    @property
    def n_documents(self) -> int:
        """Number of documents D."""
        return self.indptr.size - 1

    @property
    def rows(self) -> Int:
        """The document of each entry, (nnz,)."""
        return np.repeat(np.arange(self.n_documents), np.diff(self.indptr))

    @classmethod
    def empty(cls, n_documents: int) -> DocumentTopics:
        """Return documents that use no topic."""
        return cls(np.zeros(n_documents + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))

    @classmethod
    def joined(cls, parts: Sequence[DocumentTopics]) -> DocumentTopics:
        """Return the documents of several parts, one after the other."""
        parts = [cls.empty(0), *parts]
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        topic, n_dk = (np.concatenate(x) for x in zip(*((part.topic, part.n_dk) for part in parts), strict=True))
        return cls(indptr, topic, n_dk)

    def holders(self, n_topics: int) -> Int:
        """Return how many documents hold each topic, (K,)."""
        return np.bincount(self.topic, minlength=n_topics)

    def dense(self, n_topics: int) -> Float:
        """Return N as a (D, K) array."""
        out = np.zeros((self.n_documents, n_topics))
        out[self.rows, self.topic] = self.n_dk
        return out

    def selected(self, rows: Int) -> DocumentTopics:
        """Return some of the documents."""
        indptr, place = runs(self.indptr, rows)
        return DocumentTopics(indptr, self.topic[place], self.n_dk[place])

    def replaced(self, rows: Int, other: DocumentTopics) -> DocumentTopics:
        """Return the same with documents `rows` taken from `other`, in this order."""
        sizes = np.diff(self.indptr)
        sizes[rows] = np.diff(other.indptr)
        indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        out = DocumentTopics(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1]))
        kept = np.setdiff1d(np.arange(self.n_documents), rows)
        for source, its_rows, target in ((self, kept, kept), (other, np.arange(rows.size), rows)):
            _, place = runs(source.indptr, its_rows)
            _, there = runs(indptr, target)
            out.topic[there], out.n_dk[there] = source.topic[place], source.n_dk[place]
        return out

    def relabelled(self, new_index: Int) -> DocumentTopics:
        """Return the same counts with topic k called `new_index[k]`; topics with equal new index are pooled.

        A topic that no document holds may have any new index (-1 by custom).
        """
        rows, topic = self.rows, new_index[self.topic]
        order = np.lexsort((topic, rows))
        rows, topic, n_dk = rows[order], topic[order], self.n_dk[order]
        first = np.ones(rows.size, dtype=bool)
        first[1:] = (rows[1:] != rows[:-1]) | (topic[1:] != topic[:-1])
        starts = np.flatnonzero(first)
        pooled = np.add.reduceat(n_dk, starts) if starts.size else n_dk
        counts = np.bincount(rows[starts], minlength=self.n_documents)
        indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return DocumentTopics(indptr, topic[starts].astype(np.int32), pooled)

    def added(self, more: DocumentTopics, n_topics: int) -> DocumentTopics:
        """Return the sum of both; `more` may list a topic of a document several times."""
        rows, topic = np.concatenate([self.rows, more.rows]), np.concatenate([self.topic, more.topic])
        both = DocumentTopics(np.array([0, rows.size]), topic, np.concatenate([self.n_dk, more.n_dk]))
        order = np.argsort(rows, kind="stable")
        sizes = np.bincount(rows, minlength=self.n_documents)
        indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        sorted_ = DocumentTopics(indptr, both.topic[order], both.n_dk[order])
        return sorted_.relabelled(np.arange(n_topics))

    def exchanged(self, rows: Int, old: DocumentTopics, new: DocumentTopics, new_index: Int) -> DocumentTopics:
        """Return the same after a move that renamed the topics and inferred documents `rows` again."""
        others = self.replaced(rows, DocumentTopics.empty(rows.size)).relabelled(new_index)
        return others.replaced(rows, new)


@dataclass(slots=True)
class DocumentCounts:
    """How many documents of a batch hold each topic: all that is kept of the documents of a mixture.

    There each vector is a document, and its topics follow from the globals alone.
    """

    n_documents: int
    held_by: Int  # (K,)   after a merge: at most so many

    def holders(self, n_topics: int) -> Int:
        """Return how many documents hold each topic, (K,)."""
        return self.held_by

    def relabelled(self, new_index: Int) -> DocumentCounts:
        """Return the same with topic k called `new_index[k]`; topics with equal new index are pooled."""
        stays, n_topics = new_index >= 0, int(new_index.max(initial=-1)) + 1
        pooled = np.zeros(n_topics, np.int64)
        np.add.at(pooled, new_index[stays], self.held_by[stays])
        return DocumentCounts(self.n_documents, pooled)

    def exchanged(self, rows: Int, old: DocumentTopics, new: DocumentTopics, new_index: Int) -> DocumentCounts:
        """Return the same after a move that renamed the topics and inferred some documents again."""
        others = DocumentCounts(self.n_documents, self.held_by - old.holders(self.held_by.size)).relabelled(new_index)
        others.held_by = others.held_by + new.holders(others.held_by.size)
        return others


@dataclass(slots=True)
class Summary:
    """Additive statistics of a set of documents, one batch or the whole corpus (math.md (V8)).

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

    @classmethod
    def zeros(cls, n_words: int, n_topics: int) -> Summary:
        """Return the summary of no documents over all words."""
        per_topic = {name: np.zeros(n_topics + (name in "TGQ")) for name in PER_TOPIC}
        return cls(n_documents=0, words=None, S=np.zeros((n_words, n_topics)), Q0=0.0, **per_topic)

    def add(self, other: Summary | StoredSummary, sign: float = 1.0) -> None:
        """Add (sign = 1) or take away (sign = -1) another summary in place; its words must be rows of this one."""
        if isinstance(other, StoredSummary):
            other.S.add_to(self.S, other.words, sign)
            other = other.vectors
        elif other.words is None:
            self.S += sign * other.S
        else:
            self.S[other.words] += sign * other.S
        self.n_documents += int(sign) * other.n_documents
        for name in PER_TOPIC:
            setattr(self, name, getattr(self, name) + sign * getattr(other, name))
        self.Q0 += sign * other.Q0

    def without_words(self) -> Summary:
        """Return the same statistics with no rows of S: enough to evaluate a candidate."""
        return replace(self, words=np.zeros(0, np.int32), S=np.zeros((0, self.S.shape[1])))  # a view would keep all

    def pooled(self, unions: Sequence[tuple[int, int, UnionStatistics]]) -> Summary:
        """Return the summary in which, for each (keep, gone, union), topic `gone` is pooled into `keep`.  math.md (V12)

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
        )

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

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        vectors = sum(getattr(self.vectors, name).nbytes for name in PER_TOPIC)
        return int(self.words.nbytes + self.S.nbytes + vectors)

    def expanded(self) -> Summary:
        """Return the same statistics with a dense S, (W_b, K)."""
        return replace(self.vectors, words=self.words, S=self.S.dense())

    def pooled(self, unions: Sequence[tuple[int, int, UnionStatistics]]) -> StoredSummary:
        """Return the summary in which, for each (keep, gone, union), `gone` is pooled into `keep`. math.md (V12)"""
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
    """Statistics of the union of one pair of topics over a set of documents (math.md (V12))."""

    T: float
    G: float
    Q: float
    H: float  # H' - H_l - H_m


@dataclass(slots=True)
class PairStatistics:
    """Statistics of the unions of P tracked pairs of topics, additive over documents (math.md (V12))."""

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
