"""Collapsed Gibbs sampling for Pachinko allocation, sparse and word by word, and the mean of its topics over passes.

docs/math (P3), (L3), (P4). Li and McCallum (2006); Mimno, Li and McCallum (2007).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma

from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.loop import Packed
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import are_sums
from stickbreak.numerics.streams import key_of, stream
from stickbreak.sparse_gibbs.chain import LATE
from stickbreak.sparse_gibbs.kernels import lists as list_kernels
from stickbreak.sparse_gibbs.priors import STEPS, fixed_point, is_due, prior_of_words, tables_of
from stickbreak.sparse_gibbs.tokens import TokensByWord, seeds_of_tokens
from stickbreak_baselines.pachinko.kernels import sweeps as sweep_kernels
from stickbreak_baselines.pachinko.kernels.exchange import exchange
from stickbreak_baselines.pachinko.state import FIRST_LAP, Paths, Priors

ESTIMATES = ("average", "last")
SAMPLE_EVERY = 5  # laps


class Gibbs:
    """A chain.

    Parameters
    ----------
    corpus : Corpus
    paths : Paths
    seed : int
    estimate : {"average", "last"}
        Whether the topics are an average over laps, or those of the last.
    pseudo : csr_array of shape (W, n), optional
        Pseudo-counts of the first topics, with which the start begins.
    """

    def __init__(
        self, corpus: Corpus, paths: Paths, seed: int, estimate: str, pseudo: sparse.csr_array | None = None
    ) -> None:
        self._corpus, self._pseudo = corpus, pseudo
        self.paths, self._seed, self._keeps = paths, seed, estimate == "average"
        self._tokens = TokensByWord(corpus, int(paths.is_open.sum()), paths.none)
        self._document = self._tokens.documents_of_words(0).astype(np.int32)  # (N,)
        self._order = np.argsort(self._document, kind="stable")  # (N,)  tokens document by document
        self._begins = np.concatenate(([0], np.cumsum(self._tokens.lengths)))  # (D + 1,)
        self._mean, self._mean_paths, self._n_samples = np.zeros((0, 0)), np.zeros((0, 0)), 0
        self._z: NDArray[np.uint32]  # (N,)  paths, word by word

    def begin(self) -> None:
        """Draw a path for each token, all alike, or one that leads to the topic of a seed.     docs/math (L17), (L9)"""
        rng, paths, n_tokens = stream(self._seed, "start of Pachinko"), self.paths, self._tokens.n_tokens
        numbers = paths.numbers()
        z = numbers[rng.integers(numbers.size, size=n_tokens)]
        if self._pseudo is not None:
            topic = next(seeds_of_tokens(self._corpus, self._tokens, self._pseudo, rng)).astype(np.int64)
            above = rng.integers(paths.least, paths.n_super, size=n_tokens)
            z = np.where(topic >= 0, above << paths.bits | topic, z)
        self._take(z.astype(np.uint32))

    def _take(self, z: NDArray[np.uint32]) -> None:
        paths = self.paths
        self._z, self._lists = z, self._tokens.lists([z])
        s, k = paths.split(z)
        self._n = np.bincount(k, minlength=paths.n_topics).astype(np.int64)
        shape = self._tokens.lengths.size, paths.n_super
        flat = np.bincount(self._document * np.int64(paths.n_super) + s, minlength=shape[0] * shape[1])
        self._n_super = flat.reshape(shape).astype(np.int32)  # (D, S)

    def lap(self, number: int, priors: Priors) -> float:
        """Sweep once; return the mean log p of a token given all others, as it is drawn.             docs/math (P3)"""
        tokens, paths = self._tokens, self.paths
        key = key_of(self._seed, number, "sweep of Pachinko")
        of_tokens = tokens.start, tokens.where[0], self._document, self._z
        of_lists = self._lists, tokens.bits, np.uint64(paths.bits), np.uint64(paths.none)
        of_priors = priors.a, priors.b, np.ascontiguousarray(priors.b.T)
        of_words = prior_of_words(priors.eta, priors.pseudo, tokens.start.size - 1, paths.n_topics)
        log_total = sweep_kernels.sweep(*of_tokens, *of_lists, self._n, self._n_super, *of_priors, *of_words, key)
        self._exchange(number, priors)
        list_kernels.sort(tokens.heads(0), self._lists)
        if self._keeps and number % SAMPLE_EVERY == 0:
            self._mean, self._mean_paths = self._with_sample()
            self._n_samples += 1
        lengths = tokens.lengths[tokens.lengths > 0]
        others = float((lengths * np.log(lengths - 1 + priors.alpha)).sum())
        return (float(log_total) - others) / tokens.n_tokens

    def _exchange(self, number: int, priors: Priors) -> None:
        """Let super-topics exchange groups of tokens.                                                 docs/math (P7)"""
        tokens, paths = self._tokens, self.paths
        of_lists = tokens.heads(0), self._lists, tokens.bits, np.uint64(paths.bits), paths.least
        key = key_of(self._seed, number, "exchange of Pachinko")
        exchange(self._begins, self._order, self._z, *of_lists, self._n_super, priors.a, priors.b, key)

    def learned(self, priors: Priors, names: Collection[str], number: int) -> Priors:
        """Return the priors after a lap.                                                      docs/math (P4), (L19)"""
        if number < FIRST_LAP or not is_due(number):
            return priors
        if "alpha" in names:
            priors = priors.with_a(best(self._super_pairs(), priors.a, self._tokens.lengths))
        if "sub_alpha" in names:
            priors = priors.with_b(self._best_b(priors.b))
        return priors.with_eta_of(self._last()) if "eta" in names else priors

    def _super_pairs(self) -> tuple[Int, Int, Int]:
        """Return super-topics, counts n_ds, and how many documents have them."""
        n = self._n_super.T
        found, times = np.unique(np.stack([np.nonzero(n)[0], n[n > 0]]), axis=1, return_counts=True)
        return found[0], found[1], times

    def _best_b(self, b: Float) -> Float:
        """Return the parameters of the topics of each super-topic, moved.                            docs/math (P4)"""
        number, n, times = self._tokens.pairs([self._lists])
        s, k = self.paths.split(number)
        moved = b.copy()
        for row in np.flatnonzero(self.paths.is_open.sum(axis=1) > 1):
            columns, of_row = np.flatnonzero(self.paths.is_open[row]), s == row
            pairs = np.searchsorted(columns, k[of_row]), n[of_row], times[of_row]
            moved[row, columns] = best(pairs, b[row, columns], self._n_super[:, row])
        return moved

    def counts(self) -> tuple[Float, Float]:
        """Return counts of words in topics (W, T), and of paths (S, T), of the last lap or their mean."""
        return self._with_sample() if self._keeps else (self._last(), self.paths.counts(self._z))

    def _last(self) -> Float:
        """Return the counts of words in topics of this lap."""
        counts = np.zeros((self._tokens.start.size - 1, self.paths.n_topics))
        list_kernels.add_words(self._tokens.start, self.paths.split(self._z)[1], 1.0, counts)
        return counts

    def _with_sample(self) -> tuple[Float, Float]:
        """Return the mean counts with those of this lap as one more sample.                          docs/math (L3)"""
        paths = self.paths.counts(self._z)
        if not self._n_samples:
            return self._last(), paths
        share = (LATE + 1.0) / (self._n_samples + 1.0 + LATE)
        mean = self._mean * (1.0 - share)
        list_kernels.add_words(self._tokens.start, self.paths.split(self._z)[1], share, mean)
        return mean, self._mean_paths * (1.0 - share) + paths * share

    def snapshot(self) -> Packed:
        """Return the path of each token, and the means."""
        arrays: dict[str, NDArray] = {
            "z": self._z.copy(),
            "mean": self._mean.copy(),
            "mean_paths": self._mean_paths.copy(),
        }
        return arrays, {"n_samples": self._n_samples}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned; raise a ValueError if it cannot be of these documents."""
        z, mean, mean_paths = arrays["z"], arrays["mean"], arrays["mean_paths"]
        n_samples = whole_number("n_samples", values["n_samples"])
        require(z.shape == (self._tokens.n_tokens,) and z.dtype == np.uint32, "its paths are not those of these tokens")
        require(bool(np.isin(z, self.paths.numbers()).all()), "its tokens have paths that are not there")
        shape = (self._tokens.start.size - 1, self.paths.n_topics) if n_samples else (0, 0)
        require(is_table(mean, *shape) and are_sums(mean), "its mean counts are not those of these words")
        shape = self.paths.is_open.shape if n_samples else (0, 0)
        require(is_table(mean_paths, *shape) and are_sums(mean_paths), "its mean counts are not those of these paths")
        self._mean, self._mean_paths, self._n_samples = mean.copy(), mean_paths.copy(), n_samples
        self._take(z.copy())


def best(pairs: tuple[Int, Int, Int], a: Float, lengths: NDArray[np.integer]) -> Float:
    """Return a after some steps of Minka's fixed point.                                         docs/math (L4), (P4)"""
    length, times = np.unique(lengths[lengths > 0], return_counts=True)
    for _ in range(STEPS):
        total = float(a.sum())
        a = fixed_point(tables_of(pairs, a), float((times * (digamma(total + length) - digamma(total))).sum()))
    return a
