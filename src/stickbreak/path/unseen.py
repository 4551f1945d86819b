"""What topics would be without some documents: learned again from the others (math.md (J1))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.fitting.executor import Executor, shards
from stickbreak.numerics.arrays import Float, for_kernels
from stickbreak.numerics.pseudo_counts import Eta, by_word, of_words, total_of
from stickbreak.path.held_out import Halves, HeldOutTokens, set_apart, some_documents
from stickbreak.path.kernels import sweeps as sweep_kernels
from stickbreak.prediction.document_weights import collapsed_weights

SWEEPS = 10  # until topics have forgotten documents
FIRST_SWEEPS = 20  # at most, for the weights that they begin with
_SHARD_COUNTS = 16_384


@dataclass(frozen=True, slots=True)
class Evidence:
    """Tokens of documents that these topics have not seen.

    Attributes
    ----------
    tau : ndarray of shape (K, W')
        Expected counts plus eta of the words of the tokens, in topics that were learned without the documents.
    mass : ndarray of shape (K,)
        Of all words: N_k + W eta.
    theta : ndarray of shape (D, K)
        Weights of the topics in the documents, from their other halves; rows sum to one.
    tokens : HeldOutTokens
    """

    tau: Float
    mass: Float
    theta: Float
    tokens: HeldOutTokens


@dataclass(slots=True)
class Learning:
    """Topics and documents on the way.

    Attributes
    ----------
    S : ndarray of shape (W, K)
        Expected counts.
    outside : ndarray of shape (W, K)
        Those of documents that are not at hand, which stay.
    theta : ndarray of shape (D, K)
        Weights of the topics in the documents, up to a factor of each.
    """

    S: Float
    outside: Float
    theta: Float

    @property
    def N(self) -> Float:
        """Expected tokens of each topic, (K,)."""
        return np.asarray(self.S.sum(axis=0))


def unseen_evidence(
    S: Float, eta: Eta, prior: Float, corpus: Corpus, seed: int, executor: Executor
) -> tuple[list[Evidence], list[Evidence]]:
    """Set documents apart, learn the topics again from the others, and ask what they say of those.     math.md (J1)

    Parameters
    ----------
    S : ndarray of shape (K, W)
        Expected counts of the fit.
    eta : float or ndarray of shape (W,)
        Pseudo-count of a word.
    prior : ndarray of shape (K,)
        Concentrations alpha beta_k.
    corpus : Corpus
        The documents of the fit, or a random part of them.
    seed : int
    executor : Executor

    Returns
    -------
    choosing, scoring : list of Evidence
        Of each part of the documents that was apart: of documents that say which topics join, and of the others.

    Raises
    ------
    InputError
        If there are too few tokens or too many topics.
    """
    corpus = some_documents(corpus, prior.size, seed)
    parts = set_apart(corpus, seed)
    S = np.ascontiguousarray(S.T)
    phi = _words_of(S, eta)
    theta = collapsed_weights(corpus, phi.T, prior, executor, max_sweeps=FIRST_SWEEPS)
    outside = _outside(S, phi, corpus, theta, prior, executor)
    choosing: list[Evidence] = []
    scoring: list[Evidence] = []
    for part in parts:
        learning = Learning(S, outside, theta[part.others])
        for _ in range(SWEEPS):
            sweep(learning, eta, prior, corpus[part.others], executor)
        for halves, found in ((part.choosing, choosing), (part.scoring, scoring)):
            if halves.held_out.n_documents:
                found.append(_evidence(learning.S, eta, prior, halves, executor))
    return choosing, scoring


def _evidence(S: Float, eta: Eta, prior: Float, halves: Halves, executor: Executor) -> Evidence:
    """Return what topics with these counts, (W, K), say of documents that they have not seen."""
    weights = collapsed_weights(halves.observed, _words_of(S, eta).T, prior, executor)
    tau = np.ascontiguousarray(S[halves.held_out.words].T) + of_words(eta, halves.held_out.words)
    return Evidence(tau, S.sum(axis=0) + total_of(eta, len(S)), weights, halves.held_out)


def sweep(learning: Learning, eta: Eta, prior: Float, corpus: Corpus, executor: Executor) -> None:
    """Share the tokens of documents among the topics, and learn both again from the shares.           math.md (J1)"""
    phi = _words_of(learning.S, eta)
    learning.S, learning.theta = shared(phi, corpus, learning.theta, prior, executor)
    learning.S += learning.outside


def shared(phi: Float, corpus: Corpus, theta: Float, prior: Float, executor: Executor) -> tuple[Float, Float]:
    """Return the expected counts of words in topics, (W, K), and the weights that follow, (D, K).

    Parameters
    ----------
    phi : ndarray of shape (W, K)
        Word distributions.
    corpus : Corpus
        D documents.
    theta : ndarray of shape (D, K)
        Weights, up to a factor of each document.
    prior : ndarray of shape (K,)
    executor : Executor
    """
    counts = corpus.counts
    indptr, word, count = counts.indptr.astype(np.int64), for_kernels(counts.indices), counts.data.astype(np.float64)
    ratio, new = np.empty(count.size), np.empty_like(theta)

    def run(rows: tuple[int, int]) -> None:
        first, last = rows
        at = slice(first, last)
        sweep_kernels.ratios(indptr[first : last + 1], word, count, phi, theta[at], prior, ratio, new[at])

    executor.map(run, shards(np.diff(indptr), _SHARD_COUNTS))
    table = sparse.csr_matrix((ratio, counts.indices, counts.indptr), shape=counts.shape)
    return np.asarray(phi * (table.T @ theta)), new


def _words_of(S: Float, eta: Eta) -> Float:
    """Return phi by word, (W, K)."""
    return np.ascontiguousarray((S + by_word(eta)) / (S.sum(axis=0) + total_of(eta, len(S))))


def _outside(S: Float, phi: Float, corpus: Corpus, theta: Float, prior: Float, executor: Executor) -> Float:
    """Return the expected counts of the documents of the fit that are not at hand, (W, K): none if all are."""
    total = float(S.sum())
    missing = max(total - corpus.n_tokens, 0.0)
    rest = np.maximum(S - shared(phi, corpus, theta, prior, executor)[0], 0.0)
    return np.asarray(rest * (missing / max(float(rest.sum()), np.finfo(float).tiny)))
