"""The start from the words beside a word (math.md (C25)).

What stands beside a word is read off a sample of the documents once. Sweeps over all pairs of documents and words, with
all topics for each, cost far more; and from random topics many passes are needed until topics have formed.
"""

from __future__ import annotations

import numpy as np

from stickbreak.collapsed.companions import DIMENSIONS, PURPOSE, Companions, are_shown, dimensions_of, enough
from stickbreak.collapsed.walking import are_short
from stickbreak.corpus import Corpus
from stickbreak.initialization.base import Start, StartSettings, even_weights
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.streams import stream

LITTLE = 0.05  # tokens of each word in each topic
LEAST = 1 << 20  # stored counts: fits of fewer predict better from sweeps over all of them, by 0.003 to 0.006


def companions(corpus: Corpus, settings: StartSettings) -> Start | None:
    """Start from the words that stand beside each of K words, and a little of every word.           math.md (C25)

    There are K topics where co-occurrence shows fewer, too: the hybrid predicts better with them.

    Parameters
    ----------
    corpus : Corpus
        Documents of whole counts.
    settings : StartSettings
        `n_topics`, `eta` and `seed` matter here.

    Returns
    -------
    Start or None
        None where documents are few or long, some topics are known, or co-occurrence shows too few topics.
    """
    n, n_counts = corpus.n_documents, corpus.counts.nnz
    if settings.n_kept or n_counts < LEAST or not are_short(n, n_counts):
        return None
    found = _seen(corpus, max(dimensions_of(n), 2 * settings.n_topics), settings.seed)
    if not are_shown(found, n):
        return None
    topics = found.topics(settings.n_topics, 0.0)
    if len(topics) < settings.n_topics:
        return None
    topics = topics * (corpus.n_tokens / topics.sum()) + settings.eta  # without it the fit predicts worse, by 0.015
    return Start(np.ascontiguousarray(topics.T), even_weights(len(topics)))  # each row has as many tokens


def beside_words(corpus: Corpus, n_topics: int, seed: int) -> Float | None:
    """Return the words that stand beside each of some words, and a little of every word, (K, W).      math.md (C25)

    Parameters
    ----------
    corpus : Corpus
        Documents of whole counts.
    n_topics : int
        K.
    seed : int

    Returns
    -------
    ndarray or None
        None where too few words are in enough documents, or K is above 1,025.
    """
    if n_topics > DIMENSIONS[1] + 1:  # corners of a simplex
        return None
    found = _seen(corpus, 2 * n_topics, seed)
    topics = None if found is None else found.topics(n_topics, LITTLE)
    return topics if topics is not None and len(topics) == n_topics else None


def _seen(corpus: Corpus, dimensions: int, seed: int) -> Companions | None:
    """Look at what stands beside the words of some documents, at most as many as are enough."""
    rng, n = stream(seed, PURPOSE), corpus.n_documents
    return Companions.within(corpus[enough(np.arange(n), n, corpus.counts.nnz, rng)], dimensions, rng)
