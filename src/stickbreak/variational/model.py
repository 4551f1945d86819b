"""The model and where its inference stands: what the memoized schedule and the moves work on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.fitting.executor import Executor
from stickbreak.fitting.shelves import Shelf
from stickbreak.likelihoods import Likelihood
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import AnyDocuments, Documents
from stickbreak.variational.gathering import Gathering
from stickbreak.variational.keeping import Keeping
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.observations import Observations, Visit
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

    def known(self, n_rows: int, n_topics: int) -> Summary:
        """Return the summary of no documents, with what is known of topics before.                   math.md (L17)"""
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
        executor: Executor,
        among: Visit | None = None,
    ) -> Visit:
        """Run the local step of every document of a batch."""

    @abstractmethod
    def kept(self, visit: Visit) -> AnyDocuments:
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
    def learn(self, state: Inference[AnyDocuments], names: Collection[str], executor: Executor) -> None:
        """Set the named hyperparameters to the maximum of the objective, and all that follows from them, in place."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """What does not change from lap to lap."""

    model: Model[Any]  # at the start; `Inference.model` has the present hyperparameters
    batches: Sequence[Loader]  # called at every visit: a batch need not stay in memory
    settings: LocalSettings
    executor: Executor
    learned: tuple[str, ...] = ()  # hyperparameters that every lap ends with learning
    seed: int = 0  # of what moves draw at random
    first_moves: int = 1  # lap from which on topics are merged, deleted and born
    at_once: int = 1  # batches that are visited at the same parameters, between two global steps
    keeping: Keeping = field(default_factory=Keeping)


@dataclass(frozen=True, slots=True)
class Standing:
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
    """Where memoized inference stands (math.md (V8))."""

    model: Model[AnyDocuments]  # with the present hyperparameters, which may be learned
    parameters: GlobalParameters
    totals: Summary  # sum of `batches`
    batches: Shelf[StoredSummary]
    documents: Shelf[AnyDocuments]  # what is kept of every document, by batch
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
        self.parameters = GlobalParameters.of(model.likelihood, S, N, rho, omega)
        self.data = model.likelihood.evidence(S, N)
        self.objective = model.objective(self.totals, rho, omega, self.data)

    def resum(self) -> None:
        """Recompute the totals as the sum of the stored batches: removes the drift of rounding (math.md (V8))."""
        totals = self.model.known(self.totals.S.shape[0], self.batches[0].n_topics)
        for batch in self.batches:
            totals.add(batch)
        self.totals = totals

    def standing(self) -> Standing:
        """Return what candidates are judged by."""
        totals, parameters = self.totals.without_words(), self.parameters
        return Standing(totals, parameters.rho, parameters.omega, self.topic_ids, self.data, self.objective)

    def top_words(self, names: Collection[int]) -> list[list[int]]:
        """Return the words with most tokens of each of these topics, at least half a token.

        Topics that are not counts of words have none.
        """
        if self.model.likelihood.signed:
            return []
        columns = self.totals.S[:, np.isin(self.topic_ids, list(names))]
        order = np.argsort(-columns, axis=0, kind="stable")[:TOP_WORDS]
        return [[w for w in order[:, k].tolist() if columns[w, k] >= 0.5] for k in range(order.shape[1])]

    def edit(self, batches: Iterable[StoredSummary], documents: Iterable[AnyDocuments], standing: Standing) -> None:
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
