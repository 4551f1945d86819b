"""A tree of topics as minibatches move it, and the subtrees of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.active_topics import ALIVE, alive
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.loop import Packed
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.decaying_counts import decayed
from stickbreak.numerics.ranges import are_sums
from stickbreak_baselines.nested_hdp.tree import Tree


@dataclass(slots=True)
class TreeState:
    """Where a fit stands: q(phi_k) = Dirichlet(eta + S_k), and M_k, from which the sticks of the corpus follow.

    S is kept as `scale * counts`: a step scales all counts down, which is one multiplication, and adds only to the rows
    of the words of its minibatch.
    """

    counts: Float  # (W, K)  S / scale
    scale: float
    tokens: Float  # (K,)   S.sum(0)
    picks: Float  # (K,)   M: documents whose subtree has the node
    n_steps: int
    n_kept: int = 0  # first children of the root, whose pseudo-counts are in S: they are always shown

    @classmethod
    def of(cls, S: Float, picks: Float, n_steps: int = 0, n_kept: int = 0) -> TreeState:
        """Start from expected counts and documents; the arrays are taken over."""
        return cls(np.ascontiguousarray(S), 1.0, S.sum(axis=0), picks, n_steps, n_kept)

    def copy(self) -> TreeState:
        """Return a state that shares no array with this one."""
        return replace(self, counts=self.counts.copy(), tokens=self.tokens.copy(), picks=self.picks.copy())

    def S(self) -> Float:
        """Return the expected tokens of each word at each node, (W, K)."""
        return self.scale * self.counts

    def shown(self, tree: Tree) -> Int:
        """Return the nodes with at least half an expected token at or below them, the largest in any case.

        They come level by level, children beside each other, the one with the most tokens first: those of the root
        after the children with pseudo-counts.
        """
        below = tree.below(self.tokens)
        found, above = [], np.array([-1])
        while above.size:
            level = []
            for p in above:
                children = np.arange(tree.start[p + 1], tree.start[p + 2])
                if p < 0:
                    level.append(children[alive(below[children], self.n_kept)])
                    continue
                children = children[np.argsort(-below[children], kind="stable")]
                level.append(children[: int((below[children] >= ALIVE).sum())])
            above = np.concatenate(level)
            found.append(above)
        return np.concatenate(found)

    def blend(self, words: NDArray[np.integer], S: Float, picks: Float, step: float) -> None:
        """Move towards S and picks, given by the rows of `words`: (1 - step) of what was, step of these. docs/math (S1)

        Parameters
        ----------
        words : ndarray of shape (W_b,)
            Words of the minibatch; the others have no tokens there.
        S : ndarray of shape (W_b, K)
        picks : ndarray of shape (K,)
        step : float
            xi.
        """
        self.scale = decayed(self.counts, self.scale, 1.0 - step)
        self.counts[words] += (step / self.scale) * S
        self.tokens = (1.0 - step) * self.tokens + step * S.sum(axis=0)
        self.picks = (1.0 - step) * self.picks + step * picks

    def packed(self) -> Packed:
        """Return the state as arrays and plain values."""
        arrays = {"counts": self.counts, "tokens": self.tokens, "picks": self.picks}
        return arrays, {"scale": self.scale, "n_steps": self.n_steps, "n_kept": self.n_kept}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray], values: Mapping[str, Any], n_words: int, tree: Tree) -> TreeState:
        """Return the state that `packed` took apart, with arrays of its own.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it cannot be one of these words and this tree.
        """
        counts, tokens, picks = (arrays[name].copy() for name in ("counts", "tokens", "picks"))
        scale, n_steps, K = float(values["scale"]), whole_number("n_steps", values["n_steps"]), tree.n_nodes
        require(is_table(tokens, K) and are_sums(tokens), "the tokens of its topics are not those of its tree")
        require(0 < scale <= 1, "the scale of its counts cannot be")
        sound = is_table(counts, n_words, K) and are_sums(scale * counts)
        require(sound, f"its counts are not those of {n_words} words")
        require(is_table(picks, K) and are_sums(picks), "its documents are not those of its tree")
        agree = np.allclose(scale * counts.sum(axis=0), tokens, rtol=1e-6, atol=1e-6)
        require(agree, "its counts and its tokens disagree about the size of some topic")
        n_kept = whole_number("n_kept", values["n_kept"])
        require(n_kept <= int((tree.level == 1).sum()), "its root has fewer children than seeds")
        return cls(counts, scale, tokens, picks, n_steps, n_kept)


@dataclass(slots=True)
class Subtrees:
    """The part of the tree that each document has: slots in the order of their selection, at most T."""

    node: NDArray[np.int32]  # (D, T)
    up: NDArray[np.int32]  # (D, T)  slot of the parent; -1: the root
    n_slots: NDArray[np.int32]  # (D,)  0: none yet
    tokens: Float  # (D, T)  expected tokens at each node itself

    @classmethod
    def none(cls, n_documents: int, most: int) -> Subtrees:
        """Return documents without a subtree."""
        shape = n_documents, most
        node, up = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        return cls(node, up, np.zeros(n_documents, np.int32), np.zeros(shape))

    def of(self, rows: slice) -> Subtrees:
        """Return those of some documents: views."""
        return Subtrees(self.node[rows], self.up[rows], self.n_slots[rows], self.tokens[rows])

    def packed(self) -> dict[str, NDArray]:
        """Return all of it as arrays."""
        return {f"subtree_{name}": getattr(self, name) for name in self.__slots__}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray], n_documents: int, most: int, tree: Tree) -> Subtrees:
        """Return the subtrees that `packed` took apart, with arrays of their own.

        Raises
        ------
        KeyError, ValueError
            If they cannot be of these documents and this tree.
        """
        found = cls(*(arrays[f"subtree_{name}"].copy() for name in cls.__slots__))
        node, up, n, shape = found.node, found.up, found.n_slots, (n_documents, most)
        whole = all(array.dtype == np.int32 for array in (node, up, n))
        sound = whole and node.shape == up.shape == shape and n.shape == shape[:1]
        require(sound and bool(((n >= 0) & (n <= most)).all()), "its subtrees are not those of these documents")
        require(is_table(found.tokens, *shape) and are_sums(found.tokens), "the tokens of its subtrees are not numbers")
        used = np.arange(most) < n[:, None]
        require(bool(((node >= 0) & (node < tree.n_nodes))[used].all()), "its subtrees lead out of the tree")
        require(bool(((up >= -1) & (up < np.arange(most)))[used].all()), "a slot is above its parent")
        above = np.where(up >= 0, np.take_along_axis(node, np.maximum(up, 0), axis=1), -1)
        require(bool((tree.parent[node] == above)[used].all()), "a node of a subtree is not below its parent")
        return found
