"""Learning alpha from documents that no topic has seen, where passes are sampled (math.md (C24)).

Draws make short documents purer than they are. What their own counts say of alpha then falls from pass to pass, far
below the value that predicts best, and topics stop changing. Documents that are set apart have no part in the draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stickbreak.collapsed.learning import learn
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import completed
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.collapsed.walking import Documents, are_short
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import CONCENTRATION_LIMITS, PRIOR
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.pseudo_counts import of_words, total_of

FIRST = 5  # sampled passes, after which alpha is judged; then again after twice as many each time
JUDGED = 20  # of them, where there is no trial: after these alpha stays
LEAST = 1 << 18  # stored counts: of fewer, the topics of one pass carry so much noise that alpha is found too large


@dataclass(frozen=True, slots=True)
class Drawn:
    """Topics that passes with draws have led to, or one of them."""

    S: Float  # (W, K)
    N: Float  # (K,)  their sums
    beta: Float  # (K,)  expected weights
    priors: Priors  # of the passes


def says_alpha(documents: Documents) -> bool:
    """Return whether documents that are set apart say better than draws which alpha there is.         math.md (C24)"""
    return documents.n_counts >= LEAST and are_short(documents.n_documents, documents.n_counts)


def is_due(number: int) -> bool:
    """Return whether alpha is judged after a sampled pass: after 5, 10, 20, 40 and so on.             math.md (C24)"""
    times, rest = divmod(number, FIRST)
    return rest == 0 and times > 0 and times & (times - 1) == 0


def learn_drawn(
    state: CollapsedState,
    priors: Priors,
    rules: Rules,
    number: int,
    judges: Sequence[Shard] | None,
    lengths: Float,
    seed: int,
    engine: Engine,
) -> Priors:
    """Return the hyperparameters after a sampled pass.                           math.md (C5), (C6), (C7), (C24)

    Parameters
    ----------
    state : CollapsedState
    priors : Priors
        Of the pass.
    rules : Rules
    number : int
        Of the pass, from 1: alpha is judged after those of `is_due`.
    judges : sequence of Shard or None
        Documents set apart, as of `documents_apart`: they say what alpha is; where there are none of them, it stays.
        None: the draws say it.
    lengths : ndarray of shape (D,)
        Tokens of the documents.
    seed : int
    engine : Engine
    """
    if judges is None or "alpha" not in rules.learn:
        return learn(state, priors, rules.learn, lengths)
    priors = learn(state, priors, [name for name in rules.learn if name != "alpha"], lengths)
    if not judges or not is_due(number):
        return priors
    most = max(rules.priors.alpha, priors.alpha)
    topics = Drawn(state.S, state.N, state.beta, priors)
    return replace(priors, alpha=predictive_alpha(topics, judges, most, seed, engine))


def predictive_alpha(topics: Drawn, documents: Sequence[Shard], most: float, seed: int, engine: Engine) -> float:
    """Return the alpha that best predicts the tokens held out of documents, from the other tokens.    math.md (C24)

    Parameters
    ----------
    topics : Drawn
        Of topics that have yet to form, alpha would grow.
    documents : sequence of Shard
        Those that are set apart, half of the tokens of each held out.
    most : float
        The largest alpha.
    seed : int
    engine : Engine
    """
    S, N, beta, priors = topics.S, topics.N, topics.beta, topics.priors
    total_eta = float(total_of(priors.eta, S.shape[0]))
    unseen = max(1.0 - float(beta.sum()), 0.0) / total_eta

    def run(given: Shard) -> Float:
        shard = completed(given, S, N, priors.alpha * beta, priors, seed)
        weights, lengths = _weights_of_topics(shard, beta.size)
        assert given.held is not None
        held = np.flatnonzero(given.held)
        document = np.repeat(np.arange(lengths.size), np.diff(shard.indptr))[held]
        eta = of_words(priors.eta, shard.word[held])
        phi = (S[shard.word[held]] + np.reshape(eta, (-1, 1))) / (N + total_eta)
        own = np.einsum("ik,ik->i", weights[document], phi)
        return np.stack([own, phi @ beta + unseen * eta, lengths[document], given.held[held]])

    own, common, lengths, count = np.concatenate(engine.map(run, list(documents)), axis=1)

    if not count.any():  # weights below one are never held out
        return priors.alpha

    def slope(alpha: float) -> float:
        of_tokens = common / (own + alpha * common) - 1.0 / (lengths + alpha)
        return float(PRIOR.shape / alpha - PRIOR.rate + count @ of_tokens)

    return maximiser(slope, min(priors.alpha, most), (CONCENTRATION_LIMITS[0], most))


def _weights_of_topics(shard: Shard, n_topics: int) -> tuple[Float, Float]:
    """Return the tokens of documents in topics, (D', K), and in all, (D',)."""
    shares, n_documents = shard.shares, shard.indptr.size - 1
    document = np.repeat(np.arange(n_documents), np.diff(shard.indptr))
    count = np.repeat(np.arange(shard.word.size), np.diff(shares.start))  # that has each share
    weights = np.zeros((n_documents, n_topics))
    np.add.at(weights, (document[count], shares.topic), shard.count[count] * shares.share)
    return weights, np.bincount(document, shard.count, n_documents).astype(np.float64)
