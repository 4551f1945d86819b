"""A step of the globals towards what the documents of a minibatch, scaled up, ask for."""

from __future__ import annotations

import numpy as np

from stickbreak.corpus.tokens import Tokens
from stickbreak.hybrid.document_sampler import Found
from stickbreak.hybrid.state import HybridState, Int32

FORGOTTEN = 0.01  # of eta: a pair with fewer expected tokens is taken for one without any


def take_step(
    state: HybridState, tokens: Tokens, words: Int32, found: Found, share: float, size: float, eta: float
) -> None:
    """Move the globals by a step; only pairs (word, topic) of the documents are written.          math.md (B5)

        S <- (1 - xi) S + xi s N,    M <- (1 - xi) M + xi s T,    s = D / (|M| saved sweeps)

    Pairs of the minibatch's words that have decayed to next to nothing are forgotten: below a hundredth of eta, and
    below half of what a token adds now, so that what a step adds is there in the next.

    Parameters
    ----------
    state : HybridState
        Changed in place.
    tokens : Tokens
        The minibatch.
    words : ndarray of shape (B,)
        Its words.
    found : Found
        N and T, sums over the saved sweeps.
    share : float
        D / |M|, documents of all to those of the minibatch.
    size : float
        xi.
    eta : float
    """
    amount = size * share / found.z.shape[0]
    state.pairs.decay(1.0 - size)
    start, least = tokens.word_start[[*words, words[-1] + 1]], min(FORGOTTEN * eta, 0.5 * amount)
    lost = state.pairs.add(words, start, tokens.by_word, found.z, amount, least)
    state.tokens = np.maximum((1.0 - size) * state.tokens + amount * found.tokens - lost, 0.0)
    state.tables = (1.0 - size) * state.tables + amount * found.tables
    state.n_steps += 1
