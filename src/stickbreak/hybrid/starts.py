"""Where the hybrid starts: topics of tokens drawn at random, or topics that are found first."""

from __future__ import annotations

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.hybrid.state import HybridState
from stickbreak.hybrid.word_topics import WordTopics
from stickbreak.inference.streams import stream
from stickbreak.initialization import Start

RANDOM = "random"


def random_state(corpus: Corpus, n_topics: int, seed: int, share: float) -> HybridState:
    """Start from tokens that are assigned to topics at random.

    Every topic then has many tables: under g_weight="mean_field" one without tables would never come back.

    Parameters
    ----------
    corpus : Corpus
        The documents, or a minibatch of them.
    n_topics : int
    seed : int
    share : float
        Documents of all to those of `corpus`.
    """
    tokens = Tokens.from_corpus(corpus)
    z = stream(seed, "random start").integers(n_topics, size=tokens.word.size)
    found, times = np.unique(tokens.word.astype(np.int64) * n_topics + z, return_counts=True)
    size, topic = np.bincount(found // n_topics, minlength=corpus.n_words), (found % n_topics).astype(np.int32)
    pairs = WordTopics.from_pairs(size, topic, share * times, n_topics)
    document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
    tables = np.bincount(np.unique(document * n_topics + z) % n_topics, minlength=n_topics).astype(np.float64)
    return HybridState(pairs, pairs.sums(), share * tables, 0)


def state_from_topics(start: Start, corpus: Corpus, share: float) -> HybridState:
    """Start from given topics, scaled to all tokens, with a table for each topic that a document would have."""
    counts = np.asarray(start.counts, dtype=np.float64) * (share * corpus.n_tokens / start.counts.sum())
    lengths = corpus.document_lengths.astype(np.float64)
    weights = start.weights / start.weights.sum()
    tables = share * np.array([float(np.sum(-np.expm1(lengths * np.log1p(-min(w, 1.0 - 1e-12))))) for w in weights])
    return HybridState(WordTopics.from_dense(counts), counts.sum(axis=0), tables, 0)
