"""Visits of batches: local step, exact replacement of the batch's statistics, global step (math.md (V8)).

A visit is a job: it sees the parameters and its batch, and returns what the batch sums to. A group of batches is
visited at the same parameters, wherever that is; then their statistics replace the old ones in order, and one global
step follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from stickbreak.fitting.engine import run_each, workers_of
from stickbreak.fitting.executor import Executor
from stickbreak.fitting.shelves import Entry
from stickbreak.numerics.arrays import Int
from stickbreak.variational.gathering import Gathering
from stickbreak.variational.local_step import LocalSettings, better_of, summarise
from stickbreak.variational.model import Inference, Loader, Model, Schedule
from stickbreak.variational.objective import rises
from stickbreak.variational.observations import Visit
from stickbreak.variational.state import GlobalParameters, StoredSummary

FIRST_AT_ONCE = 64  # batches of the first lap that workers are given together


class Visited(NamedTuple):
    """What visits did, for people."""

    sweeps: Int  # of each document
    restarts: Int  # (2,) tried, accepted
    gained: int = 0  # documents for which the fresh start was the better one


class Observer(Protocol):
    """What a move looks for in a visited batch: small, for it travels to where the batch is visited."""

    def observe(self, visit: Visit, executor: Executor) -> Any:
        """Return what the move is told of the visit."""
        ...

    def wanted(self, visit: Visit) -> Int:
        """Return the documents of the visit that must be gathered."""
        ...


class Observing(Protocol):
    """A move, as visits know it."""

    def observer(self) -> Observer | None:
        """Return what looks at every visit; None: nothing does."""
        ...

    def note(self, index: int, observed: Any) -> None:
        """Take what the observer returned of the visit of a batch."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What the visits of a group have in common."""

    batches: Sequence[Loader]
    model: Model[Any]
    parameters: GlobalParameters
    settings: LocalSettings
    observers: Sequence[Observer]
    first: bool = False  # nothing is kept of the documents yet
    afresh: bool = False  # run the local step from E[beta], too
    gather: bool = False  # return the documents that observers want


class Job(NamedTuple):
    """One visit."""

    batch: int
    summary: Entry[StoredSummary]
    documents: Entry[Any]


class Found(NamedTuple):
    """What a visit returns."""

    summary: StoredSummary
    stored: Any  # that, for its shelf
    kept: Any  # of its documents, for their shelf
    visited: Visited
    observed: list[Any]  # by observer
    gathered: Gathering


def visit_batch(asked: Asked, job: Job, executor: Executor) -> Found:
    """Run the local step of a batch, and sum up.

    It goes on from where the last visit left each document; so the objective cannot fall, but a document cannot return
    to a topic that it has left. `afresh` also runs it from E[beta]: all fresh results are taken where their sum is the
    larger one (early, while the topics still form, that leads further), else the better of the two for each document.
    Either way the objective cannot fall.
    """
    model, parameters, settings = asked.model, asked.parameters, asked.settings
    batch, start = asked.batches[job.batch](), None if asked.first else job.documents.load()
    visit, gained = model.local_step(batch, parameters, start, settings, executor), 0
    if asked.afresh:
        fresh = model.local_step(batch, parameters, None, settings, executor, visit)
        gained = int(np.sum(rises(fresh.value, visit.value)))
        visit = fresh if rises(fresh.value.sum(), visit.value.sum()) else better_of(visit, fresh)
    observed, gathered = [observer.observe(visit, executor) for observer in asked.observers], Gathering()
    if asked.gather:
        wanted = [observer.wanted(visit) for observer in asked.observers]
        gathered.add(job.batch, visit, np.unique(np.concatenate([np.zeros(0, np.int64), *wanted])))
    summary = summarise(visit, executor).compressed()
    stored, kept = job.summary.kept(summary), job.documents.kept(model.kept(visit))
    return Found(summary, stored, kept, Visited(visit.sweeps, visit.restarts, gained), observed, gathered)


def groups(schedule: Schedule, at_once: int) -> Iterator[range]:
    """Yield the batches that are visited at the same parameters, in order."""
    n = len(schedule.batches)
    yield from (range(first, min(first + at_once, n)) for first in range(0, n, at_once))


def first_visits(
    schedule: Schedule, model: Model, parameters: GlobalParameters, topic_ids: Int
) -> tuple[Inference, Visited]:
    """Visit every batch for the first time.

    The start holds until every document has been seen: a global step after the first batches would forget what the
    start knows of the other documents (on KOS with 20 batches it ends 0.02 nats per token lower).

    Parameters
    ----------
    schedule : Schedule
    model : Model
    parameters : GlobalParameters
        The start.
    topic_ids : ndarray of shape (K,)
        Names of the topics.
    """
    n_words, n_topics = parameters.tau.shape
    totals = model.known(n_words, n_topics)
    stored, documents = schedule.keeping.of_summaries(), schedule.keeping.of_documents(model.documents)
    asked = Asked(schedule.batches, model, parameters, schedule.settings, (), first=True)
    done: list[Visited] = []
    many = FIRST_AT_ONCE if workers_of(schedule.executor) is not None else 1
    for group in groups(schedule, max(schedule.at_once, many)):
        visits = run_each(schedule.executor, visit_batch, _jobs(stored, documents, group), asked)
        for b, found in zip(group, visits, strict=True):
            totals.add(found.summary)
            stored.take(b, found.stored)
            documents.take(b, found.kept)
            done.append(found.visited)
    sticks = model.best_sticks(totals, parameters.rho, parameters.omega)
    after = GlobalParameters(parameters.tau, parameters.tau_sum, *sticks)
    state = Inference(model, after, totals, stored, documents, topic_ids, np.zeros(n_topics), -np.inf)
    state.next_id = int(topic_ids.max(initial=-1)) + 1
    state.refresh(model)
    restarts = np.sum([visited.restarts for visited in done], axis=0)
    return state, Visited(np.concatenate([visited.sweeps for visited in done]), restarts)


def revisit(
    schedule: Schedule,
    state: Inference,
    group: Sequence[int],
    *,
    afresh: bool,
    restarts: bool,
    moves: Sequence[Observing],
    gather: bool,
) -> list[Visited]:
    """Visit a group of batches again.

    All of them are visited at the same parameters, then their statistics replace those of before, and one global step
    follows. Each of these raises the objective, or leaves it where it is.

    Parameters
    ----------
    schedule : Schedule
    state : Inference
        Changed in place.
    group : sequence of int
        Batches.
    afresh : bool
        Whether to try documents from E[beta], too.
    restarts : bool
        Whether to try documents without their smallest topics.
    moves : sequence of Observing
        They are told of every visit.
    gather : bool
        Whether to gather the documents that they want.
    """
    model, parameters = state.model, state.parameters
    settings = schedule.settings if restarts else schedule.settings._replace(restarts=0)
    observing = [(move, observer) for move in moves if (observer := move.observer()) is not None]
    observers = [observer for _, observer in observing]
    asked = Asked(schedule.batches, model, parameters, settings, observers, afresh=afresh, gather=gather)
    visits = run_each(schedule.executor, visit_batch, _jobs(state.batches, state.documents, group), asked)
    for b, found in zip(group, visits, strict=True):
        for (move, _), observed in zip(observing, found.observed, strict=True):
            move.note(b, observed)
        state.gathering.join(found.gathered)
        state.totals.add(state.batches[b], -1.0)
        state.totals.add(found.summary)
        state.batches.take(b, found.stored)
        state.documents.take(b, found.kept)
    words = visits[0].summary.words
    for found in visits[1:]:
        words = np.union1d(words, found.summary.words)
    parameters.follow_batch(model.likelihood, state.totals, words)
    parameters.rho, parameters.omega = model.best_sticks(state.totals, parameters.rho, parameters.omega)
    return [found.visited for found in visits]


def _jobs(summaries: Any, documents: Any, group: Sequence[int]) -> list[Job]:
    return [Job(b, summaries.entry(b), documents.entry(b)) for b in group]
