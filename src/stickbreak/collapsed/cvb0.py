"""CVB0 for the HDP topic model, one stored count at a time (math.md (C1)), in lists of the few topics of each count.

Teh, Kurihara and Welling (2008); the zero-order form of Asuncion et al. (2009). The topics and the document weights are
integrated out and only q(z) is kept, so that a document can change its mind about a topic longer than under mean field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil

import numpy as np

from stickbreak.collapsed.kernels import shares as share_kernels
from stickbreak.collapsed.state import SMALLEST_BETA, CollapsedState, Priors, Shard, Shares, cut
from stickbreak.corpus import Corpus
from stickbreak.fitting.executor import Executor, ThreadExecutor
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.streams import stream

SMALLEST_SHARE = 1 / 15
FINE_SHARE = 1 / 200  # of starts, whose topics should not carry the noise of rounding ...
ROUGH_SWEEPS = 5  # ... after these, in which tokens have shares of most topics
RANGES = 8  # of words, whose counts are brought up to date by one thread each


def cvb0(
    corpus: Corpus,
    n_topics: int,
    *,
    alpha: float,
    gamma: float,
    eta: float,
    seed: int = 0,
    start: tuple[Float, Float, Float] | None = None,
) -> Iterator[CollapsedState]:
    """Yield the state after each sweep over all documents, without end: the start of other inference.

    The smallest share that is kept is 1/15 in the first sweeps from a random start, then 1/200.

    Parameters
    ----------
    corpus : Corpus
        D documents, W words.
    n_topics : int
        Truncation K.
    alpha, gamma, eta : float
        Concentrations of the documents, of the corpus, and pseudo-count of a word in a topic.
    seed : int, default=0
        Of the start, and of what is done with small shares.
    start : (topic_word, theta, beta), optional
        Word distributions by word (W, K), weights of the documents (D, K) of any sum, and corpus weights (K,), where
        another inference stands. None: every (document, word) pair in one topic, drawn at random.

    Yields
    ------
    CollapsedState
        The same object each time, updated in place.
    """
    priors, executor = Priors(alpha, gamma, eta), ThreadExecutor(1)
    if start is None:
        state = random_start(corpus, n_topics, seed)
    else:
        state = start_from(corpus, *start, FINE_SHARE, seed)
    while True:
        rough = start is None and state.n_sweeps < ROUGH_SWEEPS
        sweep(state, priors, SMALLEST_SHARE if rough else FINE_SHARE, seed, executor)
        yield state


def random_start(corpus: Corpus, n_topics: int, seed: int) -> CollapsedState:
    """Put every (document, word) pair in one topic, drawn at random."""
    turns = cut(corpus)
    with_random_topics([shard for turn in turns for shard in turn], n_topics, seed)
    return assembled(turns, corpus.n_words, np.full(n_topics, 1 / (n_topics + 1)))


def with_random_topics(parts: Sequence[Shard], n_topics: int, seed: int) -> None:
    """Give all of each count to one topic, drawn at random."""
    rng = stream(seed, "collapsed random start")
    for shard in parts:
        n = shard.word.size
        topic = rng.integers(n_topics, size=n).astype(np.uint16)
        shard.shares = Shares(np.arange(n + 1), topic, np.ones(n, np.float32))


def given_start(corpus: Corpus, counts: Float, smallest: float, seed: int) -> CollapsedState:
    """Start with r_dwk proportional to the expected count of word w in topic k, counts (K, W)."""
    mass = counts.sum(axis=1)
    topic_word, weights = np.ascontiguousarray((counts / mass[:, None]).T), mass / mass.sum()
    theta = np.broadcast_to(weights, (corpus.n_documents, mass.size))
    return start_from(corpus, topic_word, theta, weights * (1.0 - 1.0 / (mass.size + 1)), smallest, seed)


def start_from(
    corpus: Corpus, topic_word: Float, theta: Float, beta: Float, smallest: float, seed: int
) -> CollapsedState:
    """Start with r_dwk ∝ topic_word[w, k] theta[d, k].                                        math.md (C1), (C3)

    Parameters
    ----------
    corpus : Corpus
    topic_word : ndarray of shape (W, K)
        Word distributions.
    theta : ndarray of shape (D, K)
        Weights of the documents, of any sum.
    beta : ndarray of shape (K,)
        Corpus weights.
    smallest : float
        Smallest share that is kept.
    seed : int
    """
    turns, slots, key = cut(corpus), slots_of(smallest, beta.size), key_of(seed, 0, "collapsed start")
    for shard in (shard for turn in turns for shard in turn):
        new, weights = Shares.room(shard.word.size, slots), theta[shard.first : shard.first + shard.indptr.size - 1]
        lists = (new.start, new.topic, new.share)
        share_kernels.first_shares(shard.indptr, shard.word, topic_word, weights, smallest, key, shard.first, *lists)
        shard.shares = new.trimmed()
    return assembled(turns, corpus.n_words, beta)


def assembled(turns: list[list[Shard]], n_words: int, beta: Float) -> CollapsedState:
    """Return the state that shares and corpus weights make."""
    S, N = np.zeros((n_words, beta.size)), np.zeros(beta.size)
    return CollapsedState(turns, S, N, beta, np.zeros(beta.size))


def sweep(state: CollapsedState, priors: Priors, smallest: float, seed: int, executor: Executor) -> None:
    """Update q(z) of all documents, then the corpus weights; everything in place.             math.md (C1), (C2), (C3)

    S and N are summed again first, so that no rounding is carried on: shares and corpus weights say all.

    Parameters
    ----------
    state : CollapsedState
    priors : Priors
    smallest : float
        Smallest share that is kept; 0 keeps all.
    seed : int
    executor : Executor
    """
    add_up(state, executor)
    prior = priors.alpha * state.beta
    key = key_of(seed, state.n_sweeps + 1, "collapsed sweep")
    tables, log_p = np.zeros(state.beta.size), 0.0
    for turn in state.turns:

        def run(shard: Shard) -> tuple[Shares, Float, float]:
            return updated(shard, state.S, state.N, prior, priors, state.S.shape[0], smallest, key, counted=True)

        found = executor.map(run, turn)
        replace(state.S, state.N, turn, [new for new, _, _ in found], executor)
        for shard, (new, of_shard, value) in zip(turn, found, strict=True):
            shard.shares = new
            tables += of_shard
            log_p += value
    state.tables, state.log_p, state.beta = tables, log_p, corpus_weights(tables, priors.gamma)
    state.n_sweeps += 1


def add_up(state: CollapsedState, executor: Executor) -> None:
    """Sum S and N of all shares."""
    state.S[:], state.N[:] = 0.0, 0.0
    parts = state.shards
    new = [part.shares for part in parts]
    bare = [Shard(p.first, p.indptr, p.word, p.count, Shares.none(p.word.size)) for p in parts]
    replace(state.S, state.N, bare, new, executor)


def updated(
    shard: Shard,
    S: Float,
    N: Float,
    prior: Float,
    priors: Priors,
    n_words: int,
    smallest: float,
    key: np.uint64,
    *,
    counted: bool,
) -> tuple[Shares, Float, float]:
    """Return the new shares of a shard, its expected tables (K,), and its log p of all tokens.

    `S` has the rows of the words as the shard numbers them; W is `n_words`. The shares are `counted` where S and N hold
    them.
    """
    slots = slots_of(smallest, prior.size)
    old, new, tables = shard.shares, Shares.room(shard.word.size, slots), np.zeros(prior.size)
    rest = max(priors.alpha - float(prior.sum()), 0.0) / n_words
    log_p = share_kernels.update_documents(
        shard.indptr,
        shard.word,
        shard.count,
        old.start,
        old.topic,
        old.share,
        S,
        N,
        prior,
        rest,
        priors.eta,
        n_words * priors.eta,
        smallest,
        key,
        shard.first,
        counted,
        new.start,
        new.topic,
        new.share,
        tables,
    )
    return new.trimmed(), tables, log_p


def replace(S: Float, N: Float, parts: Sequence[Shard], new: Sequence[Shares], executor: Executor) -> None:
    """Put new shares in the place of the old ones in S and N; each thread has words of its own, so none waits."""
    edges = np.linspace(0, S.shape[0], RANGES + 1).astype(np.int64)

    def run(words: tuple[int, int]) -> Float:
        change = np.zeros_like(N)
        for shard, now in zip(parts, new, strict=True):
            old = shard.shares
            lists = (old.start, old.topic, old.share, now.start, now.topic, now.share)
            share_kernels.replace_shares(shard.word, shard.count, *lists, *words, S, change)
        return change

    for change in executor.map(run, list(pairwise(edges.tolist()))):
        N += change


def corpus_weights(tables: Float, gamma: float) -> Float:
    """Return beta_k = M_k / (gamma + sum M), (K,).                                  math.md (C2)"""
    return np.maximum(tables / (gamma + tables.sum()), SMALLEST_BETA)


def slots_of(smallest: float, n_topics: int) -> int:
    """Return how many shares a count can have."""
    return n_topics if smallest * n_topics < 1 else min(n_topics, ceil(1 / smallest) + 1)
