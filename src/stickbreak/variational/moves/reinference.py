"""Inference of a few documents without one topic: the work of a delete move (math.md (V18)).

The target documents leave the totals, exactly, by their gathered responsibilities. All others do not hold the topic:
their theta of it is dropped. Then the target is inferred again, together with the global step, and the whole objective
is compared.

The dropped theta could go to the inactive topics instead. Both are bounds; that one costs each document that does not
hold the topic up to a tenth of a nat until its next visit, and deletes that gain in the end were rejected for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from stickbreak.numerics.arrays import Float
from stickbreak.variational.documents import Documents, DocumentTopics
from stickbreak.variational.gathering import Piece, Untouched
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.local_step import better_of, summarise
from stickbreak.variational.model import Inference, Schedule, Standing
from stickbreak.variational.objective import rises
from stickbreak.variational.observations import Observations, Visit, WeightStatistics
from stickbreak.variational.state import PER_TOPIC, GlobalParameters, StoredSummary, Summary

ROUNDS = 5  # of local and global step


@dataclass(frozen=True, slots=True)
class Target:
    """Documents to be inferred again."""

    pieces: list[Piece]  # at least one
    batch: Observations  # all documents of the pieces, one piece after the other
    old: Summary  # their statistics, over the words of `batch`

    @classmethod
    def of(cls, pieces: list[Piece]) -> Target:
        """Join pieces, at least one."""
        batch = joined_counts(pieces)
        return cls(pieces, batch, joined_summary(pieces, batch))


@dataclass(frozen=True, slots=True)
class Reinference:
    """What a move leads to, and all that is needed to carry it out."""

    topic: int
    target: Target | None  # None: no document holds the topic
    others: list[Untouched]  # every document outside the target
    visit: Visit | None  # of the documents of the target
    standing: Standing


def joined_counts(pieces: list[Piece]) -> Observations:
    """Return the observations of pieces, one after the other."""
    return pieces[0].counts.joined([piece.counts for piece in pieces])


def joined_summary(pieces: list[Piece], batch: Observations) -> Summary:
    """Return the statistics of gathered documents; `batch` holds their counts one piece after the other."""
    n_topics = pieces[0].n_topics
    documents = DocumentTopics.joined([piece.documents for piece in pieces])
    share_ptr = np.concatenate(([0], np.cumsum(np.concatenate([np.diff(piece.share_ptr) for piece in pieces]))))
    share = np.concatenate([piece.share for piece in pieces])
    S, H = batch.gathered_statistics(documents, share_ptr, share, n_topics)
    total = WeightStatistics.zeros(n_topics)
    for piece in pieces:
        piece.prior.add_statistics(piece.documents, piece.counts.lengths, total)
    N = np.bincount(documents.topic, weights=documents.n_dk, minlength=n_topics).astype(np.float64)
    return Summary(batch.n_documents, batch.words, S, N, H, total.T, total.G, total.Q, float(total.Q0))


def without_topic(summary: Summary, old: Summary | None, topic: int, others: list[Untouched]) -> Summary:
    """Return statistics without the target's part `old`, without the topic and without words.   math.md (V18)

    `others` are the remaining documents of the summary.
    """
    columns: dict[str, Any] = {}
    for name in PER_TOPIC:
        rest = getattr(summary, name) if old is None else getattr(summary, name) - getattr(old, name)
        columns[name] = np.delete(rest, topic)
    dropped, Q0 = [group.prior.dropped(topic, group.lengths) for group in others], 0.0
    columns["T"] += np.array([change.T for change in dropped]).sum()
    for change in dropped:
        columns["G"] += change.G
        Q0 += change.Q0
    return replace(
        summary,
        words=np.zeros(0, np.int32),
        S=np.zeros((0, columns["N"].size)),
        n_documents=summary.n_documents - (0 if old is None else old.n_documents),
        Q0=summary.Q0 + Q0 - (0.0 if old is None else old.Q0),
        **columns,
    )


def reinfer(
    state: Inference, schedule: Schedule, topic: int, target: Target, others: list[Untouched], start: DocumentTopics
) -> Reinference:
    """Infer the target without the topic and evaluate the whole objective; nothing is changed.

    Parameters
    ----------
    state : Inference
    schedule : Schedule
    topic : int
    target : Target
        All documents that hold the topic.
    others : list of Untouched
        All other documents.
    start : DocumentTopics
        Where the target starts, beside a start from E[beta].
    """
    model, settings, executor = state.model, schedule.settings, schedule.executor
    likelihood = model.likelihood.of_rows(target.batch.words)
    words, stays = target.batch.words, np.delete(np.arange(state.topic_ids.size), topic)
    before = np.ascontiguousarray(state.totals.S[words][:, stays])
    base = without_topic(state.totals, target.old, topic, others)
    S_others = remainder(before, target.old.S[:, stays], signed=model.likelihood.signed)
    elsewhere = state.data[stays] - likelihood.evidence(before, state.totals.N[stays])  # words not in the target
    weights = state.parameters.expected_beta[:-1]
    sticks = sticks_of(weights[stays], state.parameters.omega[stays])
    parameters = GlobalParameters(likelihood.table(before), state.parameters.tau_sum[stays], *sticks)
    batch = target.batch.over_own_rows()
    start = batch.reopened(start, parameters)
    value = -np.inf
    for round_ in range(ROUNDS):
        visit = model.local_step(batch, parameters, start, settings, executor)
        if round_ == 0 and model.starts_matter:
            visit = better_of(visit, model.local_step(batch, parameters, None, settings, executor, visit))
        start = visit.documents
        totals = replace(base, words=None, S=S_others.copy())
        totals.add(summarise(visit, executor))
        data = elsewhere + likelihood.evidence(totals.S, totals.N)
        sticks = model.best_sticks(totals, parameters.rho, parameters.omega)
        parameters = parameters.followed(likelihood, totals.S, totals.N, *sticks)
        last, value = value, model.objective(totals, *sticks, data)
        won = rises(value, state.objective)
        lost = value + (value - last) / 2 < state.objective  # rounds gain less and less
        if round_ > 0 and (won or lost or not rises(value, last)):
            break
    standing = Standing(totals.without_words(), parameters.rho, parameters.omega, state.topic_ids[stays], data, value)
    return Reinference(topic, target, others, visit, standing)


def drop(state: Inference, topic: int, others: list[Untouched]) -> Reinference:
    """Evaluate the whole objective without a topic that no document holds; nothing is changed."""
    stays = np.delete(np.arange(state.topic_ids.size), topic)
    totals = without_topic(state.totals, None, topic, others)
    weights = state.parameters.expected_beta[:-1]
    rho, omega = state.model.best_sticks(totals, *sticks_of(weights[stays], state.parameters.omega[stays]))
    data = state.data[stays]
    value = state.model.objective(totals, rho, omega, data)
    return Reinference(topic, None, others, None, Standing(totals, rho, omega, state.topic_ids[stays], data, value))


def remainder(whole: Float, part: Float, *, signed: bool) -> Float:
    """Return S without a part of it; `signed` if it may hold negative numbers."""
    return whole - part if signed else cleaned(whole - part, whole)


def cleaned(S: Float, before: Float) -> Float:
    """Return S with what rounding left of a subtraction from `before` set to zero."""
    return np.where(S > 1e-12 * before, S, 0.0)


def carry_out(state: Inference, work: Reinference) -> None:
    """Edit every per-topic store after an accepted move."""
    new_index = np.insert(np.arange(state.topic_ids.size - 1), work.topic, -1)
    pieces = [] if work.target is None else work.target.pieces
    new = [] if work.visit is None else _visited(pieces, work.visit)
    signed = state.model.likelihood.signed

    def moved(b: int) -> list[tuple[Piece, Piece]]:
        return [(x, y) for x, y in zip(pieces, new, strict=True) if x.batch == b]

    def edited(b: int, stored: StoredSummary) -> StoredSummary:
        others = [group for group in work.others if group.batch == b]
        return _edited(stored, moved(b), work.topic, others, signed=signed)

    def exchanged(b: int, found: Documents) -> Documents:
        rows = np.concatenate([np.zeros(0, np.int64), *(piece.rows for piece, _ in moved(b))])
        old, joined = (DocumentTopics.joined([pair[side].documents for pair in moved(b)]) for side in (0, 1))
        return found.exchanged(rows, old, joined, new_index)

    batches = (edited(b, stored) for b, stored in enumerate(state.batches))
    documents = (exchanged(b, found) for b, found in enumerate(state.documents))
    state.gathering.exchange(pieces, new, new_index)
    state.edit(batches, documents, work.standing)


def _visited(pieces: list[Piece], visit: Visit) -> list[Piece]:
    """Return gathered documents as a visit of them all, one piece after the other, left them."""
    bounds = np.cumsum([0, *(piece.n_documents for piece in pieces)]).tolist()
    return [
        Piece.from_visit(piece.batch, visit, piece.rows, np.arange(first, end), piece.counts)
        for piece, (first, end) in zip(pieces, pairwise(bounds), strict=True)
    ]


def _edited(
    stored: StoredSummary, moved: list[tuple[Piece, Piece]], topic: int, others: list[Untouched], *, signed: bool
) -> StoredSummary:
    """Return the statistics of a batch after the move."""
    if not moved:
        new_index = np.insert(np.arange(stored.n_topics - 1), topic, -1)
        vectors = without_topic(stored.vectors, None, topic, others)
        return StoredSummary(vectors, stored.words, stored.S.relabelled(new_index, stored.n_topics - 1))
    counts = joined_counts([before for before, _ in moved])
    old, new = (joined_summary([pair[side] for pair in moved], counts) for side in (0, 1))
    out = without_topic(stored.vectors, old, topic, others)
    out.add(new.without_words())
    S, rows = np.delete(stored.S.dense(), topic, axis=1), np.searchsorted(stored.words, counts.words)
    S[rows] = remainder(S[rows], np.delete(old.S, topic, axis=1), signed=signed) + new.S
    return replace(out, words=stored.words, S=S).compressed()
