"""CVB0 for LDA: that of the HDP (math.md (C1)) with priors a_k in place of alpha beta_k, and no moves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.baselines.lda.learning import with_eta_of
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE, Update, add_up, update, with_random_topics
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.packing import Counts
from stickbreak.collapsed.state import CollapsedState, assembled
from stickbreak.collapsed.state import Priors as CollapsedPriors
from stickbreak.collapsed.steering import UNSTEERED, add_pseudo, expected
from stickbreak.collapsed.walking import Found, count_new
from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import opened
from stickbreak.fitting.laps import Packed
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.keys import key_of
from stickbreak.sparse_gibbs.dirichlet import FIRST_LAP, fixed_point, is_due
from stickbreak.sparse_gibbs.priors import Priors


class CVB0:
    """Shares of the topics in every stored count.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
    seed : int
    engine : Engine
    pseudo : csr_array of shape (W, n_kept), optional
        Pseudo-counts of the first topics, which the tables hold.
    """

    window = 10  # shares are rounded at random

    def __init__(
        self, corpus: Corpus, n_topics: int, seed: int, engine: Engine, pseudo: sparse.csr_array | None = None
    ) -> None:
        self._documents, self._n_topics, self._seed, self._engine = InMemory(corpus), n_topics, seed, engine
        self._n_tokens, self._lengths = float(corpus.n_tokens), np.asarray(corpus.document_lengths, np.float64)
        self._steering = UNSTEERED if pseudo is None else expected(pseudo)
        self.state: CollapsedState

    def begin(self) -> None:
        """Give every stored count to one topic, drawn at random, or to those of its seeds."""
        given = self._documents, self._n_topics, self._seed, self._engine, self._steering
        self.state = with_random_topics(*given)

    def lap(self, number: int, priors: Priors) -> float:
        """Update all shares; return the mean log p of a token given all others.                 math.md (C1), (C4)"""
        state, found = self.state, Found()
        if not state.summed:
            add_up(state, self._engine)
        key = key_of(self._seed, number, "CVB0 sweep of LDA")
        of_sweep = CollapsedPriors(priors.alpha, 1.0, priors.eta)
        given = Update(Counts(state.S, state.N), priors.a, of_sweep, SMALLEST_SHARE, key)
        for turn in range(state.documents.n_turns):
            into = state.S, state.N
            walked = state.documents.walk(
                self._engine, update, given, turns=range(turn, turn + 1), count=count_new, into=into
            )
            found.add(walked.sums, [])
        state.tables, log_p = found.sums
        return float(log_p) / self._n_tokens

    def learned(self, priors: Priors, names: Collection[str], number: int) -> Priors:
        """Return the priors after a lap.                                                       math.md (L4), (C7)"""
        if "alpha" in names and number >= FIRST_LAP:  # its tables depend on the shares, so it moves with these
            priors = priors.with_weights(fixed_point(self.state.tables, opened(priors.alpha, self._lengths)))
        return with_eta_of(priors, self.state.S) if "eta" in names and is_due(number) else priors

    def counts(self) -> Float:
        """Return the expected counts of words in topics, summed again: those that any fit with these shares has."""
        add_up(self.state, self._engine)
        S, N = self.state.S.copy(), self.state.N.copy()
        if self._steering.pseudo is not None:
            add_pseudo(self._steering.pseudo, S, N, -1.0)
        return S

    def snapshot(self) -> Packed:
        """Return the shares."""
        return self._documents.packed(), {"n_topics": self._n_topics}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        K = whole_number("n_topics", values["n_topics"])
        if K != self._n_topics:
            raise ValueError("its shares are of another number of topics")
        self._documents.restore(arrays, K)
        self.state = assembled(self._documents, np.full(K, 1.0 / K), self._steering)
