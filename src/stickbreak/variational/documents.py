"""What is kept of the documents of a batch from visit to visit (docs/math (V8)).

An admixture keeps N_dk of every document, where its next visit starts: `DocumentTopics`. In a mixture every vector is a
document whose topic follows from the globals, and only numbers are kept: `DocumentCounts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.fitting.checkpoint import is_table, require
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import are_sums

SUMS_TOLERANCE = 1e-6  # relative: sums are changed, and not computed again, in each lap


class Documents(Protocol):
    """The kept documents of a batch, as schedules and moves see them."""

    @property
    def n_documents(self) -> int:
        """Number of documents."""

    def holders(self, n_topics: int) -> Int:
        """Return how many documents hold each topic, (K,)."""

    def relabelled(self, new_index: Int) -> Self:
        """Return the same with topic k called `new_index[k]`; topics with equal new index are pooled."""

    def exchanged(self, rows: Int, old: DocumentTopics, new: DocumentTopics, new_index: Int) -> Self:
        """Return the same after a move that renamed the topics and inferred documents `rows` again."""

    def moments(self, n_topics: int) -> tuple[Float, Float]:
        """Return sum_d N_dk, (K,), and sum_d N_dl N_dm, (K, K); NaN where single documents are not kept."""

    def holding(self, topic: int) -> Int:
        """Return the documents that hold a topic, as far as single documents are kept."""

    def n_further(self, topic: int, holding: Int, taken: NDArray[np.bool_]) -> int:
        """Return how many documents hold a topic (`holding`, as above) and are not among the (D_b,) taken ones."""

    def n_tokens(self, rows: Int) -> float:
        """Return the tokens of some documents, as far as single documents are kept."""

    def arrays(self) -> dict[str, NDArray]:
        """Return the arrays of a checkpoint, by name."""

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> Self:
        """Return what `arrays` returned."""

    def check(self, name: str, n_documents: int, N: Float) -> None:
        """Raise a ValueError unless these can be the documents of a batch with N (K,) tokens in its topics."""


AnyDocuments = TypeVar("AnyDocuments", bound=Documents)


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

    def moments(self, n_topics: int) -> tuple[Float, Float]:
        """Return sum_d N_dk, (K,), and sum_d N_dl N_dm, (K, K)."""
        n = self.table(n_topics)
        return np.asarray(n.sum(axis=0), np.float64).ravel(), (n.T @ n).toarray()

    def holding(self, topic: int) -> Int:
        """Return the documents that hold a topic, ascending."""
        return self.rows[self.topic == topic]

    def n_further(self, topic: int, holding: Int, taken: NDArray[np.bool_]) -> int:
        """Return how many of the documents `holding` a topic are not among the (D_b,) taken ones."""
        return int(np.count_nonzero(~taken[holding]))

    def n_tokens(self, rows: Int) -> float:
        """Return the tokens of some documents."""
        return float(self.selected(rows).n_dk.sum())

    def table(self, n_topics: int) -> sparse.csr_array:
        """Return N as a table (D, K) that holds what is above 0 alone."""
        return sparse.csr_array((self.n_dk, self.topic, self.indptr), shape=(self.n_documents, n_topics))

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

    def arrays(self) -> dict[str, NDArray]:
        """Return the arrays of a checkpoint, by name."""
        return {"indptr": self.indptr, "topic": self.topic, "n_dk": self.n_dk}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> DocumentTopics:
        """Return what `arrays` returned."""
        return cls(arrays["indptr"], arrays["topic"], arrays["n_dk"])

    def check(self, name: str, n_documents: int, N: Float) -> None:
        """Raise a ValueError unless these can be the documents of a batch with N (K,) tokens in its topics."""
        topic, n_dk, K = self.topic, self.n_dk, N.size
        require(topic.ndim == 1 and topic.dtype == np.int32 and is_table(n_dk, topic.size), f"{name}.n_dk does not fit")
        check_rows(self.indptr, topic, f"{name}.", n_documents, K)
        require(are_sums(n_dk), f"{name}.n_dk holds a number out of its range")
        sums = np.bincount(topic, weights=n_dk, minlength=K).astype(np.float64)
        check_sums(N, sums, f"{name}.N is not that of its documents")


@dataclass(slots=True)
class DocumentCounts:
    """How many documents of a batch hold each topic: all that is kept of the documents of a mixture.

    There each vector is a document, and its topics follow from the globals alone.
    """

    n_documents: int
    held_by: Int  # (K,)   after a merge an upper bound: the holders of both topics are added

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

    def moments(self, n_topics: int) -> tuple[Float, Float]:
        """Return NaN: of single documents nothing is kept."""
        return np.full(n_topics, np.nan), np.full((n_topics, n_topics), np.nan)

    def holding(self, topic: int) -> Int:
        """Return no documents: of single ones nothing is kept."""
        return np.zeros(0, np.int64)

    def n_further(self, topic: int, holding: Int, taken: NDArray[np.bool_]) -> int:
        """Return how many documents hold a topic: each holds one, so that none of them is among the taken ones."""
        return int(self.held_by[topic])

    def n_tokens(self, rows: Int) -> float:
        """Return 0: of single documents nothing is kept."""
        return 0.0

    def arrays(self) -> dict[str, NDArray]:
        """Return the arrays of a checkpoint, by name."""
        return {"held_by": self.held_by, "n_documents": np.array([self.n_documents])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> DocumentCounts:
        """Return what `arrays` returned."""
        return cls(int(arrays["n_documents"][0]), arrays["held_by"])

    def check(self, name: str, n_documents: int, N: Float) -> None:
        """Raise a ValueError unless these can be the documents of a batch with N (K,) tokens in its topics."""
        require(self.n_documents == n_documents, f"{name} is not of {n_documents} documents")
        require(self.held_by.shape == N.shape and self.held_by.dtype == np.int64, f"{name}.held_by does not fit")
        require(bool((self.held_by >= 0).all()), f"{name}.held_by holds a negative number")


def check_rows(indptr: NDArray, topic: NDArray, name: str, n_rows: int, K: int) -> None:
    """Refuse rows of topics that cannot be: those of documents, or those of the words of a batch."""
    require(indptr.shape == (n_rows + 1,) and indptr.dtype == np.int64, f"{name}indptr does not fit")
    whole = indptr[0] == 0 and indptr[-1] == topic.size and bool((indptr[1:] >= indptr[:-1]).all())
    require(whole, f"{name}indptr does not lead through its topics")
    require(not topic.size or (topic.min() >= 0 and topic.max() < K), f"{name}topic names no topic of {K}")
    falls = np.flatnonzero(np.diff(topic.astype(np.int64)) <= 0) + 1  # allowed only where a row begins
    require(bool(np.isin(falls, indptr).all()), f"{name}topic does not ascend within a row")


def check_sums(found: NDArray[np.float64], sums: NDArray[np.float64], problem: str) -> None:
    """Refuse stored sums that are not, up to rounding, those of their parts."""
    atol = SUMS_TOLERANCE * max(1.0, float(np.abs(sums).max()))
    require(np.allclose(found, sums, rtol=SUMS_TOLERANCE, atol=atol), problem)
