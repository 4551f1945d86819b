"""Topics that are alike become one."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.pseudo_counts import Eta, by_word
from stickbreak_baselines.online.state import OnlineState


def merge_alike(state: OnlineState, eta: Eta, threshold: float) -> int:
    """Merge pairs of topics whose word distributions have at least this cosine.                      docs/math (O10)

    The most similar pair comes first; its union, with the sums of tokens and tables, stands at the place of the larger
    topic, and may merge again. The column of the other one is gone. Of two topics with pseudo-counts, none is.

    Parameters
    ----------
    state : OnlineState
        Changed in place.
    eta : float or ndarray of shape (W,)
    threshold : float

    Returns
    -------
    int
        Merges.
    """
    alive, gone = state.alive(), []
    columns = state.S()[:, alive] + by_word(eta)
    norm = np.sqrt((columns * columns).sum(axis=0))
    cosine = (columns.T @ columns) / np.outer(norm, norm)
    np.fill_diagonal(cosine, 0.0)
    cosine[: state.n_kept, : state.n_kept] = 0.0
    while cosine.max() >= threshold:
        # one with pseudo-counts comes first, else the larger
        a, b = sorted(int(k) for k in np.unravel_index(int(cosine.argmax()), cosine.shape))
        gone.append(b)
        for table in (state.counts, state.tokens[None], state.tables[None]):
            table[:, alive[a]] += table[:, alive[b]]
        columns[:, a] += columns[:, b] - eta
        norm[a] = np.sqrt(columns[:, a] @ columns[:, a])
        alike = (columns[:, a] @ columns) / (norm[a] * norm)
        alike[[a, *gone]] = 0.0
        if a < state.n_kept:
            alike[: state.n_kept] = 0.0
        cosine[a], cosine[:, a], cosine[b], cosine[:, b] = alike, alike, 0.0, 0.0
    if gone:
        state.take(np.setdiff1d(np.arange(state.n_topics), alive[gone]))
    return len(gone)
