"""Topics of tokens to begin with."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform

_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def draw_topics(start, topic_word, key, z):
    """Draw the topic of each token in proportion to topic_word[k, w]; word w has the stream of that number."""
    n_topics, rng = topic_word.shape[0], np.empty(1, np.uint64)
    sums = np.zeros(n_topics)
    for w in range(np.uint64(start.size - 1)):
        open_stream(rng, key, w)
        total = 0.0
        for k in range(n_topics):
            total += topic_word[k, w]
            sums[k] = total
        for i in range(start[w], start[w + _ONE]):
            z[i] = min(np.searchsorted(sums, uniform(rng) * total, side="right"), n_topics - 1)
