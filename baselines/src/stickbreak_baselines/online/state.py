"""The topics of an online HDP: expected counts and expected tables, which follow the minibatches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.active_topics import alive
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.loop import Packed
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.decaying_counts import decayed
from stickbreak.numerics.ranges import are_sums, are_tables


@dataclass(slots=True)
class OnlineState:
    """Where a fit stands: q(phi_k) = Dirichlet(eta + S_k), and M_k, from which the corpus weights follow.

    The topics are in the order of the sticks, after those with pseudo-counts. S is kept as `scale * counts`: a step
    scales all counts down, which is one multiplication, and adds only to the rows of the words of its minibatch.
    """

    counts: Float  # (W, K)  S / scale
    scale: float
    tokens: Float  # (K,)   S.sum(0)
    tables: Float  # (K,)   M
    n_steps: int
    n_kept: int = 0  # topics with pseudo-counts, which are in S: they come first and are always shown

    @classmethod
    def of(cls, S: Float, tables: Float, n_steps: int = 0, n_kept: int = 0) -> OnlineState:
        """Start from expected counts and tables; the arrays are taken over."""
        return cls(np.ascontiguousarray(S), 1.0, S.sum(axis=0), tables, n_steps, n_kept)

    @property
    def n_topics(self) -> int:
        """Columns K, topics without tokens among them."""
        return self.tokens.size

    def copy(self) -> OnlineState:
        """Return a state that shares no array with this one."""
        return replace(self, counts=self.counts.copy(), tokens=self.tokens.copy(), tables=self.tables.copy())

    def S(self) -> Float:
        """Return the expected tokens of each word in each topic, (W, K)."""
        return self.scale * self.counts

    def alive(self) -> Int:
        """Return the topics with expected tokens, the largest first after those that are kept; never none."""
        return alive(self.tokens, self.n_kept)

    def blend(self, words: NDArray[np.integer], S: Float, tables: Float, step: float) -> None:
        """Move towards S and tables, the rows of `words`: (1 - step) of what was, step of these.  docs/math (S1)

        Parameters
        ----------
        words : ndarray of shape (W_b,)
            Words of the minibatch; the others have no tokens there.
        S : ndarray of shape (W_b, K)
        tables : ndarray of shape (K,)
        step : float
            xi.
        """
        self.scale = decayed(self.counts, self.scale, 1.0 - step)
        self.counts[words] += (step / self.scale) * S
        self.tokens = (1.0 - step) * self.tokens + step * S.sum(axis=0)
        self.tables = (1.0 - step) * self.tables + step * tables

    def take(self, topics: Int) -> None:
        """Keep these topics, in this order."""
        self.counts = np.ascontiguousarray(self.counts[:, topics])
        self.tokens, self.tables = self.tokens[topics], self.tables[topics]

    def packed(self) -> Packed:
        """Return the state as arrays and plain values."""
        arrays = {"counts": self.counts, "tokens": self.tokens, "tables": self.tables}
        return arrays, {"scale": self.scale, "n_steps": self.n_steps, "n_kept": self.n_kept}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray], values: Mapping[str, Any], n_words: int) -> OnlineState:
        """Return the state that `packed` took apart, with arrays of its own.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it cannot be one of these words.
        """
        counts, tokens, tables = (arrays[name].copy() for name in ("counts", "tokens", "tables"))
        scale, n_steps, K = float(values["scale"]), whole_number("n_steps", values["n_steps"]), tokens.size
        require(K >= 1 and is_table(tokens, K) and are_sums(tokens), "the tokens of its topics are not numbers")
        require(0 < scale <= 1, "the scale of its counts cannot be")
        sound = is_table(counts, n_words, K) and are_sums(scale * counts)
        require(sound, f"its counts are not those of {n_words} words")
        require(is_table(tables, K) and are_sums(tables), "its tables are not those of its topics")
        n_kept = whole_number("n_kept", values["n_kept"])
        require(n_kept <= K, "it has fewer topics than seeds")
        state = cls(counts, scale, tokens, tables, n_steps, n_kept)
        agree = np.allclose(scale * counts.sum(axis=0), tokens, rtol=1e-6, atol=1e-6)
        require(agree, "its counts and its tokens disagree about the size of some topic")
        require(are_tables(tables[state.alive()]), "its topics have next to no tables, which every document adds to")
        return state
