"""Delete moves: a topic goes, and its documents are inferred again (docs/math (V18); Hughes et al. 2015, Sec. 5.2).

The target documents leave the totals, exactly, by their gathered responsibilities. All others do not hold the topic:
their theta of it is dropped. Then the target is inferred again, together with the global step, and the whole objective
is compared.

The dropped theta could go to the inactive topics instead. Both are bounds; that one costs each document that does not
hold the topic up to a tenth of a nat until its next update, and deletes that gain in the end were rejected for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from stickbreak.fitting.batch_store import BatchStore
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import Documents, DocumentTopics
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.local_step import LocalResult, Observations, WeightStatistics, better_of, summarise
from stickbreak.variational.model import GatheredDocuments, Inference, ObjectiveTerms, Schedule, UntouchedDocuments
from stickbreak.variational.moves.base import MAX_DOCUMENTS, Move, MoveSettings
from stickbreak.variational.objective import rises
from stickbreak.variational.state import PER_TOPIC, GlobalParameters, StoredSummary, Summary

PATIENCE = 5  # rejected deletes that end the tries of a lap; halved by every lap without a success
# a rejected topic rests until the objective has risen by this part of what its removal cost; the part grows each time
REST, REST_GROWS = 0.2, 3.0
CHANGED = 0.2  # of its tokens: a topic that has gained or lost so many rests no longer
ROUNDS = 5  # of local and global step


class Rejection(NamedTuple):
    """What is remembered of a topic whose removal was rejected."""

    until: float  # objective from which on it is tried again
    times: int  # that it was rejected
    tokens: float  # that it had then


@dataclass(frozen=True, slots=True)
class Holders:
    """Wants the documents that hold one of some topics."""

    topics: Int

    def measure(self, result: LocalResult, engine: Engine) -> None:
        """Tell nothing: the documents are gathered."""

    def wanted(self, result: LocalResult) -> Int:
        """Return the documents that hold one of the topics."""
        docs = result.documents
        return np.unique(docs.rows[np.isin(docs.topic, self.topics)])


class Delete(Move):
    """Remove topics and give their tokens to the others, where the whole objective rises.

    At the beginning of a lap the smallest topics are chosen whose documents together are at most `max_documents`. As
    their documents are visited, their responsibilities are kept. At the end of the lap each topic in turn is taken out:
    its documents are inferred again, together with the global step, and the whole objective decides. A topic whose
    removal would have cost x nats rests until the objective has risen by x / 5 (then 3 x / 5, 9 x / 5, ... if it is
    rejected again) or it has gained or lost a fifth of its tokens: before, too little has changed.

    With `merges_first` nothing is deleted in the lap after one that changed the topics. While components of vectors
    form, whatever infers vectors again raises the objective, with or without them: on image patches deletes from the
    first lap on ended with 6 components where merges alone end with 10, 1 nat per patch higher.

    After `PATIENCE` rejections the other topics wait for a later lap. A fit may converge before their turn: on KOS with
    100 topics to wait for them took 30 % more time, and none of the 64 further deletes was accepted.

    `max_documents`: most documents that are inferred again in a lap; None: all (the larger delete of the authors' later
    code). `max_tokens`: most tokens that these may hold together, and that all candidates of a lap may infer again;
    None: no limit. `merges_first`: whether to wait for a lap that leaves the topics as they are.
    """

    name: ClassVar[str] = "delete"
    at_once: ClassVar[bool] = False

    def __init__(
        self,
        max_documents: int | None = MAX_DOCUMENTS,
        max_tokens: float | None = None,
        *,
        merges_first: bool = False,
    ) -> None:
        self.max_documents, self.max_tokens, self.merges_first = max_documents, max_tokens, merges_first
        self._chosen = np.zeros(0, np.int64)  # in the order of the lap
        self._names: list[int] = []
        self._failures, self._patience = 0, PATIENCE
        self._held_back, self._before = False, list[int]()
        self._work: Reinference
        self._rejected: dict[int, Rejection] = {}  # by name, of topics that are still there

    @classmethod
    def from_settings(cls, settings: MoveSettings) -> Self:
        """Return the move with the settings of a fit."""
        return cls(settings.delete_documents, settings.delete_tokens, merges_first=settings.merges_first)

    def begin(self, state: Inference) -> None:
        """Choose the topics to try."""
        self._held_back = self.merges_first and self._unsettled(state)
        present = set(state.topic_ids.tolist())
        self._rejected = {name: rejection for name, rejection in self._rejected.items() if name in present}
        most = state.totals.n_documents if self.max_documents is None else self.max_documents
        room = _Room(state.documents, most, self.max_tokens)
        chosen: list[int] = []
        holders = np.sum([d.holders(state.topic_ids.size) for d in state.documents], axis=0)
        for k in np.argsort(state.totals.N, kind="stable"):
            if state.topic_ids.size - len(chosen) < 2 or self._held_back:
                break
            if holders[k] > most or k < state.model.n_kept or self._rests(state, int(k)):
                continue
            if not room.takes(int(k)):
                break
            chosen.append(int(k))
        self._chosen = np.array(chosen, np.int64)
        self._names = state.topic_ids[self._chosen].tolist()

    def _unsettled(self, state: Inference) -> bool:
        """Whether the components are not those of the lap before."""
        before, self._before = self._before, np.sort(state.topic_ids).tolist()
        return before != self._before

    def _rests(self, state: Inference, topic: int) -> bool:
        """Whether too little has changed, of the objective and of the topic, since its removal was rejected."""
        rejection = self._rejected.get(int(state.topic_ids[topic]))
        if rejection is None or state.objective >= rejection.until:
            return False
        return abs(float(state.totals.N[topic]) - rejection.tokens) < CHANGED * rejection.tokens

    def probe(self) -> Holders:
        """Return what gathers the documents that hold a chosen topic."""
        return Holders(self._chosen)

    def candidates(self, state: Inference) -> Iterator[int]:
        """Return the chosen topics that are still there, by name, the smallest first.

        None if a trial of this lap has replaced the documents: none of the new ones is gathered yet.
        """
        self._failures, before, n_tokens = 0, state.topic_ids.size, 0.0
        if not state.gathering.others:
            return
        for name in self._names:
            if self._failures == self._patience:
                break
            if name not in state.topic_ids or state.topic_ids.size < 2:
                continue
            (topic,) = np.flatnonzero(state.topic_ids == name)
            n_holders = sum(int(d.holders(state.topic_ids.size)[topic]) for d in state.documents)
            # not those that other topics were merged into, or that found too many new documents in this lap
            if n_holders == state.gathering.n_holding(int(topic)) and (
                self.max_documents is None or n_holders <= self.max_documents
            ):
                n_tokens += 0.0 if self.max_tokens is None else state.gathering.tokens_holding(int(topic))
                if self.max_tokens is not None and n_tokens > self.max_tokens:
                    break
                yield name
        if state.topic_ids.size < before:
            self._patience = PATIENCE
        elif self._failures:
            self._patience = max(1, self._patience // 2)

    def ended(self, candidate: int) -> tuple[int]:
        """Return the topic."""
        return (candidate,)

    def evaluate(
        self, state: Inference, standing: ObjectiveTerms, schedule: Schedule, candidate: int
    ) -> ObjectiveTerms:
        """Return what follows if the topic goes and its documents are inferred again."""
        (topic,) = np.flatnonzero(state.topic_ids == candidate)
        held, others = state.gathering.split(int(topic))
        if held:
            start = documents_without(held, int(topic))
            self._work = reinfer(state, schedule, int(topic), Target.of(held), others, start)
        else:
            self._work = drop(state, int(topic), others)
        return self._work.standing

    def accepts(self, state: Inference, standing: ObjectiveTerms, found: ObjectiveTerms, candidate: int) -> bool:
        """Whether the objective rises; in a mixture an empty component, which is free, also goes where it does not."""
        (topic,) = np.flatnonzero(standing.topic_ids == candidate)
        better = super().accepts(state, standing, found, candidate)
        return better or self.drops_idle(state, standing, found, [int(topic)])

    def waiting(self, state: Inference) -> bool:
        """Whether deletes were held back in this lap, or a mixture has an idle component that was not tried yet."""
        if self._held_back:
            return True
        idle = np.flatnonzero(state.model.idle(state.totals.N)).tolist()
        return state.topic_ids.size > 1 and not all(self._rests(state, k) for k in idle)

    def reject(self, state: Inference, candidate: int) -> None:
        """Let the topic rest until enough has changed."""
        self._failures += 1
        lost = state.objective - self._work.standing.objective
        times = self._rejected[candidate].times if candidate in self._rejected else 0
        until = state.objective + REST * REST_GROWS**times * lost
        self._rejected[candidate] = Rejection(until, times + 1, state.totals.N[state.topic_ids == candidate].item())

    def apply(self, state: Inference, accepted: list[int], standing: ObjectiveTerms) -> None:
        """Edit every per-topic store by the last evaluation."""
        carry_out(state, self._work)

    def snapshot(self) -> dict[str, Any]:
        """Return the rejected topics."""
        rejected = [[name, *rejection] for name, rejection in self._rejected.items()]
        return {"patience": self._patience, "rejected": rejected, "before": self._before}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        self._patience, self._before = int(snapshot["patience"]), [int(name) for name in snapshot["before"]]
        self._rejected = {
            int(name): Rejection(float(until), int(times), float(tokens))
            for name, until, times, tokens in snapshot["rejected"]
        }


class _Room:
    """The documents of the chosen topics, as long as they are not too many."""

    def __init__(self, documents: BatchStore[Any], max_documents: int, max_tokens: float | None) -> None:
        self._documents, self._max_documents, self._max_tokens = documents, max_documents, max_tokens
        self._taken = [np.zeros(d.n_documents, dtype=bool) for d in documents]
        self._n_documents, self._n_tokens = 0, 0.0

    def takes(self, topic: int) -> bool:
        """Whether the documents of a topic fit in beside those taken; if so, they are taken."""
        n_documents, n_tokens, rows = 0, 0.0, []
        for found, taken in zip(self._documents, self._taken, strict=True):
            holding = found.holding(topic)
            n_documents += found.n_further(topic, holding, taken)
            if self._max_tokens is not None:
                n_tokens += found.n_tokens(holding[~taken[holding]])
            rows.append(holding)
        if self._n_documents + n_documents > self._max_documents:
            return False
        if self._max_tokens is not None and self._n_tokens + n_tokens > self._max_tokens:
            return False
        for taken, holding in zip(self._taken, rows, strict=True):
            taken[holding] = True
        self._n_documents, self._n_tokens = self._n_documents + n_documents, self._n_tokens + n_tokens
        return True


def documents_without(pieces: list[GatheredDocuments], topic: int) -> DocumentTopics:
    """Return the expected counts of gathered documents without one topic, the later ones moved up."""
    held = DocumentTopics.joined([piece.documents for piece in pieces])
    stays = held.topic != topic
    indptr = np.concatenate(([0], np.cumsum(stays)))[held.indptr]
    index = held.topic[stays]
    return DocumentTopics(indptr, (index - (index > topic)).astype(np.int32), held.n_dk[stays])


@dataclass(frozen=True, slots=True)
class Target:
    """Documents to be inferred again."""

    pieces: list[GatheredDocuments]  # at least one
    batch: Observations  # all documents of the pieces, one piece after the other
    old: Summary  # their statistics, over the words of `batch`

    @classmethod
    def of(cls, pieces: list[GatheredDocuments]) -> Target:
        """Join pieces, at least one."""
        batch = joined_counts(pieces)
        return cls(pieces, batch, joined_summary(pieces, batch))


@dataclass(frozen=True, slots=True)
class Reinference:
    """What a move leads to, and all that is needed to carry it out."""

    topic: int
    target: Target | None  # None: no document holds the topic
    others: list[UntouchedDocuments]  # every document outside the target
    result: LocalResult | None  # of the documents of the target
    standing: ObjectiveTerms


def joined_counts(pieces: list[GatheredDocuments]) -> Observations:
    """Return the observations of pieces, one after the other."""
    return pieces[0].counts.joined([piece.counts for piece in pieces])


def joined_summary(pieces: list[GatheredDocuments], batch: Observations) -> Summary:
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


def without_topic(summary: Summary, old: Summary | None, topic: int, others: list[UntouchedDocuments]) -> Summary:
    """Return statistics without the target's part `old`, without the topic and without words.   docs/math (V18)

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
    state: Inference,
    schedule: Schedule,
    topic: int,
    target: Target,
    others: list[UntouchedDocuments],
    start: DocumentTopics,
) -> Reinference:
    """Infer the target without the topic and evaluate the whole objective; nothing is changed.

    The target has all documents that hold the topic, `others` are all other documents. The target starts at `start`,
    and also from E[beta].
    """
    model, settings, engine = state.model, schedule.settings, schedule.engine
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
        result = model.local_step(batch, parameters, start, settings, engine)
        if round_ == 0 and model.starts_matter:
            result = better_of(result, model.local_step(batch, parameters, None, settings, engine, result))
        start = result.documents
        totals = replace(base, words=None, S=S_others.copy())
        totals.add(summarise(result, engine))
        data = elsewhere + likelihood.evidence(totals.S, totals.N)
        sticks = model.best_sticks(totals, parameters.rho, parameters.omega)
        parameters = parameters.followed(likelihood, totals.S, totals.N, *sticks)
        last, value = value, model.objective(totals, *sticks, data)
        won = rises(value, state.objective)
        lost = value + (value - last) / 2 < state.objective  # rounds gain less and less
        if round_ > 0 and (won or lost or not rises(value, last)):
            break
    standing = ObjectiveTerms(
        totals.without_words(), parameters.rho, parameters.omega, state.topic_ids[stays], data, value
    )
    return Reinference(topic, target, others, result, standing)


def drop(state: Inference, topic: int, others: list[UntouchedDocuments]) -> Reinference:
    """Evaluate the whole objective without a topic that no document holds; nothing is changed."""
    stays = np.delete(np.arange(state.topic_ids.size), topic)
    totals = without_topic(state.totals, None, topic, others)
    weights = state.parameters.expected_beta[:-1]
    rho, omega = state.model.best_sticks(totals, *sticks_of(weights[stays], state.parameters.omega[stays]))
    data = state.data[stays]
    value = state.model.objective(totals, rho, omega, data)
    return Reinference(
        topic, None, others, None, ObjectiveTerms(totals, rho, omega, state.topic_ids[stays], data, value)
    )


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
    new = [] if work.result is None else _inferred(pieces, work.result)
    signed = state.model.likelihood.signed

    def moved(b: int) -> list[tuple[GatheredDocuments, GatheredDocuments]]:
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


def _inferred(pieces: list[GatheredDocuments], result: LocalResult) -> list[GatheredDocuments]:
    """Return gathered documents as a visit of them all, one piece after the other, left them."""
    bounds = np.cumsum([0, *(piece.n_documents for piece in pieces)]).tolist()
    return [
        GatheredDocuments.from_result(piece.batch, result, piece.rows, np.arange(first, end), piece.counts)
        for piece, (first, end) in zip(pieces, pairwise(bounds), strict=True)
    ]


def _edited(
    stored: StoredSummary,
    moved: list[tuple[GatheredDocuments, GatheredDocuments]],
    topic: int,
    others: list[UntouchedDocuments],
    *,
    signed: bool,
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
