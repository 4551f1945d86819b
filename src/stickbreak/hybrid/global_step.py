"""A step of the globals towards what the documents of a minibatch, scaled up, ask for.

First the columns of an unbounded top level: topics that vanish leave theirs, and there is always one for a new topic.
Then the step itself. Then alpha, gamma and eta, learned from the samples (docs/math (B8)-(B10)): each moves to the mean
or the maximum of the distribution from which the samplers would draw it, with a Gamma prior. Expected tables and tokens
replace those of a sweep.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.special import digamma

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting import hyperparameters
from stickbreak.fitting.checks import check_bytes
from stickbreak.fitting.hyperparameters import CONCENTRATION_LIMITS, LARGE, PRIOR, digamma_gain, mean_alpha
from stickbreak.hybrid.document_sampler import SampledTopics
from stickbreak.hybrid.kernels.words import poisson_tails
from stickbreak.hybrid.state import HybridState, LearnedPriors, Priors
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.ranges import ETA_LIMITS, MEAN_FIELD_ETA

VANISHED_TOKENS = 1e-3  # a topic with fewer expected tokens leaves its column
LEAST_TOKENS = 0.1  # of a pair that is kept; fewer are rounded
LIMITS = (MEAN_FIELD_ETA, ETA_LIMITS[1])
ETA_EVERY = 32  # steps; and at the steps 1, 2, 4, 8, 16


def make_room(state: HybridState, n_words: int) -> None:
    """Before a step, empty the columns of topics that have vanished, and see to it that one is free.  docs/math (B7)

    A topic of S tokens has words within S / (S + W eta) of the prior, and at most S tables: it is a second slot, with a
    share S / gamma of the weight of the first one. So nothing is lost with it that a new topic could not be.

    The number of columns doubles when all are taken, and is cut down when three quarters are free: the memory follows
    the topics that are alive. What changes is changed in copies: a call that fails later takes up the former arrays.

    `state`: unbounded; it is given other arrays. `n_words`: words of the minibatch. Raises InputError if the topics do
    not fit into the memory.
    """
    gone = (state.tokens < VANISHED_TOKENS) | (state.tables == 0)
    vanished = np.flatnonzero(gone & ((state.tokens > 0) | (state.tables > 0)))
    kept = np.setdiff1d(np.flatnonzero(state.tables), vanished)
    n_columns, n_alive = state.n_topics, kept.size
    wanted = n_columns
    if n_alive == n_columns:
        wanted = 2 * n_columns
        check_columns(n_words, wanted, f"the fit has found {n_alive} topics")
    elif n_columns > 8 and 4 * (n_alive + 1) <= n_columns:
        wanted = 2 * (n_alive + 1)
    if vanished.size or wanted != n_columns:
        state.pairs, state.tokens, state.tables = state.pairs.copy(), state.tokens.copy(), state.tables.copy()
        state.pairs.drop(vanished)
        state.tokens[vanished], state.tables[vanished] = 0.0, 0.0
    if wanted != n_columns:
        _resize(state, kept, wanted)


def check_columns(n_words: int, n_columns: int, what: str) -> None:
    """Refuse more columns than the memory can carry: weights of the words of a minibatch, twice for the mean field."""
    needed = 8.0 * 2.0 * n_words * n_columns
    check_bytes(f"{what}: with {n_words} words in a minibatch it", needed, "give fewer topics or smaller minibatches")


def _resize(state: HybridState, kept: np.ndarray, n_columns: int) -> None:
    """Give the state another number of columns; those that are kept come first."""
    tokens, tables = np.zeros((2, n_columns))
    tokens[: kept.size], tables[: kept.size] = state.tokens[kept], state.tables[kept]
    state.pairs.renumber(kept, n_columns)
    state.tokens, state.tables = tokens, tables


def take_step(
    state: HybridState, tokens: Tokens, words: Int32, found: SampledTopics, share: float, size: float, key: np.uint64
) -> None:
    """Move the globals by a step; only pairs (word, topic) of the documents are written.          docs/math (B5)

        S <- (1 - xi) S + xi s N,    M <- (1 - xi) M + xi s T,    s = D / (|M| saved sweeps)

    Pairs of the minibatch's words that have decayed to little are rounded at random, to nothing or to the least that is
    kept: LEAST_TOKENS, or half of what a token adds now, so that what a step adds is there in the next. What is known
    of topics before is no less than that, and a step takes nothing of it.                           docs/math (L17)

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


def learn_from(
    state: HybridState, names: Collection[str], priors: Priors, lengths: Int, share: float, size: float
) -> None:
    """Move the hyperparameters after a step; what they are then is in `state.learned`.

    `state`: after the step. `learned` is changed. `priors`: under which the documents were sampled. `lengths` (D_b,):
    tokens of the documents of the minibatch. `share`: d / |M|, documents of all to those of the minibatch. `size`: xi
    of the step.
    """
    alpha, gamma, eta = priors.alpha, priors.gamma, priors.eta
    closed, further = (share * part for part in table_statistics(alpha, lengths))
    if state.learned is not None:
        before = state.learned
        closed = before.closed + size * (closed - before.closed)
        further = before.digamma_gain + size * (further - before.digamma_gain)
    if "alpha" in names:
        alpha = mean_alpha(max(state.tables.sum() - state.n_kept - closed, 0.0), further)  # (B8)
    if "gamma" in names:
        gamma = best_gamma(state, gamma)
    if isinstance(eta, np.ndarray):
        eta = float(eta.mean())  # it is not learned: that of the fit stays
    elif "eta" in names and eta_is_due(state.n_steps):
        eta = best_eta(state, eta)
    state.learned = LearnedPriors(alpha, gamma, eta, closed, further)


def table_statistics(alpha: float, lengths: Int | Float) -> tuple[float, float]:
    """Return sum_d N_d / (N_d + alpha) and sum_d psi(alpha + 1 + N_d) - psi(alpha + 1).              docs/math (B8)"""
    n = np.asarray(lengths, dtype=np.float64)
    return float((n / (n + alpha)).sum()), digamma_gain(alpha + 1.0, n)


def best_gamma(state: HybridState, start: float) -> float:
    """Return the gamma that maximises its posterior given the tables M, in log gamma.               docs/math (B9)"""
    M = state.tables[state.tables > 0]
    total, K, n_kept = float(M.sum()), state.n_topics, state.n_kept
    before = (np.arange(M.size) < n_kept).astype(np.float64)  # tables that are known

    def slope(gamma: float) -> float:
        if state.unbounded:
            of_topics = alive / gamma
        else:
            of_topics = float((digamma(gamma / K + M) - digamma(gamma / K + before)).sum()) / K
        return float(PRIOR.shape / gamma - PRIOR.rate + of_topics - (digamma(gamma + total) - digamma(gamma + n_kept)))

    alive = state.alive().size - n_kept
    return maximiser(slope, start, CONCENTRATION_LIMITS)


def best_eta(state: HybridState, start: float) -> float:
    """Return the eta that maximises its expected posterior, for counts n_kw ~ Poisson(S_kw).        docs/math (B10)"""
    S, tokens = state.pairs.expected(), state.tokens
    if state.known is not None:  # of the other topics, whose prior it is
        S, tokens = S[state.pairs.topics() >= state.n_kept], tokens[state.n_kept :]
    tails, many = poisson_tails(S, LARGE), S[S > LARGE]
    return hyperparameters.best_eta(tails, many, tokens, state.n_words, start, LIMITS)


def eta_is_due(step: int) -> bool:
    """Tell whether eta is learned after a step: it costs a pass over all pairs of words and topics.

    Examples
    --------
    >>> [step for step in range(1, 100) if eta_is_due(step)]
    [1, 2, 4, 8, 16, 32, 64, 96]
    """
    return step % ETA_EVERY == 0 or (step < ETA_EVERY and step & (step - 1) == 0)
