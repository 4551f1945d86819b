"""Splits: a topic becomes two where the minibatch is explained better by it (docs/math (O13), (O14))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaln, psi, xlogy

from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak_baselines.online.direct.local_step import Visit
from stickbreak_baselines.online.direct.weights import LEAST
from stickbreak_baselines.online.topics import evidence

SWEEPS = 10  # of the restricted local step
LEAST_TOKENS = 1e-3  # of a count in the topic; fewer do not take part


@dataclass(frozen=True, slots=True)
class Part:
    """The tokens of one topic in a minibatch."""

    document: Int  # (n,)
    word: Int  # (n,)
    tokens: Float  # (n,)  c_dw r_dwk
    n_documents: int
    n_words: int

    @classmethod
    def of(cls, visit: Visit, k: int) -> Part:
        """Take those of topic k."""
        tokens = visit.tokens_of(k)
        kept = tokens > LEAST_TOKENS
        word = visit.minibatch.word[kept].astype(np.int64)
        return cls(visit.document[kept], word, tokens[kept], visit.N.shape[0], visit.S.shape[0])

    def by_document(self, tokens: Float) -> Float:
        """Return sums over the words of each document, (D_b,)."""
        return np.bincount(self.document, tokens, self.n_documents).astype(np.float64)

    def by_word(self, tokens: Float) -> Float:
        """Return sums over the documents of each word, (W_b,)."""
        return np.bincount(self.word, tokens, self.n_words).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Split:
    """A topic shared out between two halves."""

    gain: float  # of the bound, in nats of all documents
    words: Float  # (2, W_b)  tokens of the halves in the minibatch
    tables: Float  # (2,)  share of the tables of the topic


def halves(part: Part, prior: float, share: float, eta: Eta, total_eta: float, rng: np.random.Generator) -> Float:
    """Share the tokens of a topic out between two halves, in a local step that is restricted to them.  docs/math (O13)

    Parameters
    ----------
    part : Part
    prior : float
        alpha beta_k of the topic.
    share : float
        Documents of all to those of the minibatch.
    eta : float or ndarray of shape (W_b,)
        Of the words of the minibatch.
    total_eta : float
        Of all words.
    rng : Generator
        Of the two documents with which the halves begin.

    Returns
    -------
    ndarray of shape (n,)
        The share of the first half in each count.
    """
    half = _begin(part, eta, rng)
    for _ in range(SWEEPS):
        tokens = np.array([part.tokens * half, part.tokens * (1.0 - half)])
        N = np.array([part.by_document(row) for row in tokens])
        S = share * np.array([part.by_word(row) for row in tokens])
        log_phi = psi(eta + S) - psi(total_eta + S.sum(axis=1, keepdims=True))
        log_pi = psi(_weights(N.sum(axis=1), prior)[:, None] + N)
        half = expit((log_phi[0] - log_phi[1])[part.word] + (log_pi[0] - log_pi[1])[part.document])
    return half


def judge(part: Part, half: Float, prior: float, share: float, eta: Eta, gamma: float, total_eta: float) -> Split:
    """Return what the bound gains by a split into these halves.                                      docs/math (O14)"""
    tokens = np.array([part.tokens * half, part.tokens * (1.0 - half)])
    N, words = (np.array([sums(row) for row in tokens]) for sums in (part.by_document, part.by_word))
    weights, entropy = _weights(N.sum(axis=1), prior), -xlogy(half, half) - xlogy(1.0 - half, 1.0 - half)
    documents = float(part.tokens @ entropy) - float((gammaln(prior + N.sum(axis=0)) - gammaln(prior)).sum())
    documents += float((gammaln(weights[:, None] + N) - gammaln(weights[:, None])).sum())
    topics = evidence(share * words, eta, total_eta).sum()
    topics -= evidence(share * words.sum(axis=0)[None], eta, total_eta).sum()
    return Split(share * documents + float(topics + np.log(gamma)), words, weights / weights.sum())


def _begin(part: Part, eta: Eta, rng: np.random.Generator) -> Float:
    """Return the share of the first half in each count: documents go to the nearer of two documents. docs/math (O13)"""
    size = part.by_document(part.tokens)
    base = part.by_word(part.tokens) + eta
    base /= base.sum()
    chosen, log_phi = rng.choice(size.size, p=size / size.sum()), []
    for _ in range(2):
        own = part.document == chosen
        counts = np.bincount(part.word[own], part.tokens[own], part.n_words)
        phi = (counts / max(counts.sum(), 1e-300) + base) / 2.0
        log_phi.append(np.log(phi / base))
        far = part.by_document(part.tokens * np.maximum(-log_phi[0][part.word], 0.0))
        chosen = rng.choice(size.size, p=far / far.sum()) if far.sum() > 0.0 else chosen
    nearer = part.by_document(part.tokens * (log_phi[0] - log_phi[1])[part.word])
    return expit(nearer)[part.document]


def _weights(tokens: Float, prior: float) -> Float:
    """Return alpha beta of the halves, in proportion to their tokens, (2,)."""
    found: Float = np.maximum(prior * tokens / max(float(tokens.sum()), 1e-300), LEAST)
    return found
