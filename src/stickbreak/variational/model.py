"""The model and where its inference stands: what the schedules and the moves work on.

A local step stores no responsibilities. For the few documents that a move may infer again they are gathered in a lap
(`GatheredDocuments`), so that what these documents gave to the totals can be taken away again, exactly. All other
documents matter to such a move only through topics that none of them holds: there theta_dk is their prior, which
`UntouchedDocuments` remembers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.fitting.batch_store import BatchStore
from stickbreak.fitting.engine import Engine
from stickbreak.likelihoods import Likelihood
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import AnyDocuments, Documents, DocumentTopics, runs
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.local_step import DocumentPrior, LocalResult, LocalSettings, Observations, summarise
from stickbreak.variational.state import GlobalParameters, StoredSummary, Summary, expected_beta

TOP_WORDS = 8  # that stand for a topic in the log of moves


def largest_first(N: Float, n_kept: int) -> Int:
    """Return the topics in decreasing order of N, behind those that keep their places."""
    return np.append(np.arange(n_kept), n_kept + np.argsort(-N[n_kept:], kind="stable"))


Loader = Callable[[], Observations]
"""Reads a batch; what travels to workers can be pickled."""


class Model(ABC, Generic[AnyDocuments]):
    """How observations come to their topics: all that schedules and moves ask beside the likelihood."""

    __slots__ = ()

    starts_matter: ClassVar[bool]  # whether the local step of a document depends on where it starts
    documents: ClassVar[type[Documents]]  # what is kept of documents from visit to visit

    likelihood: Likelihood  # what a topic emits
    gamma: float

    @property
    def pseudo(self) -> sparse.csr_array | None:
        """Pseudo-counts of the first topics, (W, n_kept), as if they had been seen; None: of no topic."""
        return None

    @property
    def n_kept(self) -> int:
        """Number of topics with pseudo-counts: no move takes them away, or out of their places at the beginning."""
        return 0 if self.pseudo is None else int(self.pseudo.shape[1])

    def pseudo_summary(self, n_rows: int, n_topics: int) -> Summary:
        """Return the summary of no documents, with what is known of topics before.                   docs/math (L17)"""
        totals, pseudo = Summary.zeros(n_rows, n_topics), self.pseudo
        if pseudo is not None:
            totals.S[:, : self.n_kept] = pseudo.toarray()
            totals.N[: self.n_kept] = pseudo.sum(axis=0)
        return totals

    @property
    @abstractmethod
    def hyperparameters(self) -> dict[str, Any]:
        """All that can be learned, by name, as plain values."""

    @abstractmethod
    def with_hyperparameters(self, values: Mapping[str, Any]) -> Self:
        """Return the model with what `hyperparameters` returned of another."""

    @abstractmethod
    def local_step(
        self,
        batch: Observations,
        parameters: GlobalParameters,
        start: AnyDocuments | None,
        settings: LocalSettings,
        engine: Engine,
        among: LocalResult | None = None,
    ) -> LocalResult:
        """Run the local step of every document of a batch."""

    def summary(self, result: LocalResult, engine: Engine) -> Summary:
        """Return the additive statistics of a visited batch.                                    docs/math (V8)"""
        return summarise(result, engine)

    @abstractmethod
    def document_state(self, result: LocalResult) -> AnyDocuments:
        """Return what is kept of the documents of a visit until the next one."""

    @abstractmethod
    def best_sticks(self, totals: Summary, rho: Float, omega: Float) -> tuple[Float, Float]:
        """Return the optimal (rho, omega) given the statistics; (rho, omega) is where to start."""

    @abstractmethod
    def step_sticks(self, totals: Summary, rho: Float, omega: Float, step: float, rule: str) -> tuple[Float, Float]:
        """Return (rho, omega) after a stochastic step of this size towards what the statistics ask for."""

    @abstractmethod
    def objective(self, totals: Summary, rho: Float, omega: Float, data: Float) -> float:
        """Return the objective in nats; `data` is L_data of each topic."""

    @abstractmethod
    def idle(self, N: Float) -> NDArray[np.bool_]:
        """Return which of topics with N (K,) observations can go at no cost, although the objective does not rise."""

    @abstractmethod
    def learn(self, state: Inference[AnyDocuments], names: Collection[str], engine: Engine) -> None:
        """Set the named hyperparameters to the maximum of the objective, and all that follows from them, in place."""


@dataclass(frozen=True, slots=True)
class UntouchedDocuments:
    """Documents of one batch that were visited with the same prior and hold none of the topics in question."""

    batch: int
    lengths: Float  # (n,) tokens of each document
    prior: DocumentPrior  # of their visit: theta_dk of the topics that they do not hold


@dataclass(frozen=True, slots=True)
class GatheredDocuments:
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
    def from_result(
        cls, batch: int, result: LocalResult, rows: Int, of_result: Int, counts: Observations
    ) -> GatheredDocuments:
        """Take documents `of_result` of a visit, which are documents `rows` of `batch`; `counts` holds theirs."""
        documents = result.documents.selected(of_result)
        sizes = np.diff(counts.indptr) * np.diff(documents.indptr)
        share_ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        share = np.empty(int(share_ptr[-1]))
        statistics_kernels.responsibilities(of_result, *result.factors(), share_ptr, share)
        return cls(batch, rows, counts, result.prior, result.weights.shape[1], documents, share_ptr, share)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.rows.size

    def holds(self, topic: int) -> np.ndarray:
        """Return which documents hold a topic, (n,) bool."""
        held = np.zeros(self.n_documents, dtype=bool)
        held[self.documents.rows[self.documents.topic == topic]] = True
        return held

    def selected(self, rows: Int) -> GatheredDocuments:
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

    def relabelled(self, new_index: Int) -> GatheredDocuments:
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

    pieces: list[GatheredDocuments] = field(default_factory=list)
    others: list[UntouchedDocuments] = field(default_factory=list)
    changed: bool = False  # whether the local step ran again after the statistics were gathered

    def add(self, batch: int, result: LocalResult, rows: Int) -> None:
        """Keep documents `rows` of a visited batch."""
        if rows.size:
            self.pieces.append(GatheredDocuments.from_result(batch, result, rows, rows, result.batch.selected(rows)))
        self.others.append(UntouchedDocuments(batch, np.delete(result.batch.lengths, rows), result.prior))

    def join(self, other: Gathering) -> None:
        """Add the documents of further batches."""
        self.pieces += other.pieces
        self.others += other.others

    def split(self, topic: int) -> tuple[list[GatheredDocuments], list[UntouchedDocuments]]:
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

    def exchange(self, old: list[GatheredDocuments], new: list[GatheredDocuments], new_index: Int) -> None:
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


def untouched(piece: GatheredDocuments) -> UntouchedDocuments:
    """Return what remains of gathered documents for a move that does not touch them."""
    return UntouchedDocuments(piece.batch, piece.counts.lengths, piece.prior)


def renamed_to(new_index: Int) -> int:
    """Return how many topics there are after a renaming."""
    return int(new_index.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True)
class Schedule:
    """What does not change from lap to lap."""

    model: Model[Any]  # at the start; `Inference.model` has the present hyperparameters
    batches: Sequence[Loader]  # called at every visit: a batch need not stay in memory
    settings: LocalSettings
    engine: Engine
    learned: tuple[str, ...] = ()  # hyperparameters that every lap ends with learning
    seed: int = 0  # of what moves draw at random
    first_moves: int = 1  # lap from which on topics are merged, deleted and born
    at_once: int = 1  # batches that are visited at the same parameters, between two global steps
    folder: Path | None = None  # where what is kept of the batches is put; None: in memory


@dataclass(frozen=True, slots=True)
class ObjectiveTerms:
    """All that the objective is computed from, but without the words: small enough to judge candidates by."""

    totals: Summary  # without words
    rho: Float
    omega: Float
    topic_ids: Int
    data: Float  # (K,) L_data of each topic
    objective: float  # nats

    @property
    def weights(self) -> Float:
        """E[beta] of the active topics, (K,)."""
        return expected_beta(self.rho)[:-1]


class AcceptedMove(NamedTuple):
    """A change of the topics that raised the objective."""

    lap: int
    move: str
    gain: float  # nats
    n_topics: int  # after it
    words: list[list[int]]  # most frequent words of each topic that was merged, deleted or born


@dataclass(slots=True)
class Inference(Generic[AnyDocuments]):
    """Where memoized inference stands (docs/math (V8))."""

    model: Model[AnyDocuments]  # with the present hyperparameters, which may be learned
    parameters: GlobalParameters
    totals: Summary  # sum of `batches`
    batches: BatchStore[StoredSummary]
    documents: BatchStore[AnyDocuments]  # what is kept of every document, by batch
    topic_ids: Int  # (K,) a name for each topic that outlives merges and re-ordering
    data: Float  # (K,) L_data of each topic
    objective: float  # nats
    gathering: Gathering = field(default_factory=Gathering)  # documents of this lap that moves wanted
    next_id: int = 0  # name of the next topic to be born
    lap: int = 1
    accepted: list[AcceptedMove] = field(default_factory=list)  # in all laps so far
    restart_share: float = 1.0  # of the sparse restarts: those accepted when they last ran
    fresh_share: float = 1.0  # of the documents: those that a fresh start was better for when last tried

    def refresh(self, model: Model[AnyDocuments]) -> None:
        """Set tau, L_data and the objective from the totals (the sticks are left); `model` replaces the present one."""
        S, N, rho, omega = self.totals.S, self.totals.N, self.parameters.rho, self.parameters.omega
        self.model = model
        self.parameters = GlobalParameters.of(model.likelihood, S, N, rho, omega, self.totals.transitions)
        self.data = model.likelihood.evidence(S, N)
        self.objective = model.objective(self.totals, rho, omega, self.data)

    def resum(self) -> None:
        """Recompute the totals as the sum of the stored batches: removes the drift of rounding (docs/math (V8))."""
        totals = self.model.pseudo_summary(self.totals.S.shape[0], self.batches[0].n_topics)
        for batch in self.batches:
            totals.add(batch)
        self.totals = totals

    def objective_terms(self) -> ObjectiveTerms:
        """Return what candidates are judged by."""
        totals, parameters = self.totals.without_words(), self.parameters
        return ObjectiveTerms(totals, parameters.rho, parameters.omega, self.topic_ids, self.data, self.objective)

    def top_words(self, names: Collection[int]) -> list[list[int]]:
        """Return the words with most tokens of each of these topics, at least half a token.

        Topics that are not counts of words have none.
        """
        if self.model.likelihood.signed:
            return []
        columns = self.totals.S[:, np.isin(self.topic_ids, list(names))]
        order = np.argsort(-columns, axis=0, kind="stable")[:TOP_WORDS]
        return [[w for w in order[:, k].tolist() if columns[w, k] >= 0.5] for k in range(order.shape[1])]

    def edit(
        self, batches: Iterable[StoredSummary], documents: Iterable[AnyDocuments], standing: ObjectiveTerms
    ) -> None:
        """Replace every per-topic store after a move, batch by batch; `refresh` sets the rest."""
        self.batches, self.documents = self.batches.remade(batches), self.documents.remade(documents)
        self.resum()
        self.parameters.rho, self.parameters.omega = standing.rho, standing.omega
        self.topic_ids = standing.topic_ids

    def become(self, other: Inference[AnyDocuments]) -> None:
        """Take over model, topics and documents of another inference of the same data; `refresh` sets the rest.

        Nothing that was gathered or noted in this lap holds for the new documents, and no name is given twice.
        """
        self.model = other.model
        self.parameters, self.totals, self.topic_ids = other.parameters, other.totals, other.topic_ids
        self.batches, self.documents = other.batches, other.documents
        self.next_id = max(self.next_id, other.next_id)
        self.gathering = Gathering(changed=True)
        self.fresh_share = self.restart_share = 1.0
