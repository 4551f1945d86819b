"""The start from random documents."""

from __future__ import annotations

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.initialization.base import Start, StartSettings, even_weights
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.streams import stream


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
