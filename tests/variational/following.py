"""q of every document, followed through laps and moves by the slow twins: what every store must agree with."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from stickbreak.fitting.batch_store import BatchStore
from stickbreak.variational.hdp import HDP
from stickbreak.variational.moves import births
from stickbreak.variational.moves.births import Trial

from . import reference
from .problems import (
    Recorder,
    Together,
    assert_summary_equal,
    direct_objective,
    documents_of_visit,
    responsibilities,
    thetas,
)


class Following(Recorder):
    """Put first in the list of moves; keeps r and theta of every document, by batch, through all accepted moves."""

    def __init__(self):
        super().__init__()
        self.docs, self.r, self.theta = {}, {}, {}
        self.names = []
        self.tried = None  # the state of the last trial, and q of its documents
        self.followed = {}  # name of a move -> times that it was followed

    def begin(self, state):
        self.names = state.topic_ids.tolist()

    def note(self, index, observed):
        super().note(index, observed)
        result = observed
        self.docs[index] = documents_of_visit(result)
        self.r[index], self.theta[index] = responsibilities(result), thetas(result)

    def attach(self, moves):
        """Follow whatever these moves apply."""
        for move in moves:
            move.apply = self._followed(move, move.apply)
        return moves

    def _followed(self, move, apply):
        def follow(state, accepted, standing):
            if isinstance(move, Trial):
                self.replace(state)
            else:
                getattr(self, move.name)(move, accepted)
            self.followed[move.name] = self.followed.get(move.name, 0) + 1
            apply(state, accepted, standing)
            if isinstance(move, Trial):
                self.names = state.topic_ids.tolist()

        return follow

    def each(self, change):
        """Set (r, theta) of every batch to what `change` makes of them."""
        for b in self.r:
            self.r[b], self.theta[b] = change(self.r[b], self.theta[b])

    def merge(self, move, accepted):
        """r' = r_l + r_m, theta' = theta_l + theta_m."""
        for candidate in accepted:
            keep, gone = sorted(self.names.index(name) for name in (candidate.left, candidate.right))
            self.each(lambda r, theta, pair=(keep, gone): reference.pooled(r, theta, *pair))
            del self.names[gone]

    def reorder(self, move, accepted):
        """The same columns in another order."""
        (order,) = accepted
        with_rest = np.append(order, order.size)
        self.each(lambda r, theta: ([x[:, order] for x in r], theta[:, with_rest]))
        self.names = [self.names[k] for k in order]

    def delete(self, move, accepted):
        """The target from its new visit; all other documents lose theta of the topic."""
        work = move._work
        topic = self.names.index(accepted[-1])
        assert topic == work.topic
        empty = work.target is None  # no document holds the topic
        new_r, new_theta = ([], []) if empty else (responsibilities(work.result), thetas(work.result))
        where = [] if empty else [(piece.batch, int(row)) for piece in work.target.pieces for row in piece.rows]
        assert len(set(where)) == len(where) == len(new_r)
        target = dict(zip(where, zip(new_r, new_theta, strict=True), strict=True))
        for b in self.r:
            here = [d for d in range(len(self.r[b])) if (b, d) in target]
            others = [d for d in range(len(self.r[b])) if (b, d) not in target]
            left_r, left_theta = reference.without_topic([self.r[b][d] for d in others], self.theta[b][others], topic)
            theta = np.empty((len(self.r[b]), len(self.names)))
            theta[others] = left_theta
            r = dict(zip(others, left_r, strict=True))
            for d in here:
                r[d], theta[d] = target[b, d]
            self.r[b], self.theta[b] = [r[d] for d in range(len(r))], theta
        del self.names[topic]

    def replace(self, state):
        """The documents as the trial left them, where it was watched."""
        if self.tried is not None:
            self.r, self.theta = self.tried[1].r, self.tried[1].theta

    def learn(self, state, beta):
        """Theta under a learned alpha."""
        for b, r in self.r.items():
            n_dk = np.array([c @ x for (_, c), x in zip(self.docs[b], r, strict=True)])
            self.theta[b] = state.model.alpha * beta + np.pad(n_dk, ((0, 0), (0, 1)))

    @contextmanager
    def watched(self):
        """Follow trials from their first visits on, and what learning does to theta, which no move is told of."""
        local_step, learn, first_updates = HDP.local_step, HDP.learn, births.first_updates
        update_batches, take_lap, visits = births.update_batches, births.take_lap, []

        def visited(*arguments):
            visits.append(local_step(*arguments))
            return visits[-1]

        def begun(schedule, model, parameters, names):
            visits.clear()
            state, info = first_updates(schedule, model, parameters, names)
            inner = Following()
            inner.names = names.tolist()
            for b, result in enumerate(visits):
                inner.note(b, result)
            self.tried = state, inner
            return state, info

        def again(schedule, state, group, moves, **options):
            done = update_batches(schedule, state, group, moves, **options)
            for b, result in zip(group, visits[-len(group) :], strict=True):
                self.tried[1].note(b, result)
            return done

        def lap(found, schedule, merges):
            self.tried[1].attach([merge for merge in merges if "apply" not in vars(merge)])
            take_lap(found, schedule, merges)

        def learned(model, state, names, engine):
            beta = reference.expected_beta(state.parameters.rho)
            learn(model, state, names, engine)
            if "alpha" in names:
                of_trial = self.tried is not None and state is self.tried[0]
                (self.tried[1] if of_trial else self).learn(state, beta)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(HDP, "local_step", visited)
            patch.setattr(HDP, "learn", learned)
            for name, followed in (("first_updates", begun), ("update_batches", again), ("take_lap", lap)):
                patch.setattr(births, name, followed)
            yield

    def q(self):
        """(docs, r, theta) of the corpus in batch order."""
        docs = [doc for b in sorted(self.docs) for doc in self.docs[b]]
        r = [x for b in sorted(self.r) for x in self.r[b]]
        return docs, r, np.concatenate([self.theta[b] for b in sorted(self.theta)])

    def assert_is(self, state, rtol=1e-9):
        """Every store of the state equals recomputation from q."""
        n_words, n_topics = state.totals.S.shape
        assert state.topic_ids.tolist() == self.names
        for b in self.r:
            twin = reference.statistics(self.docs[b], self.r[b], self.theta[b], n_words)
            assert_summary_equal(state.batches[b].expanded(), twin, rtol)
            n_dk = np.array([c @ x for (_, c), x in zip(self.docs[b], self.r[b], strict=True)])
            np.testing.assert_allclose(state.documents[b].dense(n_topics), n_dk, rtol=rtol, atol=1e-10)
        docs, r, theta = self.q()
        assert theta.shape == (len(docs), n_topics + 1)
        assert_summary_equal(state.totals, reference.statistics(docs, r, theta, n_words), rtol)
        p = state.parameters
        assert p.rho.size == p.omega.size == state.data.size == n_topics
        np.testing.assert_allclose(p.tau, state.totals.S + state.model.likelihood.eta)
        np.testing.assert_allclose(p.tau_sum, p.tau.sum(axis=0))
        direct = direct_objective(docs, r, theta, state, state.model)
        np.testing.assert_allclose(state.objective, direct, rtol=rtol)


class Holding(Recorder):
    """Lets moves choose, track and gather in a lap, and never lets them try."""

    def __init__(self, *moves):
        super().__init__()
        self.moves = moves

    def begin(self, state):
        for move in self.moves:
            move.begin(state)

    def probe(self):
        return Together([move.probe() for move in self.moves])

    def note(self, index, observed):
        for move, own in zip(self.moves, observed, strict=True):
            move.note(index, own)


def arrays_of(thing, name="state"):
    """All that a state holds, by name, arrays copied: to compare a state with what it was."""
    if hasattr(thing, "__dataclass_fields__"):
        return {
            k: v
            for field in thing.__dataclass_fields__
            for k, v in arrays_of(getattr(thing, field), f"{name}.{field}").items()
        }
    if isinstance(thing, list | tuple | BatchStore):
        out = {f"{name}.size": len(thing)}
        for i, part in enumerate(thing):
            out |= arrays_of(part, f"{name}[{i}]")
        return out
    return {name: thing.copy() if isinstance(thing, np.ndarray) else thing}


def assert_unchanged(state, before):
    """The state is what `arrays_of` found before, to the last bit."""
    after = arrays_of(state)
    assert after.keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)
