"""The chain of documents with labels, each of which is a topic (docs/math (L10)).

Ramage, Hall, Nallapati and Manning (2009), with free topics beside those of labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import require
from stickbreak.fitting.hyperparameters import PRIOR
from stickbreak.fitting.laps import Packed
from stickbreak.model.document_labels import LABELLED, DocumentLabels
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.streams import stream
from stickbreak.sparse_gibbs.chain import Chain, Topics
from stickbreak.sparse_gibbs.kernels.sweeps import Labels
from stickbreak.sparse_gibbs.priors import STEPS, Priors, is_due, tables_of


class LabelledChain(Chain):
    """A chain whose documents have labels.

    Parameters
    ----------
    corpus, n_topics, seed
        As in `Chain`.
    labels : DocumentLabels
        The first topics are those of labels.
    **options
        As in `Chain`.
    """

    def __init__(self, corpus: Corpus, n_topics: int, seed: int, labels: DocumentLabels, **options: Any) -> None:
        super().__init__(corpus, n_topics, seed, **options)
        self._labels = labels

    def begin(self, z: Iterable[Topics]) -> None:
        """Begin with these topics of tokens; in a document with labels each of these is as likely as the given one."""
        rng = stream(self._seed, "labels of LDA")

        def allowed(group: int, of_words: Topics) -> Topics:
            document = self.tokens.documents_of_words(group)
            return self._labels.allowed(of_words.astype(np.int64), document, rng).astype(np.uint16)

        self.take(allowed(group, of_words) for group, of_words in enumerate(z))

    def scale(self, priors: Priors) -> Float:
        """Return how often a_k of a free topic counts in each document, (D,).                       docs/math (L10)"""
        return np.where(np.diff(self._labels.start) > 0, self._shares(priors)[1], 1.0)

    def _shares(self, priors: Priors) -> tuple[float, float]:
        """Return what labels have of the concentration of a document, and the factor of a_k of free topics."""
        free = float(priors.a[self._labels.n_labels :].sum())
        if not free:
            return priors.alpha, 0.0
        return LABELLED * priors.alpha, (1.0 - LABELLED) * priors.alpha / free

    def _labels_of(self, priors: Priors) -> Labels:
        """Return what sweeps must know of labels."""
        return Labels(self._labels.start, self._labels.topic, self._labels.n_labels, *self._shares(priors))

    def with_weights(self, priors: Priors, number: int) -> Priors:
        """Return the priors after a lap, their weights a learned where this is due.                 docs/math (L10)"""
        if not is_due(number):
            return priors
        n_own = np.diff(self._labels.start)
        groups = [(int(n), self.tokens.pairs(self.lists, n_own == n)) for n in np.unique(n_own)]
        for _ in range(STEPS):
            tables = np.zeros((2, self.n_topics))  # of documents without labels, and with
            tables[0, : self._past.tables.size] = self._past.tables
            for n, pairs in groups:
                tables[int(n > 0)] += tables_of(pairs, self._prior_of(n, priors))
            priors = priors.with_weights(self._weights(tables, self._past.opened + self.opened(priors)))
        return priors

    def _prior_of(self, n: int, priors: Priors) -> Float:
        """Return the prior of a document with n labels, as if all were its own, (K,)."""
        if not n:
            return priors.a
        own, scale = self._shares(priors)
        L = self._labels.n_labels
        return np.append(np.full(L, own / n), scale * priors.a[L:])

    def _weights(self, tables: Float, times: float) -> Float:
        """Return a after a step of the fixed point, (K,).                                           docs/math (L10)"""
        L, K = self._labels.n_labels, self.n_topics
        n_documents = np.bincount(self._labels.topic, minlength=L)
        alpha = (PRIOR.shape + float(tables.sum())) / (PRIOR.rate + times)
        shares, free = 1.0 / K + tables[0], 1.0 / K + tables[:, L:].sum(axis=0)
        shares[:L] += n_documents
        if K > L:
            shares[L:] = (shares[L:].sum() + n_documents.sum()) * free / free.sum()
        return np.asarray(alpha * shares / shares.sum())

    def snapshot(self) -> Packed:
        """Return the topic of each token, the mean, and the labels."""
        arrays, values = super().snapshot()
        return {**arrays, "labels.start": self._labels.start, "labels.topic": self._labels.topic}, values

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        super().restore(arrays, values)
        for group, z in enumerate(self.z):
            self._labels.check_allowed(z.astype(np.int64), self.tokens.documents_of_words(group))
        same = all(np.array_equal(arrays[f"labels.{name}"], getattr(self._labels, name)) for name in ("start", "topic"))
        require(same, "its labels are those of other documents")
