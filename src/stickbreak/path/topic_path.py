"""The path from the topics of a fit down to one: which join, at what price, and which numbers of topics to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.questions.labels import is_label

OVERVIEW = 20  # topics that can be read at a glance
BETTER = 2.0  # standard errors by which fewer topics have to predict better than all


@dataclass(frozen=True, slots=True)
class TopicPath:
    """The joins of K topics, one after another, until one is left.

    Attributes
    ----------
    joins : ndarray of int, of shape (K - 1, 2)
        The two groups of topics that become one in each join. A group is named by the least number of its topics, and
        the smaller of the two names comes first.
    scores : ndarray of shape (K,)
        Held-out log-likelihood in nats per token with K, K - 1, ..., 1 topics (`n_topics`).
    standard_errors : ndarray of shape (K,)
        Standard errors of the differences of the scores from that of `best`; the differences are paired by document.
    best : int
        All K topics, or the number with the highest score of those that are better than all K by more than two standard
        errors of the difference.
    n_tokens : float
        Tokens that were held out.
    n_documents : int
        Documents that they are from.
    labels : mapping of int to str
        Labels of groups, by the row of `joins` that makes the group.
    """

    joins: Int
    scores: Float
    standard_errors: Float
    best: int
    n_tokens: float
    n_documents: int
    labels: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, joins: Int, by_document: Float, lengths: Float) -> Self:
        """Return the path of these log probabilities of documents, (K, D), of these lengths, (D,).    docs/math (J4)"""
        n = float(lengths.sum())
        scores = by_document.sum(axis=1) / n

        def errors_from(row: int) -> Float:
            lost = by_document[row] - by_document
            spread = lost - np.outer(lost.sum(axis=1) / n, lengths)
            return np.asarray(np.sqrt((spread**2).sum(axis=1)) / n)

        better = scores - scores[0] > BETTER * errors_from(0)
        row = int(np.argmax(np.where(better, scores, -np.inf)))
        return cls(joins, scores, errors_from(row), scores.size - row, n, lengths.size)

    @property
    def n_topics(self) -> Int:
        """The numbers of topics on the path: K, K - 1, ..., 1."""
        return np.arange(self.scores.size, 0, -1)

    @property
    def prices(self) -> Float:
        """What each join costs in nats over all tokens held out, (K - 1,); negative where it helps."""
        return -np.diff(self.scores) * self.n_tokens

    @property
    def smallest_within_one_error(self) -> int:
        """The smallest number of topics whose score is within one standard error of that of `best`."""
        near = self.scores >= self.scores[self.scores.size - self.best] - self.standard_errors
        return int(self.n_topics[near].min())

    @property
    def overview(self) -> int:
        """A number of topics to read at a glance: 20, or all where there are fewer."""
        return min(OVERVIEW, self.scores.size)

    def groups(self, n_topics: int) -> list[list[int]]:
        """Return the topics of the fit that make up each of `n_topics` topics, in the order of their first ones.

        Raises
        ------
        InputError
            If the path has no such number of topics.
        """
        K = self.scores.size
        if check_whole("n_topics", n_topics, 1) > K:
            raise InputError(f"n_topics is {n_topics}, but the model has {K} topics; give a number from 1 to {K}.")
        group = np.arange(K)
        for a, b in self.joins[: K - n_topics]:
            group[group == b] = a
        return [np.flatnonzero(group == first).tolist() for first in np.unique(group)]

    def members(self) -> list[list[int]]:
        """Return the topics of the group that each join makes."""
        inside = {k: [k] for k in range(self.scores.size)}
        made = []
        for a, b in self.joins.tolist():
            inside[a] = sorted(inside[a] + inside.pop(b))
            made.append(inside[a])
        return made

    def joins_of_overview(self) -> list[int]:
        """Return the joins that make the groups of the overview, and all groups of fewer."""
        first = self.scores.size - self.overview
        latest = {a: i for i, (a, _) in enumerate(self.joins[:first].tolist())}
        alive = {topics[0] for topics in self.groups(self.overview)}
        return sorted(i for a, i in latest.items() if a in alive) + list(range(first, self.scores.size - 1))

    def linkage(self) -> Float:
        """Return the joins as SciPy's hierarchical clustering does, (K - 1, 4).

        Topic k is cluster k, and join i makes cluster K + i. A row has the two clusters, their distance and the number
        of topics of the new cluster. The distance is the largest price of the joins so far, in nats, so that it never
        falls; it is 0 as long as joins cost nothing.
        """
        K = self.scores.size
        cluster, size, rows = np.arange(K), np.ones(K), np.zeros((K - 1, 4))
        heights = np.maximum.accumulate(np.maximum(self.prices, 0.0))
        for i, (a, b) in enumerate(self.joins):
            size[a] += size[b]
            rows[i] = *sorted((cluster[a], cluster[b])), heights[i], size[a]
            cluster[a] = K + i
        return rows

    def below(self, n_topics: int, number: Int) -> Self:
        """Return the rest of the path from `n_topics` on, where group k of `groups` is called number[k]."""
        names = [topics[0] for topics in self.groups(n_topics)]
        called = dict(zip(names, number.tolist(), strict=True))
        joins = []
        for a, b in self.joins[self.scores.size - n_topics :].tolist():
            joins.append(sorted((called[a], called[b])))
            called[a] = joins[-1][0]
        first = self.scores.size - n_topics
        kept = slice(first, None)
        pairs = np.array(joins, dtype=np.int64).reshape(-1, 2)
        scores, errors, best = self.scores[kept], self.standard_errors[kept], min(self.best, n_topics)
        labels = {i - first: text for i, text in self.labels.items() if i >= first}
        return type(self)(pairs, scores, errors, best, self.n_tokens, self.n_documents, labels)

    def packed(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        """Return everything as arrays and plain values."""
        arrays = {"joins": self.joins, "scores": self.scores, "standard_errors": self.standard_errors}
        values = {"best": self.best, "n_tokens": self.n_tokens, "n_documents": self.n_documents}
        return arrays, {**values, "labels": {str(i): text for i, text in self.labels.items()}}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> Self:
        """Return what `packed` took apart.

        Raises
        ------
        KeyError, ValueError
            If it cannot be a path.
        """
        joins, scores, errors = (arrays[name] for name in ("joins", "scores", "standard_errors"))
        K = scores.size
        require(K >= 1 and is_table(scores, K) and is_table(errors, K), "the scores of its path are not finite numbers")
        require(joins.shape == (K - 1, 2) and joins.dtype == np.int64, "the joins of its path do not fit its scores")
        require(bool((errors >= 0).all()), "a standard error of its path is negative")
        left = set(range(K))
        for a, b in joins.tolist():
            require(a < b and {a, b} <= left, "a join of its path is of topics that are not there")
            left.remove(b)
        best, n_documents = (whole_number(name, values[name]) for name in ("best", "n_documents"))
        require(1 <= best <= K, "the best number of topics is not on its path")
        n_tokens = float(values["n_tokens"])
        require(np.isfinite(n_tokens) and n_tokens > 0, "its path has no tokens")
        labels = {int(i): text for i, text in values["labels"].items()}
        require(all(0 <= i < K - 1 for i in labels), "a label of its path is of a join that is not there")
        require(all(is_label(text) for text in labels.values()), "a label of its path is not a line of text")
        return cls(joins, scores, errors, best, n_tokens, n_documents, labels)
