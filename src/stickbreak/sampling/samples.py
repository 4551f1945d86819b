"""What a chain leaves behind: topics and weights of its last state, of its best, or the average over samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.ranges import LARGEST_SUM, SMALLEST, are_sums, is_concentration
from stickbreak.sampling.chain import Chain
from stickbreak.sampling.state import Concentrations

_AT_ONCE = 1 << 20  # tokens whose topics are compared
Snapshot = tuple[dict[str, NDArray], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Sample:
    """Counts of one state of a chain, or their means over several: what topics and weights are made of."""

    counts: sparse.csr_matrix  # (K, W)  tokens of each word in each topic, float64
    tables: Float  # (K,)  M_k
    concentrations: Concentrations
    log_joint: float  # nats

    @classmethod
    def of(cls, chain: Chain) -> Self:
        """Copy the state of a chain."""
        now = chain.concentrations
        counts = sparse.csr_matrix(chain.topic_word_counts(), dtype=np.float64, copy=True)
        return cls(
            counts,
            chain.tables,
            Concentrations(now.alpha, now.gamma, float(np.mean(now.eta))),  # one for each word is that of the fit
            chain.log_joint(),
        )

    def snapshot(self) -> Snapshot:
        """Return the sample as arrays and plain values."""
        counts, now = self.counts, self.concentrations
        arrays = {"indptr": counts.indptr, "indices": counts.indices, "data": counts.data, "tables": self.tables}
        return arrays, {"concentrations": [now.alpha, now.gamma, now.eta], "log_joint": self.log_joint}

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray], values: Mapping[str, Any], n_words: int) -> Self:
        """Put a sample together again.

        Raises
        ------
        ValueError
            If the arrays do not fit together.
        """
        K = arrays["tables"].size
        indptr, indices, data = arrays["indptr"], arrays["indices"], arrays["data"]
        require(K >= 1 and is_table(arrays["tables"], K), "the tables of a sample are not finite numbers")
        require(indptr.shape == (K + 1,) and indptr.dtype.kind == "i", "the topics of a sample do not fit")
        require(indices.ndim == 1 and indices.dtype.kind == "i" and is_table(data, indices.size), "a sample is damaged")
        whole = indptr[0] == 0 and indptr[-1] == indices.size and bool((indptr[1:] >= indptr[:-1]).all())
        inside = not indices.size or (indices.min() >= 0 and indices.max() < n_words)
        require(whole and inside and are_sums(data), "the counts of a sample do not fit")
        require(are_sums(arrays["tables"]) and bool((arrays["tables"] > 0).all()), "a topic of a sample has no table")
        concentrations = Concentrations(*(float(value) for value in values["concentrations"]))
        positive = all(SMALLEST <= value <= LARGEST_SUM for value in _triple(concentrations))  # sums over samples
        require(positive and bool(np.isfinite(values["log_joint"])), "the numbers of a sample are out of their range")
        counts = sparse.csr_matrix((data, indices, indptr), shape=(K, n_words))
        return cls(counts, arrays["tables"], concentrations, float(values["log_joint"]))


class CorpusSize(Protocol):
    """What a keeper asks of the documents."""

    @property
    def n_words(self) -> int:
        """Words of the vocabulary W."""

    @property
    def n_tokens(self) -> int:
        """Number of tokens N."""


class SampleKeeper(Protocol):
    """Watches a chain after burn-in and says what its topics are; one class for each value of `estimate`."""

    def wants(self, log_joint: float, *, sampled: bool) -> bool:
        """Whether it looks at the chain after a sweep; `sampled`: whether thinning keeps this one."""

    def observe(self, chain: Chain, log_joint: float) -> None:
        """Look at the chain after a sweep that it wants."""

    def estimate(self, chain: Chain) -> Sample:
        """Return the estimate at the end."""

    def snapshot(self) -> Snapshot:
        """Return what is kept, as arrays and plain values."""

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], size: CorpusSize) -> None:
        """Take up what `snapshot` returned; a ValueError for what cannot be."""


class LastSample:
    """The state after the last sweep."""

    def wants(self, log_joint: float, *, sampled: bool) -> bool:
        """Whether it looks at the chain: never."""
        return False

    def observe(self, chain: Chain, log_joint: float) -> None:
        """Keep nothing."""

    def estimate(self, chain: Chain) -> Sample:
        """Return the current state."""
        return Sample.of(chain)

    def snapshot(self) -> Snapshot:
        """Return nothing."""
        return {}, {}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], size: CorpusSize) -> None:
        """Need nothing."""


class BestSample:
    """The state with the highest joint log-likelihood after burn-in; before, the current state."""

    def __init__(self) -> None:
        self._best: Sample | None = None

    def wants(self, log_joint: float, *, sampled: bool) -> bool:
        """Whether no state was better."""
        return self._best is None or log_joint > self._best.log_joint

    def observe(self, chain: Chain, log_joint: float) -> None:
        """Keep the state."""
        self._best = Sample.of(chain)

    def estimate(self, chain: Chain) -> Sample:
        """Return the best state."""
        return Sample.of(chain) if self._best is None else self._best

    def snapshot(self) -> Snapshot:
        """Return the best state."""
        return ({}, {}) if self._best is None else self._best.snapshot()

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], size: CorpusSize) -> None:
        """Take the best state up."""
        self._best = Sample.restored(arrays, values, size.n_words) if values else None


class MeanSample:
    """The mean over samples whose topics are matched to those of the best one; before burn-in, the current state.

    All sums are in the labels of the reference: of the sample with the highest joint log-likelihood so far. When a
    better one comes, the sums take its labels, by the same matching. Topics that fewer than half of the samples have
    are left out in the end.                                                                        docs/math (G13)
    """

    def __init__(self) -> None:
        self._n = 0
        self._reference: Int32 = np.zeros(0, np.int32)  # topic of each token
        self._best = -np.inf
        self._sums: Sample  # of n samples
        self._seen: Int = np.zeros(0, np.int64)  # samples that have each topic of the sums

    def wants(self, log_joint: float, *, sampled: bool) -> bool:
        """Whether this is a sample."""
        return sampled

    def observe(self, chain: Chain, log_joint: float) -> None:
        """Add a sample to the sums."""
        now, topics = Sample.of(chain), chain.topics
        if self._n == 0:
            self._reference, self._best, self._sums, self._n = topics, log_joint, now, 1
            self._seen = np.ones(now.tables.size, np.int64)
            return
        sizes = self._sums.tables.size, now.tables.size
        ours, theirs = match_topics(self._reference, sizes[0], topics, sizes[1], chain.n_known)
        if log_joint > self._best:
            self._sums = _relabelled(self._sums, ours, theirs, now.tables.size)
            self._reference, self._best = topics, log_joint
            seen = np.ones(now.tables.size, np.int64)
            seen[theirs] += self._seen[ours]
        else:
            seen = self._seen.copy()  # a snapshot may hold the old one
            seen[ours] += 1
            now = _relabelled(now, theirs, ours, self._sums.tables.size)
        self._sums, self._n, self._seen = _plus(self._sums, now), self._n + 1, seen

    def estimate(self, chain: Chain) -> Sample:
        """Return the mean."""
        if self._n == 0:
            return Sample.of(chain)
        sums, n = self._sums, self._n
        kept = np.flatnonzero(2 * self._seen >= n)
        if not kept.size:
            kept = np.array([np.argmax(self._seen)])
        alpha, gamma, eta = (x / n for x in _triple(sums.concentrations))
        return Sample(
            sparse.csr_matrix(sums.counts[kept] / n),
            sums.tables[kept] / n,
            Concentrations(alpha, gamma, eta),
            sums.log_joint / n,
        )

    def snapshot(self) -> Snapshot:
        """Return the sums and the reference."""
        if self._n == 0:
            return {}, {}
        arrays, values = self._sums.snapshot()
        return {**arrays, "reference": self._reference, "seen": self._seen}, {
            **values,
            "n": self._n,
            "best": self._best,
        }

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], size: CorpusSize) -> None:
        """Take the sums up."""
        if not values:
            return
        self._n, self._best = whole_number("n", values["n"]), float(values["best"])
        self._sums = Sample.restored(arrays, values, size.n_words)
        mean = (value / max(1, self._n) for value in _triple(self._sums.concentrations))
        require(all(map(is_concentration, mean)) and bool(np.isfinite(self._best)), "its mean is out of range")
        reference, K = arrays["reference"], self._sums.tables.size
        require(reference.shape == (size.n_tokens,) and reference.dtype == np.int32, "its reference does not fit")
        inside = not reference.size or (reference.min() >= 0 and reference.max() < K)
        require(inside and self._n >= 1, "its reference names no topic of the sums")
        seen = arrays["seen"]
        counted = seen.shape == (K,) and seen.dtype == np.int64 and seen.min() >= 1 and seen.max() <= self._n
        require(bool(counted), "its numbers of samples with each topic do not fit")
        self._reference, self._seen = reference, seen


ESTIMATES: dict[str, type[SampleKeeper]] = {"last": LastSample, "best": BestSample, "average": MeanSample}


def match_topics(
    left: Int32, n_left: int, right: Int32, n_right: int, n_known: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair the topics of two states so that most tokens agree; pairs without a common token are left out.

    left, right (N,): the topic of each token. The first `n_known` topics are the same in both.
    """
    from scipy.optimize import linear_sum_assignment

    pairs = np.zeros(n_left * n_right, np.int64)
    for first in range(0, left.size, _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        pairs += np.bincount(left[part].astype(np.int64) * n_right + right[part], minlength=pairs.size)
    common = pairs.reshape(n_left, n_right)  # docs/math (G13)
    ours, theirs = linear_sum_assignment(common[n_known:, n_known:], maximize=True)
    ours, theirs, known = ours + n_known, theirs + n_known, np.arange(n_known)
    agree = common[ours, theirs] > 0
    return np.append(known, ours[agree]), np.append(known, theirs[agree])


def _relabelled(sample: Sample, old: NDArray[np.intp], new: NDArray[np.intp], n_topics: int) -> Sample:
    """Return a sample whose topic old[i] is new[i]; topics that are not among them are left out."""
    K = sample.tables.size
    place = sparse.csr_matrix((np.ones(old.size), (new, old)), shape=(n_topics, K))
    tables = np.zeros(n_topics)
    tables[new] = sample.tables[old]
    return Sample(sparse.csr_matrix(place @ sample.counts), tables, sample.concentrations, sample.log_joint)


def _plus(one: Sample, other: Sample) -> Sample:
    concentrations = Concentrations(
        *(a + b for a, b in zip(_triple(one.concentrations), _triple(other.concentrations), strict=True))
    )
    return Sample(one.counts + other.counts, one.tables + other.tables, concentrations, one.log_joint + other.log_joint)


def _triple(now: Concentrations) -> tuple[float, float, float]:
    return now.alpha, now.gamma, float(np.mean(now.eta))
