"""What a fitted online HDP offers: topics, weights of documents, and a state that can be saved and go on."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.checkpoint import saved_seed
from stickbreak.fitting.laps import Packed
from stickbreak.model.expected_counts import ExpectedCounts
from stickbreak.model.kept_state import KeptState
from stickbreak.model.topic_priors import TopicPriors
from stickbreak.numerics.arrays import Float, Int
from stickbreak.path.pooled import pooled
from stickbreak_baselines.online.state import OnlineState


class FittedOnline(TopicPriors, ExpectedCounts):
    """The side of the online HDPs that needs no fit of its own: it reads the fitted attributes."""

    objective_name: ClassVar[str] = "objective"
    _learnable: ClassVar[tuple[str, ...]] = ()

    learning_offset_: float
    _state: OnlineState
    _seed: int

    def _shown(self) -> Int:
        return self._state.alive()

    def _kept_tables(self) -> Float:
        return self._state.tables

    def _shown_counts(self) -> Float:
        return self._counts_of(slice(None)).T

    def _counts_of(self, words: NDArray[np.integer] | slice) -> Float:
        state = self._state
        return state.scale * state.counts[words][:, state.alive()]

    def _topic_tokens(self) -> Float:
        return self._state.tokens[self._state.alive()]

    def _seen_tokens(self) -> Float:
        tokens = self._topic_tokens().copy()
        if self._pseudo is not None:
            tokens[: self._n_kept] = np.maximum(tokens[: self._n_kept] - self._pseudo.sum(axis=0), 0.0)
        return tokens

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k], the largest first; what is not shown comes after them."""
        state, shown = self._state, self._state.alive()
        others = np.setdiff1d(np.arange(state.n_topics), shown)
        joined = [
            np.concatenate([pooled(table[shown], to), table[others]])
            for table in (state.counts.T, state.tokens, state.tables)
        ]
        self._pseudo = None  # a joined topic has no prior of its own
        self._state = OnlineState(np.ascontiguousarray(joined[0].T), state.scale, joined[1], joined[2], state.n_steps)

    def _take_state(self, state: OnlineState, seed: int) -> None:
        """Take a state for that of the model."""
        self._state, self._seed, self.n_steps_ = state, seed, state.n_steps

    def _kept_state(self) -> Packed:
        arrays, values = self._state.packed()
        identity = None if self._kept is None else self._kept.identity
        return arrays, {**values, "seed": self._seed, "identity": identity}

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        self._take_state(OnlineState.unpacked(arrays, values, self.n_features_in_), saved_seed(values["seed"]))
        identity = values["identity"]
        self._kept = None if identity is None else KeptState(dict(arrays), values, identity)
