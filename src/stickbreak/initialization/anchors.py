"""The start from anchor words (Arora et al. 2013, A Practical Algorithm for Topic Modeling with Provable Guarantees).

An anchor of a topic is a word that no other topic has. The words seen beside it are then the words seen beside
that topic, and the words seen beside any other word are a mixture of these, weighted by p(topic | word). So the
anchors are the corners of the cloud of rows of the co-occurrence matrix, and the weights of the mixtures lead to the
topics.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.cooccurrence import Cooccurrence
from stickbreak.fitting.loop import logger
from stickbreak.initialization.base import Start, StartSettings, largest_first, random_documents, weights_of
from stickbreak.initialization.kernels import simplex as simplex_kernels
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.corners import corners
from stickbreak.numerics.streams import stream

LEAST_DOCUMENTS = 5
PROJECTION = 1000  # dimensions of the random projection (or 2 K, if more); a smaller vocabulary needs none
TOLERANCE = 1e-4  # of a word's squared distance from its mixture, as a share of an anchor's squared norm
MAX_STEPS = 5000  # of a word's weights; 50 to 200 are usual
WORDS_PER_BLOCK = 4096  # weights found between two looks at `stop`


def anchors(corpus: Corpus, settings: StartSettings) -> Start:
    """Start from K anchor words: sparse topics that together explain which words occur with which.

    Takes seconds: the collection is read a few times, not once for each of many sweeps. Without a random draw if the
    vocabulary has at most 1000 words. Where the corpus has fewer than K anchors, the other topics start from
    random documents, each with a K-th of the tokens, and the log says so.

    `settings`: `n_topics` and `seed` matter here. If `stop` says so, the words that are left go to their nearest
    anchor. Returns counts[w, k] = c_w p(topic k | word w), c_w the tokens of word w in the corpus.  docs/math (A4).
    """
    rng = stream(settings.seed, "anchors start")
    Q = Cooccurrence.of(corpus)
    words = find_anchors(Q, settings.n_topics, rng)
    counts = np.zeros((corpus.n_words, settings.n_topics))
    if words.size:
        counts[:, : words.size] = _topics(corpus, topic_given_word(Q, words, settings.progress, settings.stop))
    missing = settings.n_topics - words.size
    if missing:
        logger.info("the start found %d anchor words; %d topics start from random documents", words.size, missing)
        drawn = random_documents(corpus, missing, rng)
        counts *= words.size / settings.n_topics
        counts[:, words.size :] = drawn * (corpus.n_tokens / settings.n_topics / drawn.sum(axis=0))
    return largest_first(Start(counts, weights_of(counts.sum(axis=0))))


def find_anchors(Q: Cooccurrence, n_topics: int, rng: np.random.Generator) -> Int:
    """Return at most n_topics anchor words, the clearest first: FastAnchorWords (Arora et al. 2013, Algorithm 4).

    `rng`: draws the random projection of the rows, which keeps their distances to a few percent. Returns Fewer than
    n_topics if the rows of fewer words span all others.
    """
    words = candidates(Q, n_topics)
    if words.size == 0:
        return words
    n_words = Q.mass.size
    dimensions = min(n_words, max(PROJECTION, 2 * n_topics))
    points = np.empty((words.size, dimensions))
    for block in Q.blocks(dimensions):
        size = (n_words, block.stop - block.start)
        columns = np.eye(*size, k=-block.start) if dimensions == n_words else rng.standard_normal(size)
        points[:, block] = Q.times(columns, words)
    return words[corners(points, n_topics)]


def candidates(Q: Cooccurrence, n_topics: int) -> Int:
    """Return the words that may be anchors: those in at least max(5, sqrt(D) / 2) documents.

    The row of a rare word is mostly noise, and noise lies far out. The number of documents grows more slowly than the
    corpus, since rare topics have rare words only. It is lowered until n_topics words are left, if there are as many.
    """
    n_documents = np.where(Q.mass > 0, Q.n_documents, 0)
    least = max(LEAST_DOCUMENTS, math.ceil(math.sqrt(Q.right.shape[0]) / 2))
    if np.count_nonzero(n_documents >= least) < n_topics:
        ranked = np.sort(n_documents)[::-1]
        least = max(1, int(ranked[min(n_topics, ranked.size) - 1]))
    return np.flatnonzero(n_documents >= least)


def topic_given_word(
    Q: Cooccurrence,
    words: Int,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Float:
    """Return p(topic | word), (W, K): the weights of the anchors in the mixture nearest to the word's row (RecoverL2).

    The distances are those of the whole rows, without a projection. They take the products of all rows with those of
    the anchors alone, so the smallest squares are solved with K numbers for each word.  docs/math (A3)

    `words`: the anchors. `progress`: called with the number of blocks of words that are done, and of all. `stop`: asked
    after each block but the last; once true, each further word goes to its nearest anchor. Returns (W, K): rows sum to
    one; zero for words that never occur beside another token.
    """
    rows = Q.rows(words)
    gram = rows @ rows.T
    seen = np.flatnonzero(Q.mass > 0)
    products = np.empty((seen.size, words.size))
    for columns in Q.blocks(words.size):
        products[:, columns] = Q.times(np.ascontiguousarray(rows[columns].T), seen)
    weights = np.zeros((Q.mass.size, words.size))
    steps, n_blocks = MAX_STEPS, -(-seen.size // WORDS_PER_BLOCK)
    for i in range(n_blocks):
        block = slice(i * WORDS_PER_BLOCK, (i + 1) * WORDS_PER_BLOCK)
        weights[seen[block]] = simplex_kernels.simplex_weights(gram, products[block], TOLERANCE, steps)
        if progress is not None:
            progress(i + 1, n_blocks)
        if stop is not None and i + 1 < n_blocks and stop():
            steps = 0
    return weights


def _topics(corpus: Corpus, weights: Float) -> Float:
    """Return p(word, topic) times the tokens of the corpus, (W, K); words of unknown topics follow the others.

    c_w p(k | w), summed over w the tokens of topic k.                                   docs/math (A4)
    """
    tokens = np.bincount(corpus.counts.indices, corpus.counts.data, corpus.n_words)
    topics: Float = tokens[:, None] * weights
    mass = topics.sum(axis=0)
    alone = (tokens > 0) & (weights.sum(axis=1) == 0)
    topics[alone] = tokens[alone, None] * (mass / mass.sum())
    return topics
