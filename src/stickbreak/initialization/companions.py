"""The start from the words beside a word, for many short documents (math.md (C25)).

Sweeps over all pairs of documents and words, with all topics for each, cost far more than passes that sample. What
stands beside a word is read off a sample of the documents once.
"""

from __future__ import annotations

import numpy as np

from stickbreak.collapsed.companions import PURPOSE, Companions, are_shown, dimensions_of, enough
from stickbreak.collapsed.walking import are_short
from stickbreak.corpus import Corpus
from stickbreak.initialization.base import Start, StartSettings, even_weights
from stickbreak.numerics.streams import stream

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
    rng = stream(settings.seed, PURPOSE)
    found = Companions.within(corpus[enough(np.arange(n), n, n_counts, rng)], dimensions_of(n), rng)
    if not are_shown(found, n):
        return None
    topics = found.topics(settings.n_topics, 0.0)
    topics = topics * (corpus.n_tokens / topics.sum()) + settings.eta  # without it the fit predicts worse, by 0.015
    return Start(np.ascontiguousarray(topics.T), even_weights(len(topics)))  # each row has as many tokens
