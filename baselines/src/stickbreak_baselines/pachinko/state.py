"""The paths of Pachinko allocation, and their priors: S super-topics, T topics."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import LARGEST, SMALLEST
from stickbreak.numerics.streams import stream
from stickbreak.sparse_gibbs.priors import best_eta

LEARNABLE = ("alpha", "sub_alpha", "eta")
FIRST_LAP = 50  # that learns: from random topics super-topics learn to be alike, and then stay so


@dataclass(frozen=True, slots=True)
class Paths:
    """Which topics each super-topic leads to.                                                   docs/math (P1), (P2)

    A path is written as one number, ``s << bits | k``.
    """

    is_open: NDArray[np.bool_]  # (S, T)

    @classmethod
    def pachinko(cls, n_super: int, n_sub: int) -> Paths:
        """Return the paths from each super-topic to every topic.                                     docs/math (P1)"""
        return cls(np.ones((n_super, n_sub), dtype=bool))

    @classmethod
    def hierarchical(cls, n_super: int, n_sub: int) -> Paths:
        """Return the paths of a root, super-topics and sub-topics that all have words.               docs/math (P2)

        Topic 0 belongs to the root, which is super-topic 0 and leads to nothing else; topic s belongs to super-topic s.
        The sub-topics follow.
        """
        is_open = np.zeros((1 + n_super, 1 + n_super + n_sub), dtype=bool)
        np.fill_diagonal(is_open, True)
        is_open[1:, 1 + n_super :] = True
        return cls(is_open)

    @property
    def n_super(self) -> int:
        """Number of super-topics S; that of `hierarchical` counts the root."""
        return self.is_open.shape[0]

    @property
    def n_topics(self) -> int:
        """Number of topics T that have words."""
        return self.is_open.shape[1]

    @property
    def n_above(self) -> int:
        """Number of topics of the root and the super-topics, which come before the sub-topics."""
        return self.n_super if self.least else 0

    @property
    def least(self) -> int:
        """The first super-topic that leads to several topics: after the root, where there is one."""
        return int(self.is_open[0].sum() < self.n_topics)

    @property
    def bits(self) -> int:
        """Bits of the topic in the number of a path; T has a number, too."""
        return self.n_topics.bit_length()

    @property
    def none(self) -> int:
        """A number beyond those of all paths; its topic is T."""
        return (self.n_super - 1) << self.bits | self.n_topics

    def numbers(self) -> Int:
        """Return the numbers of all paths."""
        s, k = np.nonzero(self.is_open)
        return s << self.bits | k

    def split(self, number: NDArray[np.integer]) -> tuple[Int, Int]:
        """Return the super-topics and the topics of paths."""
        given = number.astype(np.int64)
        return given >> self.bits, given & ((1 << self.bits) - 1)

    def counts(self, number: NDArray[np.integer]) -> Float:
        """Return how many tokens have each path, (S, T)."""
        s, k = self.split(number)
        flat = np.bincount(s * self.n_topics + k, minlength=self.is_open.size)
        return flat.reshape(self.is_open.shape).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Priors:
    """theta_d ~ Dir(a), theta_ds ~ Dir(b_s), phi_k ~ Dir(eta + pseudo_k).                     docs/math (P1), (L9)"""

    a: Float  # (S,)
    b: Float  # (S, T)  0 where there is no path
    eta: Eta  # a number, or (W,)
    pseudo: sparse.csr_array | None = None  # (W, n)  of the first topics; of the root and super-topics there are none

    @classmethod
    def even(
        cls, paths: Paths, alpha: float, sub_alpha: float, eta: Eta, pseudo: sparse.csr_array | None = None
    ) -> Priors:
        """Return priors under which all paths of a super-topic are alike."""
        n_open = paths.is_open.sum(axis=1, keepdims=True)
        return cls(np.full(paths.n_super, alpha / paths.n_super), paths.is_open * (sub_alpha / n_open), eta, pseudo)

    def with_uneven_b(self, seed: int) -> Priors:
        """Return the same with b of the same sums, shared out at random: super-topics then differ from the start."""
        rng, b = stream(seed, "start of the priors of Pachinko"), np.zeros(self.b.shape)
        for row, even in zip(b, self.b, strict=True):
            there = even > 0.0
            row[there] = even.sum() * rng.dirichlet(np.ones(int(there.sum())))
        return self.with_b(b)

    @property
    def alpha(self) -> float:
        """The concentration of the super-topics of a document."""
        return float(self.a.sum())

    @property
    def sub_alpha(self) -> float:
        """The mean concentration of the topics of a super-topic, of those with more than one."""
        several = (self.b > 0.0).sum(axis=1) > 1
        return float(self.b[several if several.any() else slice(None)].sum(axis=1).mean())

    def with_a(self, a: Float) -> Priors:
        """Return the same with another a, taken back into its range."""
        return replace(self, a=np.clip(a, SMALLEST, LARGEST / a.size))

    def with_b(self, b: Float) -> Priors:
        """Return the same with another b, taken back into its range where there are paths."""
        within = np.clip(b, SMALLEST, LARGEST / b.shape[1])
        return replace(self, b=np.where(self.b > 0.0, within, 0.0))

    def with_eta_of(self, S: Float) -> Priors:
        """Return the same with the eta that maximises its posterior for counts S (W, T).              docs/math (L19)

        Topics with pseudo-counts say nothing of it.
        """
        assert not isinstance(self.eta, np.ndarray)
        if self.pseudo is not None:
            S = np.delete(S, np.unique(self.pseudo.indices), axis=1)
        return replace(self, eta=best_eta(S, self.eta)) if S.shape[1] else self

    def row(self) -> dict[str, float]:
        """Return the columns of the trace: eta by word, which is not learned, has none."""
        row = {"alpha": self.alpha, "sub_alpha": self.sub_alpha}
        return row if isinstance(self.eta, np.ndarray) else {**row, "eta": self.eta}


def path_weights(a: Float, b: Float) -> Float:
    """Return the expected weights of the paths in a document, (S, T); they sum to one."""
    return (a / a.sum() / b.sum(axis=1))[:, None] * b
