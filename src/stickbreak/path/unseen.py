"""What topics would be without some documents: learned again from the others (math.md (J1))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import rounded
from stickbreak.exceptions import InputError
from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta, by_word, of_words, total_of
from stickbreak.path.held_out import HeldOutTokens, set_apart, some_documents
from stickbreak.prediction.document_weights import collapsed_weights
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.priors import Priors

SWEEPS = 20  # until topics have forgotten documents
ROUNDED = 1e-6  # of the tokens of a word: a smaller rest is none
FEWEST = 2  # tokens of a word in the other documents, for its tokens held out to count
PART, MOST_PARTS = 1 << 18, 4  # tokens of a part of the documents that a thread sweeps, at least


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
    corpus = rounded(corpus, seed)
    outside = _outside(S, corpus)
    choosing: list[Evidence] = []
    scoring: list[Evidence] = []
    for part in set_apart(corpus, seed):
        others = corpus[part.others]
        learned = outside + _learned(S, eta, prior, others, outside, seed, executor)
        known = np.asarray(others.counts.sum(axis=0)).ravel() + outside.sum(axis=1) >= FEWEST
        for halves, evidence in ((part.choosing, choosing), (part.scoring, scoring)):
            held_out = halves.held_out.of_words(known)
            if held_out.word.size:
                evidence.append(_evidence(learned, eta, prior, halves.observed, held_out, executor))
    if not choosing or not scoring:
        raise InputError("the documents have too few words in common to say which topics join; give more documents.")
    return choosing, scoring


def _learned(S: Float, eta: Eta, prior: Float, corpus: Corpus, outside: Float, seed: int, executor: Executor) -> Float:
    """Return the mean counts of topics that Gibbs sampling learns from documents, (W, K).            math.md (J1)"""
    if not corpus.n_tokens:
        return np.zeros_like(outside)
    n_parts = min(max(1, int(corpus.n_tokens) // PART), MOST_PARTS)
    chain = Chain(corpus, prior.size, seed, n_parts=n_parts, executor=executor)
    chain.begin(chain.near(np.ascontiguousarray(S) + np.finfo(np.float64).tiny))
    priors = Priors(prior, float(prior.sum()), eta, sparse.csr_array(outside) if outside.any() else None)
    for number in range(1, SWEEPS + 1):
        chain.lap(number, priors)
    return chain.mean()


def _evidence(
    S: Float, eta: Eta, prior: Float, observed: Corpus, held_out: HeldOutTokens, executor: Executor
) -> Evidence:
    """Return what topics with these counts, (W, K), say of documents that they have not seen."""
    phi = (S + by_word(eta)) / (S.sum(axis=0) + total_of(eta, len(S)))
    weights = collapsed_weights(observed, phi.T, prior, executor)
    tau = np.ascontiguousarray(S[held_out.words].T) + of_words(eta, held_out.words)
    return Evidence(tau, S.sum(axis=0) + total_of(eta, len(S)), weights, held_out)


def _outside(S: Float, corpus: Corpus) -> Float:
    """Return the expected counts of the documents of the fit that are not at hand, (W, K).            math.md (J1)"""
    of_fit, at_hand = S.sum(axis=0), np.asarray(corpus.counts.sum(axis=0)).ravel()
    missing = np.maximum(of_fit - at_hand, 0.0)
    missing[missing <= ROUNDED * of_fit] = 0.0
    share = np.divide(missing, of_fit, out=np.zeros_like(missing), where=of_fit > 0)
    return np.ascontiguousarray(S.T) * share[:, None]
