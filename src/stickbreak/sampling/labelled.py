"""Documents with labels in a chain of direct assignment: each label is a topic (math.md (G16)).

The weights of labels, and that of all other topics together, have a Dirichlet law of their own, which documents without
labels alone add tables to. The other topics share theirs as those of an HDP do, by the tables of all documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from stickbreak.corpus.tokens import Tokens
from stickbreak.model.document_labels import LABELLED, DocumentLabels
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.sampling.counts import packed
from stickbreak.sampling.kernels.labels import LabelRows
from stickbreak.sampling.state import DocumentTopics, TopicCounts

SMALLEST = 1e-300


class LabelTables(NamedTuple):
    """What the tables of a state say of the labels."""

    weights: Float  # (L + 1,)  of Dirichlet: labels, then all other topics together
    own: Float  # (L + 1,)  the same before any table
    log_base: float  # log of the weights of topics at the tables of documents with labels, but for those of an HDP

    @property
    def n_labels(self) -> int:
        """Number of labels L."""
        return self.own.size - 1

    def log(self) -> float:
        """Return log p of these tables given the labels, but for what the other topics share.        math.md (G16)"""
        a, b = self.own, self.weights
        known = gammaln(a.sum()) - gammaln(a).sum()
        return float(known + gammaln(b).sum() - gammaln(b.sum()) + self.log_base)

    def tables(self, m: Int, gamma: float) -> Float:
        """Return the tables of all topics, those of a label as many as give it its expected weight.  math.md (G16)"""
        L, found = self.n_labels, m.astype(np.float64)
        found[:L] = self.weights[:L] / self.weights[L] * (m[L:].sum() + gamma)
        return found


@dataclass(frozen=True, slots=True)
class Labelled:
    """The labels of the documents of a chain.

    Parameters
    ----------
    labels : DocumentLabels
        Of the documents whose topics are sampled.
    """

    labels: DocumentLabels

    @property
    def n_labels(self) -> int:
        """Number of labels L: topics 0 .. L - 1."""
        return self.labels.n_labels

    def rows(self, alpha: float, beta: Float) -> LabelRows:
        """Return what kernels are told, under corpus weights beta (K + 1,), the rest last."""
        free = max(float(beta[self.n_labels :].sum()), SMALLEST)
        own = alpha * LABELLED
        return LabelRows(self.labels.start, self.labels.topic, self.n_labels, own, (1.0 - LABELLED) / free)

    def before(self) -> Float:
        """Return the weights of Dirichlet before any table, (L + 1,): a document adds its labels.      math.md (G16)"""
        found = np.bincount(self.labels.topic, minlength=self.n_labels).astype(np.float64)
        return 1.0 + np.append(found, found.sum())

    def tables(self, tokens: Tokens, documents: DocumentTopics) -> LabelTables:
        """Count the tables of a state."""
        L, start = self.n_labels, tokens.sampled
        size = documents.size[: start.size - 1]
        topic, m = (packed(start, size, x) for x in (documents.topic, documents.m))
        n_own = np.repeat(np.diff(self.labels.start), size)
        free, others = n_own == 0, np.minimum(topic, L)
        own = self.before()
        weights = own + np.bincount(others[free], weights=m[free], minlength=L + 1)
        each = np.where(topic < L, LABELLED / np.maximum(n_own, 1), 1.0 - LABELLED)
        return LabelTables(weights, own, float(m[~free] @ np.log(each[~free])))

    def allowed(self, z: Int32, tokens: Tokens, rng: np.random.Generator) -> Int32:
        """Return topics of tokens to start from, those of seeds as they are."""
        N, length, found = tokens.n_tokens, np.diff(tokens.sampled), z.copy()
        found[:N] = self.labels.allowed(z[:N], np.repeat(np.arange(length.size), length), rng)
        return found


def draw_labelled(counts: TopicCounts, found: LabelTables, gamma: float, rng: np.random.Generator) -> Float:
    """Draw corpus weights (beta, beta_u), (K + 1,), under labels.                                   math.md (G16)"""
    L = found.n_labels
    top = np.maximum(rng.standard_gamma(found.weights), SMALLEST)
    top /= top.sum()
    others = np.maximum(rng.standard_gamma(np.append(counts.m[L : counts.n_topics], gamma)), SMALLEST)
    beta: Float = np.maximum(np.append(top[:L], top[L] * others / others.sum()), SMALLEST)
    return beta / beta.sum()
