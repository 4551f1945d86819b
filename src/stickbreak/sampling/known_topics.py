"""What a chain is given before it begins: topics of seeds and rows of eta, and labels of documents.

A topic with pseudo-counts b_k is one that a document of these tokens, at one table, has opened before: documents of
pseudo-tokens stand behind the others, each in a topic of its own. Their tokens are counted and never sampled (docs/math
(G15)).

Each label is a topic (docs/math (G16)). The weights of labels, and that of all other topics together, have a Dirichlet
law of their own, which documents without labels alone add tables to. The other topics share theirs as those of an HDP
do, by the tables of all documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.exceptions import InputError
from stickbreak.model.document_labels import LABELLED, DocumentLabels
from stickbreak.model.seeds import WordPrior
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.sampling.kernels.documents import LabelRows
from stickbreak.sampling.state import DocumentTopics, TopicCounts, packed, pair_counts

SMALLEST = 1e-300
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class KnownTopics:
    """The pseudo-tokens of the first topics."""

    n: Float  # (L,)  of each topic; 0 of a label without words of its own, which has no table either
    entries: Float  # (S,)  of each word in each topic that has some
    words: Int  # (S,)
    n_words: int  # W

    def n_tables(self, n_labels: int) -> tuple[int, int]:
        """Return how many tables hold pseudo-tokens: of the topics of labels, which come first, and of the others."""
        return int(np.count_nonzero(self.n[:n_labels])), int(np.count_nonzero(self.n[n_labels:]))

    def likelihood(self) -> WordLikelihood:
        """Return the likelihood of the pseudo-tokens alone."""
        size, times = np.unique(self.entries, return_counts=True)
        return WordLikelihood(self.n, size, times.astype(np.float64), self.n_words)

    def log(self, eta: Eta) -> float:
        """Return log p of the pseudo-tokens given their topics, under a number or an eta by word."""
        if not isinstance(eta, np.ndarray):
            return self.likelihood().log(eta)
        topics = self.n.size * gammaln(eta.sum()) - gammaln(self.n + eta.sum()).sum()
        return float(topics + (gammaln(self.entries + eta[self.words]) - gammaln(eta[self.words])).sum())


@dataclass(frozen=True, slots=True)
class WordLikelihood:
    """p(words | topics, eta), from how often each size of a count occurs."""

    n: Float  # (K,)  tokens n_k
    size: Float  # (S,)  the different n_kw > 0
    times: Float  # (S,)  pairs of a topic and a word that have it
    n_words: int  # W

    @classmethod
    def of(cls, counts: TopicCounts) -> WordLikelihood:
        """Collect what the likelihood needs."""
        n = counts.n[: counts.n_topics].astype(np.float64)
        size, times = np.unique(pair_counts(counts), return_counts=True)
        return cls(n, size.astype(np.float64), times.astype(np.float64), counts.words.size.size)

    def log(self, eta: float) -> float:
        """Return sum_k [ lG(W eta) - lG(n_k + W eta) ] + sum_kw [ lG(n_kw + eta) - lG(eta) ].        docs/math (H3)"""
        total = self.n_words * eta
        topics = self.n.size * gammaln(total) - gammaln(self.n + total).sum()
        return float(topics + self.times @ (gammaln(self.size + eta) - gammaln(eta)))


def whole_tokens(prior: WordPrior, *, of_seeds: bool) -> WordPrior:
    """Return a prior whose pseudo-counts are whole tokens: those of seeds are rounded, at least to one for each word.

    Raises
    ------
    InputError
        If a row of eta has other pseudo-counts, or none.
    """
    if prior.pseudo is None:
        return prior
    whole = sparse.csr_array(prior.pseudo, copy=True)
    whole.data = np.rint(whole.data)
    if of_seeds:
        whole.data = np.maximum(whole.data, 1.0)
        return WordPrior(prior.base, whole)
    away = np.abs(whole.data - prior.pseudo.data)
    if (away > _ROUNDING).any():
        found = float(prior.pseudo.data[np.argmax(away)])
        raise InputError(
            f"a number of eta is {found:.6g} above its smallest, but GibbsHDP counts whole pseudo-tokens; give rows "
            "whose numbers differ by whole numbers."
        )
    if not (whole.sum(axis=0) > 0).all():
        raise InputError("a row of eta has its smallest number for every word; leave this row out.")
    whole.eliminate_zeros()
    return WordPrior(prior.base, whole)


def known_topics(prior: WordPrior) -> KnownTopics | None:
    """Return what chains are told of topics that are known."""
    if prior.pseudo is None:
        return None
    entries = prior.pseudo.tocoo()
    n, words = np.asarray(prior.pseudo.sum(axis=0), dtype=np.float64), entries.row.astype(np.int64)
    return KnownTopics(n, entries.data, words, int(prior.pseudo.shape[0]))


def with_known(documents: Corpus, prior: WordPrior) -> Corpus:
    """Return documents with one of pseudo-tokens for each topic that is known behind them."""
    if prior.pseudo is None:
        return documents
    rows = sparse.csr_matrix(sparse.vstack([documents.counts, sparse.csr_matrix(prior.pseudo.T)]))
    return Corpus.from_counts(rows)


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
        """Return log p of these tables given the labels, but for what the other topics share.        docs/math (G16)"""
        a, b = self.own, self.weights
        known = gammaln(a.sum()) - gammaln(a).sum()
        return float(known + gammaln(b).sum() - gammaln(b.sum()) + self.log_base)

    def tables(self, m: Int, gamma: float) -> Float:
        """Return the tables of all topics, those of a label as many as give it its expected weight.  docs/math (G16)"""
        L, found = self.n_labels, m.astype(np.float64)
        found[:L] = self.weights[:L] / self.weights[L] * (m[L:].sum() + gamma)
        return found


@dataclass(frozen=True, slots=True)
class ChainLabels:
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
        """Return the weights of Dirichlet before any table, (L + 1,): a document adds its labels.    docs/math (G16)"""
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
    """Draw corpus weights (beta, beta_u), (K + 1,), under labels.                                   docs/math (G16)"""
    L = found.n_labels
    top = np.maximum(rng.standard_gamma(found.weights), SMALLEST)
    top /= top.sum()
    others = np.maximum(rng.standard_gamma(np.append(counts.m[L : counts.n_topics], gamma)), SMALLEST)
    beta: Float = np.maximum(np.append(top[:L], top[L] * others / others.sum()), SMALLEST)
    return beta / beta.sum()
