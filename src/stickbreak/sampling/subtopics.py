"""Splits into sub-topics and merges (after Jain and Neal 2004; Chang and Fisher 2014): tokens change topics."""

from __future__ import annotations

import numpy as np

from stickbreak.corpus.tokens import Tokens
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.sampling.kernels import subtopics as kernels
from stickbreak.sampling.split_merge import Trials
from stickbreak.sampling.state import Concentrations, TopicCounts

LEAST_LIMIT = 10_000


def subtopic_trials(
    tokens: Tokens,
    z: Int32,
    counts: TopicCounts,
    beta: Float,
    now: Concentrations,
    *,
    trials: int,
    passes: int,
    key: int,
    limit: int | None = None,
) -> tuple[int, Float, Trials]:
    """Try to split topics into two and to merge two; each trial leaves p(z, beta | words) invariant.   math.md (M3)

    Parameters
    ----------
    tokens : Tokens
    z : ndarray of shape (N,)
        Topics, changed in place; numbered 0 .. K - 1 before and afterwards.
    counts : TopicCounts
        Of z. `words` is changed with it; the order of its entries means nothing then.
    beta : ndarray of shape (K + 1,)
        Corpus weights, last that of all topics without tokens.
    now : Concentrations
    trials : int
    passes : int
        Passes in which the sides of a trial settle before the tokens are drawn.
    key : int
        The random numbers depend on it and on the number of the trial, on nothing else.
    limit : int, optional
        A trial over S tokens is made with probability min(1, limit / S). None: a twentieth of all tokens, at least
        10,000.

    Returns
    -------
    n_topics : int
        K afterwards.
    beta : ndarray of shape (K + 1,)
        Corpus weights afterwards.
    trials : Trials

    References
    ----------
    S. Jain, R. M. Neal. A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture model. 2004.
    J. Chang, J. W. Fisher III. Parallel sampling of HDPs using sub-cluster splits. NIPS 2014.
    """
    K, N = counts.n_topics, z.size
    if N < 2:
        return K, beta, Trials(0, 0, 0, 0)
    n_k, weights = np.zeros(K + trials, np.int64), np.zeros(K + trials)
    n_k[:K], weights[:K] = counts.n[:K], beta[:K]
    document = np.repeat(np.arange(tokens.n_documents, dtype=np.int32), tokens.lengths)
    K, made = kernels.run_trials(
        document, tokens.word, z, counts.words, n_k, weights, K, now.alpha, now.gamma, now.eta,
        trials, passes, float(max(LEAST_LIMIT, N // 20) if limit is None else limit), key,
    )  # fmt: skip
    return int(K), np.append(weights[:K], beta[-1]), Trials(*map(int, made))
