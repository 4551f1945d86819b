"""What moves the tree: steps on minibatches, or on all documents at once, and the bound (docs/math (F4), (F5))."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine, shards
from stickbreak.fitting.loop import Lap
from stickbreak.fitting.step_sizes import step_size
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.nested_hdp.local_step import Found, Globals, LocalSettings, local_step
from stickbreak_baselines.nested_hdp.state import Subtrees, TreeState
from stickbreak_baselines.nested_hdp.sticks import expected_log_weights, objective_of_sticks
from stickbreak_baselines.nested_hdp.tree import Tree
from stickbreak_baselines.topics import give_back, objective_of_topics, words_of_topics

COLUMNS = ("step_size", "n_steps", "sweeps", "nodes")
BLOCK_COUNTS = 1 << 18  # stored counts of the documents whose shares are kept at the same time


@dataclass(frozen=True, slots=True)
class Rules:
    """What does not change from step to step."""

    tree: Tree
    local: LocalSettings
    gamma: float
    eta: Eta
    most_nodes: int  # T
    decay: float
    offset: float
    seed: int
    pseudo: sparse.csr_array | None = None  # (W, n_kept)  of the first children of the root


@dataclass(slots=True)
class Tally:
    """What documents say together."""

    S: Float  # (W, K)
    picks: Float  # (K,)
    own: float = 0.0
    n_tokens: float = 0.0
    sweeps: float = 0.0  # times documents
    n_documents: int = 0

    @classmethod
    def of(cls, state: TreeState) -> Tally:
        """Begin with nothing."""
        return cls(np.zeros(state.counts.shape), np.zeros(state.tokens.size))

    def add(self, documents: Minibatch, found: Found) -> None:
        """Add documents."""
        self.S[documents.words] += found.S
        self.picks += found.picks
        self.own, self.n_tokens = self.own + found.own, self.n_tokens + documents.n_tokens
        self.sweeps += found.sweeps * documents.n_documents
        self.n_documents += documents.n_documents


class Steps:
    """Steps, one after another.

    Parameters
    ----------
    rules : Rules
    engine : Engine
    """

    def __init__(self, rules: Rules, engine: Engine) -> None:
        self.rules, self._engine = rules, engine

    def size(self, step: int) -> float:
        """Return the size of a step; the number of the first is 1."""
        return step_size(step, self.rules.decay, self.rules.offset)

    def lap(self, state: TreeState, minibatches: Iterator[Minibatch], n_documents: int) -> Lap:
        """Take a step on each minibatch of a collection of `n_documents`; `state` changes in place.

        The objective is the bound of what the lap found of all documents under the globals at its end.
        """
        tally = Tally.of(state)
        for minibatch in minibatches:
            found = self.visit(state, minibatch, Subtrees.none(minibatch.n_documents, self.rules.most_nodes))
            self._move(state, minibatch, found, n_documents)
            tally.add(minibatch, found)
        return self._row(state, tally)

    def once(self, state: TreeState, minibatch: Minibatch, n_documents: int) -> Lap:
        """Take a step on a minibatch of a stream; the objective is an estimate of the bound before it."""
        found = self.visit(state, minibatch, Subtrees.none(minibatch.n_documents, self.rules.most_nodes))
        share, elog = n_documents / minibatch.n_documents, words_of_topics(state, minibatch.words, self.rules.eta)
        of_words = share * float((found.S * elog).sum())
        objective = self._bound(state, of_words, share * found.picks, share * found.own)
        self._move(state, minibatch, found, n_documents)
        nodes = found.picks.sum() / minibatch.n_documents
        return self._trace(state, objective / (share * minibatch.n_tokens), found.sweeps, nodes)

    def whole(self, state: TreeState, corpus: Corpus, subtrees: Subtrees, *, fresh: bool = True) -> Lap:
        """Take one step on all documents: the topics and sticks become the best ones for them.           docs/math (F5)

        With their subtrees, which are kept, the bound never falls. `state` and `subtrees` change in place.
        """
        tally = Tally.of(state)
        for first, last in shards(np.diff(corpus.counts.indptr), BLOCK_COUNTS):
            rows = slice(first, last)
            documents = Minibatch.from_corpus(corpus[rows])
            if documents.words.size:
                tally.add(documents, self.visit(state, documents, subtrees.of(rows), fresh=fresh))
        state.counts, state.scale, state.tokens, state.picks = tally.S, 1.0, tally.S.sum(axis=0), tally.picks
        if self.rules.pseudo is not None:
            state.counts = tally.S.copy()  # the tally has tokens alone
            give_back(state, self.rules.pseudo, 1.0)
        state.n_steps += 1
        return self._row(state, tally)

    def visit(self, state: TreeState, documents: Minibatch, subtrees: Subtrees, *, fresh: bool = True) -> Found:
        """Run the local step of documents."""
        rules = self.rules
        elog = words_of_topics(state, documents.words, rules.eta)
        seen = Globals(rules.tree, elog, expected_log_weights(rules.tree, state.picks, rules.gamma))
        return local_step(documents, seen, rules.local, subtrees, self._engine, fresh=fresh)

    def _move(self, state: TreeState, minibatch: Minibatch, found: Found, n_documents: int) -> None:
        """Move the globals a step towards what the documents, scaled up, ask for.                     docs/math (F6)"""
        share = n_documents / minibatch.n_documents
        state.blend(minibatch.words, share * found.S, share * found.picks, self.size(state.n_steps + 1))
        if self.rules.pseudo is not None:
            give_back(state, self.rules.pseudo, self.size(state.n_steps + 1))
        state.n_steps += 1

    def _bound(self, state: TreeState, of_words: float, picks: Float, own: float) -> float:
        """Return the bound in nats, of what documents add and of the globals.                         docs/math (F4)"""
        rules = self.rules
        of_globals = float(objective_of_topics(state, rules.eta, rules.pseudo).sum())
        of_globals += objective_of_sticks(rules.tree, state.picks, rules.gamma)
        of_picks = float(picks @ expected_log_weights(rules.tree, state.picks, rules.gamma))
        return own + of_words + of_picks + of_globals

    def _row(self, state: TreeState, tally: Tally) -> Lap:
        elog = words_of_topics(state, np.arange(state.counts.shape[0]), self.rules.eta)
        objective = self._bound(state, float((tally.S * elog).sum()), tally.picks, tally.own)
        n = tally.n_documents
        return self._trace(state, objective / tally.n_tokens, tally.sweeps / n, float(tally.picks.sum()) / n)

    def _trace(self, state: TreeState, objective: float, sweeps: float, nodes: float) -> Lap:
        """Return the row of the trace."""
        values = self.size(max(1, state.n_steps)), float(state.n_steps), sweeps, float(nodes)
        n_topics = state.shown(self.rules.tree).size
        return Lap(objective, n_topics, False, dict(zip(COLUMNS, values, strict=True)))
