"""Gibbs sampling for the nested Chinese restaurant process. docs/math (R2), (R3); Blei, Griffiths and Jordan (2010)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import require
from stickbreak.fitting.loop import Packed
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.streams import key_of, stream
from stickbreak.sparse_gibbs.priors import is_due
from stickbreak_baselines.nested_crp.kernels.sweeps import stick_weights, sweep
from stickbreak_baselines.nested_crp.state import Priors, Tokens, Tree


class Chain:
    """A chain.

    Parameters
    ----------
    corpus : Corpus
    n_levels : int
    seed : int
    pseudo : csr_array of shape (W, n_kept), optional
        Tokens of the words of seeds, whole numbers.
    """

    def __init__(self, corpus: Corpus, n_levels: int, seed: int, pseudo: sparse.csr_array | None = None) -> None:
        self._tokens, self._n_levels, self._seed, self._n_words = (
            Tokens(corpus, n_levels, pseudo),
            n_levels,
            seed,
            corpus.n_words,
        )
        self.tree: Tree

    def begin(self, priors: Priors) -> None:
        """Draw the levels of all tokens from their prior, then put one document after the other into the tree.

        Tokens of words of seeds begin at the level of the seeds.                                      docs/math (R7)
        """
        weight = np.empty(self._n_levels)
        stick_weights(np.zeros(self._n_levels), priors.mean, priors.scale, weight)
        rng = stream(self._seed, "start of NestedCRP")
        z = rng.choice(self._n_levels, p=weight / weight.sum(), size=self._tokens.word.size).astype(np.int8)
        z[np.diff(self._tokens.pseudo.indptr)[self._tokens.word] > 0] = 1
        self.tree = Tree.empty(self._tokens, self._n_levels, z)
        self._sweep(priors, 0, there=False)

    def _sweep(self, priors: Priors, number: int, *, there: bool) -> float:
        tokens, tree = self._tokens, self.tree
        of_words = np.ones(self._n_words) if priors.of_words is None else priors.of_words
        of_nodes = tree.level, tree.parent, tree.n_documents, tree.n_tokens, tree.n_kept
        of_priors = float(priors.mean), float(priors.scale), float(priors.gamma), priors.eta, of_words
        of_lists = tokens.heads, tree.lists, tokens.bits
        key, table = key_of(self._seed, number, "sweep of NestedCRP"), tokens.log_gammas(priors)
        log_p = sweep(
            tokens.start, tokens.word, tree.z, tree.path, there, *of_lists, *of_nodes, *of_priors, *table, key
        )
        return float(log_p) / tokens.word.size

    def lap(self, number: int, priors: Priors) -> float:
        """Sweep once; return the mean log p of a token given all others, as it is drawn.       docs/math (R2), (R3)"""
        return self._sweep(priors, number, there=True)

    def learned(self, priors: Priors, names: Collection[str], number: int) -> Priors:
        """Return the priors after a lap.                                                             docs/math (R5)"""
        if "gamma" not in names or not is_due(number):
            return priors
        tree = self.tree
        inner = np.flatnonzero((tree.level >= 0) & (tree.level < self._n_levels - 1))
        below = np.flatnonzero(tree.level > 0)
        n_children = np.bincount(tree.parent[below], minlength=tree.level.size)
        n_before, onward = np.zeros(tree.level.size, np.int64), tree.n_documents.copy()
        n_before[0] = tree.n_kept
        n_children[0] -= tree.n_kept
        onward[1 : 1 + tree.n_kept] -= 1
        return priors.with_gamma_of(onward[inner], n_children[inner], n_before[inner])

    @property
    def pseudo(self) -> sparse.csr_array:
        """Tokens of the words of seeds, (W, n_kept)."""
        return self._tokens.pseudo

    @property
    def n_nodes(self) -> int:
        """Number of nodes that have documents."""
        return int((self.tree.level >= 0).sum())

    def counts(self) -> Float:
        """Return the tokens of words at nodes, (J, W), in the order of `Tree.order`, without those of seeds."""
        tree, tokens, order = self.tree, self._tokens, self.tree.order()
        row = np.empty(tree.level.size, np.int64)
        row[order] = np.arange(order.size)
        document = np.repeat(np.arange(len(tree.path)), np.diff(tokens.start))
        node = row[tree.path[document, tree.z]]
        flat = np.bincount(node * self._n_words + tokens.word, minlength=order.size * self._n_words)
        return flat.reshape(order.size, self._n_words).astype(np.float64)

    def snapshot(self) -> Packed:
        """Return the path of each document and the level of each token."""
        return {"path": self.tree.path.copy(), "z": self.tree.z.copy()}, {"n_levels": self._n_levels}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned; raise a ValueError if it cannot be of these documents."""
        path, z, tokens = arrays["path"], arrays["z"], self._tokens
        shape = tokens.start.size - 1, self._n_levels
        require(path.shape == shape and path.dtype == np.int64, "its paths are not those of these documents")
        require(z.shape == tokens.word.shape and z.dtype == np.int8, "its levels are not those of these tokens")
        require(
            int(z.min(initial=0)) >= 0 and int(z.max(initial=0)) < shape[1], "its tokens have levels beyond the tree"
        )
        require(int(path.min()) >= 0 and int(path.max()) < tokens.n_nodes, "its paths lead out of the tree")
        edges = {(h, int(node)) for h in range(shape[1]) for node in np.unique(path[:, h])}
        require(len(edges) == np.unique(path).size and not path[:, 0].any(), "a node is at two levels")
        deep = path[:, 2:]
        require(not bool((deep <= tokens.n_kept).any()), "the node of a seed is not below the root")
        for h in range(1, shape[1]):
            pairs = np.unique(path[:, h - 1 : h + 1], axis=0)
            require(len(pairs) == np.unique(path[:, h]).size, "a node is below two others")
        self.tree = Tree.of(tokens, path.copy(), z.copy())
