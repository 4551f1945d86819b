"""What every start takes and returns, and documents drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.model.document_labels import DocumentLabels
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.streams import stream

Progress = Callable[[int, int], None]

SWEEPS = 50
ALONE = Engine(1)


@dataclass(frozen=True, slots=True)
class Start:
    """Topics to start from, the largest first."""

    counts: Float  # (W, K)  expected counts behind the topics, on the scale of the whole corpus where known
    weights: Float  # (K,)    corpus weights, sum at most 1


@dataclass(frozen=True, slots=True)
class StartSettings:
    """What a start may depend on."""

    n_topics: int
    alpha: float
    gamma: float
    eta: Eta
    seed: int
    sweeps: int = SWEEPS
    progress: Progress | None = None
    engine: Engine = ALONE  # where the work runs; it changes no number
    stop: Callable[[], bool] | None = None  # asked after each sweep but the last: the sweeps so far are a start, too
    pseudo: sparse.csr_array | None = None  # (W, n_kept)  pseudo-counts of the first topics, which stay the first
    labels: DocumentLabels | None = None  # of the documents; their topics are the first of these
    max_topics: int | None = None  # that starts which find the number may lead to

    @property
    def n_kept(self) -> int:
        """Number of topics with pseudo-counts."""
        return 0 if self.pseudo is None else int(self.pseudo.shape[1])


def even_weights(n_topics: int) -> Float:
    """Return equal weights that leave one share to the inactive topics."""
    return np.full(n_topics, 1.0 / (n_topics + 1))


def weights_of(mass: Float) -> Float:
    """Return weights in proportion to the tokens of the topics; an equal share is left to the inactive ones."""
    return mass / mass.sum() * (1 - 1 / (mass.size + 1))


def largest_first(start: Start, n_kept: int = 0) -> Start:
    """Return the same topics, the largest first, behind those that stay where they are."""
    order = np.argsort(-start.counts[:, n_kept:].sum(axis=0), kind="stable")
    order = np.append(np.arange(n_kept), n_kept + order)
    return Start(np.ascontiguousarray(start.counts[:, order]), start.weights[order])


def documents(corpus: Corpus, settings: StartSettings) -> Start:
    """Start from K documents drawn at random, none twice while there are enough (the paper's start)."""
    rng = stream(settings.seed, "documents start")
    return Start(random_documents(corpus, settings.n_topics, rng), even_weights(settings.n_topics))


def random_documents(corpus: Corpus, n: int, rng: np.random.Generator) -> Float:
    """Return the counts of n documents that hold tokens, (W, n); none twice while there are enough."""
    filled = np.flatnonzero(corpus.document_lengths > 0)
    rows = np.concatenate([rng.permutation(filled) for _ in range(-(-n // filled.size))])
    counts = corpus.counts[rows[:n]].toarray().astype(np.float64)
    return np.ascontiguousarray(counts.T)
