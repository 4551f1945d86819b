"""Where documents begin that labels or seeds say something of (math.md (C18))."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stickbreak.collapsed.kernels import shares as share_kernels
from stickbreak.collapsed.shards import Shard, Shares, slots_of
from stickbreak.collapsed.steering import Steering
from stickbreak.collapsed.walking import Outcome
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.streams import stream_at

SMALLEST = 1 / 15  # share that is kept


def steered_shares(given: tuple[Steering, int, int], shard: Shard) -> Outcome:
    """Give counts to the topics of the labels and seeds in their document, and to a free one.           math.md (C18)

    A word of a seed has only topics of its seeds, and no share yet where the document may not use them. Where all
    topics are known, any of them counts as free.
    """
    (steering, n_topics, seed), n_kept = given, given[0].n_kept
    assert steering.pseudo is not None
    words, number = np.unique(shard.word, return_inverse=True)
    seeds = (steering.pseudo[words].toarray() > 0).astype(np.float64)
    theta = document_weights(steering, shard, number, seeds, n_topics)
    rng, first_free = stream_at(seed, "collapsed steered start", shard.first), n_kept if n_kept < n_topics else 0
    theta[np.arange(len(theta)), rng.integers(first_free, n_topics, size=len(theta))] += 1.0
    topic_word, of_seed = np.ones((words.size, n_topics)), seeds.any(axis=1)
    topic_word[of_seed] = 0.0
    topic_word[of_seed, :n_kept] = seeds[of_seed]
    new, key = Shares.room(shard.word.size, slots_of(SMALLEST, n_topics)), key_of(seed, 0, "collapsed steered start")
    lists = (new.start, new.topic, new.share)
    tables = (number.astype(np.int32), topic_word, theta)
    share_kernels.first_shares(shard.indptr, *tables, SMALLEST, key, shard.first, *lists)
    return Outcome(shares=new.trimmed())


def document_weights(steering: Steering, shard: Shard, number: np.ndarray, seeds: Float, n_topics: int) -> Float:
    """Return what labels and seeds say of the topics of documents, (D_s, K): tokens of a seed, and 1 for a label."""
    n, words = shard.indptr.size - 1, len(seeds)
    theta = np.zeros((n, n_topics))
    theta[:, : steering.n_kept] = sparse.csr_array((shard.count, number, shard.indptr), shape=(n, words)) @ seeds
    if steering.labels is not None:
        own, labelled = steering.labels.weights(shard.first, n)
        of_labels = theta[:, : steering.labels.n_labels]
        of_labels[labelled] *= own[labelled]
        of_labels += own
    return theta
