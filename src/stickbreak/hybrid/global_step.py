"""A step of the globals towards what the documents of a minibatch, scaled up, ask for."""

from __future__ import annotations

from stickbreak.hybrid import _kernels
from stickbreak.hybrid.document_sampler import Found
from stickbreak.hybrid.state import HybridState

SMALLEST_SCALE = 1e-100  # below it the scale is multiplied into the counts


def take_step(state: HybridState, found: Found, share: float, size: float) -> None:
    """Move the globals by a step; only pairs (word, topic) of the documents are written.          math.md (B5)

        S <- (1 - xi) S + xi s N,    M <- (1 - xi) M + xi s T,    s = D / (|M| saved sweeps)

    Parameters
    ----------
    state : HybridState
        Changed in place.
    found : Found
        N and T, sums over the saved sweeps.
    share : float
        D / |M|, documents of all to those of the minibatch.
    size : float
        xi.
    """
    amount = size * share / found.z.shape[0]
    state.scale *= 1.0 - size
    if state.scale < SMALLEST_SCALE:
        state.counts *= state.scale
        state.scale = 1.0
    _kernels.add_tokens(found.words, found.word, found.z, amount / state.scale, state.counts)
    state.tokens = (1.0 - size) * state.tokens + amount * found.tokens
    state.tables = (1.0 - size) * state.tables + amount * found.tables
    state.n_steps += 1
