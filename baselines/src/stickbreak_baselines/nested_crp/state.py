"""A tree of topics with the documents and tokens of its nodes, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma, gammaln

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import whole_counts
from stickbreak.fitting.hyperparameters import PRIOR
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import within
from stickbreak_baselines.nested_crp.kernels.nodes import FREE, put_document

LEARNABLE = ("gamma",)
Lists = NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True)
class Priors:
    """Of paths, of the levels of a document, and of the words of nodes.                              docs/math (R1)"""

    gamma: float
    mean: float  # m
    scale: float  # pi
    eta: Float  # (L,)
    of_words: Float | None = None  # (W,)  eta of a word is eta of the level times this, which is 1 in the mean

    def with_gamma_of(self, n_documents: Int, n_children: Int, n_before: Int) -> Priors:
        """Return the same with a gamma nearer to its most probable value.                      docs/math (R5), (R7)

        Parameters
        ----------
        n_documents, n_children, n_before : ndarray of shape (J,)
            Of the nodes that have children: documents that go on below them, children that these have opened, and how
            many of the documents are those of seeds, which open none.
        """
        opened = float((digamma(self.gamma + n_documents) - digamma(self.gamma + n_before)).sum())
        return replace(self, gamma=within((PRIOR.shape + float(n_children.sum())) / (PRIOR.rate + opened)))


class Tokens:
    """Tokens document by document, equal words side by side, and room for the nodes of each word.

    Parameters
    ----------
    corpus : Corpus
        D documents over W words, N tokens.
    n_levels : int
        L.
    pseudo : csr_array of shape (W, n_kept), optional
        Tokens of the words of seeds, at nodes 1 to n_kept: whole numbers.
    """

    def __init__(self, corpus: Corpus, n_levels: int, pseudo: sparse.csr_array | None = None) -> None:
        counts, whole = corpus.counts, whole_counts(corpus)
        self.pseudo = sparse.csr_array((corpus.n_words, 0)) if pseudo is None else pseudo
        self.word = np.repeat(counts.indices, whole).astype(np.int64)  # (N,)
        self.start = np.concatenate(([0], np.cumsum(whole)))[counts.indptr].astype(np.int64)  # (D + 1,)
        self.n_nodes = 1 + self.n_kept + (n_levels - 1) * corpus.n_documents  # at most
        self.bits = np.uint64(self.n_nodes.bit_length())
        of_word = np.bincount(self.word, minlength=corpus.n_words)
        self.of_word = of_word + self.pseudo.sum(axis=1).astype(np.int64)  # (W,)
        self.most = int(self.of_word.max(initial=0))
        ends = np.cumsum(np.minimum(of_word + np.diff(self.pseudo.indptr), self.n_nodes) + 1)
        self.heads: Int = np.concatenate(([0], ends[:-1]))  # (W,)  of the lists
        narrow = self.most < 1 << (32 - int(self.bits))
        self.empty: Lists = np.zeros(int(ends[-1]), np.uint32 if narrow else np.uint64)
        for w in np.flatnonzero(np.diff(self.pseudo.indptr)):
            row = slice(self.pseudo.indptr[w], self.pseudo.indptr[w + 1])
            nodes, n = (
                self.pseudo.indices[row].astype(np.uint64) + np.uint64(1),
                self.pseudo.data[row].astype(np.uint64),
            )
            self.empty[self.heads[w]] = nodes.size
            self.empty[self.heads[w] + 1 : self.heads[w] + 1 + nodes.size] = (n << self.bits) | nodes

    @property
    def n_kept(self) -> int:
        """Number of seeds."""
        return int(self.pseudo.shape[1])

    def log_gammas(self, priors: Priors) -> tuple[Float, Int, Int]:
        """Return log Gamma(eta_hw + n) for all n that there may be, in one row, and where it begins.

        Words of which eta is alike share a part of the row, as levels do.

        Returns
        -------
        log_gamma : ndarray
        of_level, of_word : ndarray of int of shape (L,) and (W,)
            n = 0 of word w at level h is at of_level[h] + of_word[w].
        """
        eta, level = np.unique(priors.eta, return_inverse=True)
        alike = priors.of_words is None
        size = np.array([self.most + 1]) if alike else self.of_word + 1
        first = np.cumsum(size) - size
        n = np.arange(size.sum()) - np.repeat(first, size)
        ratio = 1.0 if priors.of_words is None else np.repeat(priors.of_words, size)
        found = gammaln(eta[:, None] * ratio + n)
        return found.ravel(), level * n.size, np.zeros(self.of_word.size, np.int64) if alike else first


@dataclass(slots=True)
class Tree:
    """Nodes by their numbers, node 0 the root; a number that no node has, has the level -1."""

    path: Int  # (D, L)  nodes of the documents, from the root down
    z: NDArray[np.int8]  # (N,)  level of each token
    level: Int  # (J,)
    parent: Int  # (J,)
    n_documents: Int  # (J,)
    n_tokens: Int  # (J,)  at the node itself
    lists: Lists  # nodes of each word
    n_kept: int = 0  # nodes 1 to n_kept, children of the root, are those of seeds, each with a document that ends there

    @classmethod
    def empty(cls, tokens: Tokens, n_levels: int, z: NDArray[np.int8]) -> Tree:
        """Return a tree without documents but those of seeds.                                       docs/math (R7)"""
        level, parent, n_documents, n_tokens = (np.zeros(tokens.n_nodes, np.int64) for _ in range(4))
        level[1:], parent[0] = FREE, -1
        seeds = slice(1, 1 + tokens.n_kept)
        level[seeds], n_documents[seeds], n_documents[0] = 1, 1, tokens.n_kept
        n_tokens[seeds] = tokens.pseudo.sum(axis=0)
        path = np.zeros((tokens.start.size - 1, n_levels), np.int64)
        return cls(path, z, level, parent, n_documents, n_tokens, tokens.empty.copy(), tokens.n_kept)

    @classmethod
    def of(cls, tokens: Tokens, path: Int, z: NDArray[np.int8]) -> Tree:
        """Return the tree of known paths and levels."""
        tree = cls.empty(tokens, path.shape[1], z)
        tree.path = path
        for h in range(path.shape[1]):
            tree.level[path[:, h]] = h
            tree.parent[path[:, h]] = path[:, h - 1] if h else -1
        for d in range(len(path)):
            here = slice(tokens.start[d], tokens.start[d + 1])
            put_document(
                d, 1, tokens.word[here], z[here], path, tokens.heads, tree.lists, tokens.bits, tree.n_documents,
                tree.n_tokens, tree.level,
            )  # fmt: skip
        return tree

    def order(self) -> Int:
        """Return the numbers of the nodes: level by level, children beside each other, most documents first.

        Those of seeds come before the other children of the root.
        """
        place = np.zeros(self.level.size, np.int64)
        found = [np.array([0])]
        for h in range(1, self.path.shape[1]):
            nodes = np.flatnonzero(self.level == h)
            known = np.where(nodes <= self.n_kept, nodes, self.n_kept + 1)
            nodes = nodes[np.lexsort((nodes, -self.n_documents[nodes], known, place[self.parent[nodes]]))]
            place[nodes] = np.arange(nodes.size)
            found.append(nodes)
        return np.concatenate(found)
