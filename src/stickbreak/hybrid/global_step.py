"""A step of the globals towards what the documents of a minibatch, scaled up, ask for."""

from __future__ import annotations

import numpy as np

from stickbreak.corpus.tokens import Tokens
from stickbreak.hybrid.document_sampler import Found
from stickbreak.hybrid.state import HybridState
from stickbreak.numerics.arrays import Int32

LEAST_TOKENS = 0.1  # of a pair that is kept; fewer are rounded


def take_step(
    state: HybridState, tokens: Tokens, words: Int32, found: Found, share: float, size: float, key: np.uint64
) -> None:
    """Move the globals by a step; only pairs (word, topic) of the documents are written.          math.md (B5)

        S <- (1 - xi) S + xi s N,    M <- (1 - xi) M + xi s T,    s = D / (|M| saved sweeps)

    Pairs of the minibatch's words that have decayed to little are rounded at random, to nothing or to the least that is
    kept: LEAST_TOKENS, or half of what a token adds now, so that what a step adds is there in the next. What is known
    of topics before is no less than that, and a step takes nothing of it.                           math.md (L17)

    `state`: changed in place. `tokens`: the minibatch, its words numbered by their places in `words`. `words` (B,): its
    words. `found`: n and T, sums over the saved sweeps. `share`: d / |M|, documents of all to those of the minibatch.
    `size`: xi. `key`: of the random numbers of the rounding.
    """
    amount = size * share / found.z.shape[0]
    state.pairs.decay(1.0 - size)
    if state.known is not None:
        if size == 1.0:  # nothing is left of any pair
            state.pairs = state.known.pairs(state.n_words, state.n_topics)
        else:
            state.pairs.add_to(state.known.word, state.known.topic, size * state.known.count)
    least = min(LEAST_TOKENS, 0.5 * amount)
    lost = state.pairs.add(words, tokens.word_start, tokens.by_word, found.z, amount, least, key)
    state.tokens = np.maximum((1.0 - size) * state.tokens + amount * found.tokens - lost, 0.0)
    state.tables = (1.0 - size) * state.tables + amount * found.tables
    if state.known is not None:
        state.tokens[: state.n_kept] += size * state.known.tokens
        state.tables[: state.n_kept] += size
    state.n_steps += 1
