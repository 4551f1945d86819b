"""A tree of topics with the documents and tokens of its nodes, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from stickbreak.baselines.nested_crp.kernels.nodes import FREE, put_document
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import whole_counts
from stickbreak.fitting.hyperparameters import PRIOR
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import within

LEARNABLE = ("gamma",)
Lists = NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True)
class Priors:
    """Of paths, of the levels of a document, and of the words of nodes.                              math.md (R1)"""

    gamma: float
    mean: float  # m
    scale: float  # pi
    eta: Float  # (L,)

    def with_gamma_of(self, n_documents: Int, n_children: Int) -> Priors:
        """Return the same with a gamma nearer to its most probable value.                            math.md (R5)

        Parameters
        ----------
        n_documents, n_children : ndarray of shape (J,)
            Of the nodes that have children.
        """
        opened = float((digamma(self.gamma + n_documents) - digamma(self.gamma)).sum())
        return replace(self, gamma=within((PRIOR.shape + float(n_children.sum())) / (PRIOR.rate + opened)))


class Tokens:
    """Tokens document by document, equal words side by side, and room for the nodes of each word.

    Parameters
    ----------
    corpus : Corpus
        D documents over W words, N tokens.
    n_levels : int
        L.
    """

    def __init__(self, corpus: Corpus, n_levels: int) -> None:
        counts, whole = corpus.counts, whole_counts(corpus)
        self.word = np.repeat(counts.indices, whole).astype(np.int64)  # (N,)
        self.start = np.concatenate(([0], np.cumsum(whole)))[counts.indptr].astype(np.int64)  # (D + 1,)
        self.n_nodes = 1 + (n_levels - 1) * corpus.n_documents  # at most
        self.bits = np.uint64(self.n_nodes.bit_length())
        of_word = np.bincount(self.word, minlength=corpus.n_words)
        self.most = int(of_word.max(initial=0))
        ends = np.cumsum(np.minimum(of_word, self.n_nodes) + 1)
        self.heads: Int = np.concatenate(([0], ends[:-1]))  # (W,)  of the lists
        narrow = self.most < 1 << (32 - int(self.bits))
        self.empty: Lists = np.zeros(int(ends[-1]), np.uint32 if narrow else np.uint64)


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

    @classmethod
    def empty(cls, tokens: Tokens, n_levels: int, z: NDArray[np.int8]) -> Tree:
        """Return a tree without documents."""
        level, parent, n_documents, n_tokens = (np.zeros(tokens.n_nodes, np.int64) for _ in range(4))
        level[1:], parent[0] = FREE, -1
        path = np.zeros((tokens.start.size - 1, n_levels), np.int64)
        return cls(path, z, level, parent, n_documents, n_tokens, tokens.empty.copy())

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
        """Return the numbers of the nodes: level by level, children beside each other, most documents first."""
        place = np.zeros(self.level.size, np.int64)
        found = [np.array([0])]
        for h in range(1, self.path.shape[1]):
            nodes = np.flatnonzero(self.level == h)
            nodes = nodes[np.lexsort((nodes, -self.n_documents[nodes], place[self.parent[nodes]]))]
            place[nodes] = np.arange(nodes.size)
            found.append(nodes)
        return np.concatenate(found)
