"""Documents gathered during a lap, with their responsibilities: what moves that re-infer documents work on.

A visit stores no responsibilities; for the few documents that a move may infer again they are kept, so that what these
documents gave to the totals can be taken away again, exactly. All other documents matter to such a move only through
topics that none of them holds: there theta_dk is the prior of their visit, which `Untouched` remembers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import DocumentTopics, runs
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.observations import DocumentPrior, Observations, Visit


@dataclass(frozen=True, slots=True)
class Untouched:
    """Documents of one batch that were visited with the same prior and hold none of the topics in question."""

    batch: int
    lengths: Float  # (n,) tokens of each document
    prior: DocumentPrior  # of their visit: theta_dk of the topics that they do not hold


@dataclass(frozen=True, slots=True)
class Piece:
    """Gathered documents of one batch that were inferred with the same prior."""

    batch: int
    rows: Int  # (n,)  which documents of the batch
    counts: Observations  # of these documents, over the words of the batch
    prior: DocumentPrior  # when they were inferred
    n_topics: int  # K
    documents: DocumentTopics
    share_ptr: Int  # (n + 1,)
    share: Float  # c_dw r_dwk of document d from share_ptr[d] on, (U_d, A_d) by rows

    @classmethod
    def from_visit(cls, batch: int, visit: Visit, rows: Int, of_visit: Int, counts: Observations) -> Piece:
        """Take documents `of_visit` of a visit, which are documents `rows` of `batch`; `counts` holds theirs."""
        documents = visit.documents.selected(of_visit)
        sizes = np.diff(counts.indptr) * np.diff(documents.indptr)
        share_ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        share = np.empty(int(share_ptr[-1]))
        statistics_kernels.responsibilities(
            of_visit, visit.batch.indptr, visit.batch.word, visit.ratio, visit.documents.indptr,
            visit.documents.topic, visit.weight, visit.weights, share_ptr, share,
        )  # fmt: skip
        return cls(batch, rows, counts, visit.prior, visit.weights.shape[1], documents, share_ptr, share)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.rows.size

    def holds(self, topic: int) -> np.ndarray:
        """Return which documents hold a topic, (n,) bool."""
        held = np.zeros(self.n_documents, dtype=bool)
        held[self.documents.rows[self.documents.topic == topic]] = True
        return held

    def selected(self, rows: Int) -> Piece:
        """Return some of the documents."""
        share_ptr, place = runs(self.share_ptr, rows)
        return replace(
            self,
            rows=self.rows[rows],
            counts=self.counts.selected(rows),
            documents=self.documents.selected(rows),
            share_ptr=share_ptr,
            share=self.share[place],
        )

    def relabelled(self, new_index: Int) -> Piece:
        """Return the documents with topic k called `new_index[k]`, pooled where equal; none may hold a dropped one."""
        documents = self.documents.relabelled(new_index)
        sizes = np.diff(self.counts.indptr) * np.diff(documents.indptr)
        share_ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        share = np.zeros(int(share_ptr[-1]))
        statistics_kernels.relabel_responsibilities(
            self.counts.indptr, self.documents.indptr, self.documents.topic, self.share_ptr, self.share,
            new_index, documents.indptr, documents.topic, share_ptr, share,
        )  # fmt: skip
        prior = self.prior.relabelled(new_index)
        return replace(
            self, prior=prior, n_topics=renamed_to(new_index), documents=documents, share_ptr=share_ptr, share=share
        )


@dataclass(slots=True)
class Gathering:
    """All documents of a lap: a few with their responsibilities, the others by what moves need of them."""

    pieces: list[Piece] = field(default_factory=list)
    others: list[Untouched] = field(default_factory=list)
    changed: bool = False  # documents were inferred anew after they were gathered

    def add(self, batch: int, visit: Visit, rows: Int) -> None:
        """Keep documents `rows` of a visited batch."""
        if rows.size:
            self.pieces.append(Piece.from_visit(batch, visit, rows, rows, visit.batch.selected(rows)))
        self.others.append(Untouched(batch, np.delete(visit.batch.lengths, rows), visit.prior))

    def join(self, other: Gathering) -> None:
        """Add the documents of further batches."""
        self.pieces += other.pieces
        self.others += other.others

    def split(self, topic: int) -> tuple[list[Piece], list[Untouched]]:
        """Return the gathered documents that hold a topic, and all the others."""
        held, free = [], []
        for piece in self.pieces:
            holds = piece.holds(topic)
            if holds.any():
                held.append(piece if holds.all() else piece.selected(np.flatnonzero(holds)))
            if not holds.all():
                free.append(piece.selected(np.flatnonzero(~holds)) if holds.any() else piece)
        return held, self.others + [untouched(piece) for piece in free]

    def n_holding(self, topic: int) -> int:
        """Return how many gathered documents hold a topic."""
        return sum(int(np.count_nonzero(piece.documents.topic == topic)) for piece in self.pieces)

    def tokens_holding(self, topic: int) -> float:
        """Return how many tokens the gathered documents that hold a topic have."""
        return sum(float(piece.counts.lengths[piece.holds(topic)].sum()) for piece in self.pieces)

    def exchange(self, old: list[Piece], new: list[Piece], new_index: Int) -> None:
        """Replace documents that a move inferred again; the others follow the renaming of the topics."""
        gone: dict[int, Int] = {}
        for piece in old:
            gone[piece.batch] = np.union1d(gone.get(piece.batch, np.zeros(0, np.int64)), piece.rows)
        stay = []
        for piece in self.pieces:
            kept = np.flatnonzero(~np.isin(piece.rows, gone.get(piece.batch, [])))
            if kept.size:
                stay.append(piece.selected(kept))
        self.pieces = stay
        self.follow(new_index)
        self.pieces += new
        self.changed = True

    def follow(self, new_index: Int) -> None:
        """Rename the topics after a move: pooled where equal, dropped where -1 (no document may hold these)."""
        self.pieces = [piece.relabelled(new_index) for piece in self.pieces]
        self.others = [replace(x, prior=x.prior.relabelled(new_index)) for x in self.others]


def untouched(piece: Piece) -> Untouched:
    """Return what remains of gathered documents for a move that does not touch them."""
    return Untouched(piece.batch, piece.counts.lengths, piece.prior)


def renamed_to(new_index: Int) -> int:
    """Return how many topics there are after a renaming."""
    return int(new_index.max(initial=-1)) + 1
