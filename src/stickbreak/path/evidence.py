"""What topics say of documents that they have not seen: topics are learned again from the others (docs/math (J1))."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import rounded
from stickbreak.exceptions import InputError
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, by_word, of_words, total_of
from stickbreak.numerics.streams import stream
from stickbreak.prediction.document_weights import collapsed_weights
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.priors import Priors

PARTS = 5  # of the documents; one at a time is set apart
MOST_TOKENS = 50_000  # that are held out of the documents that choose, and of those that score, about
ENOUGH = 0.5  # of both: then no other part is set apart
MOST_TOPICS = 2000  # that are joined pair by pair: the work grows with the third power of their number
MOST_WEIGHTS = 1 << 25  # of topics in documents: 256 MiB
MOST_SHARES = 1 << 30  # of topics in counts: each sweep makes them all
SWEEPS = 20  # until topics have forgotten documents
SMALL_REST = 1e-6  # of the tokens of a word: a smaller rest is none
FEWEST = 2  # tokens of a word in the other documents, for its tokens held out to count
PART, MOST_THREADS = 1 << 18, 4  # tokens of a part of the documents that a thread sweeps, at least


@dataclass(frozen=True, slots=True)
class HeldOutTokens:
    """I counts of words in D documents: stored as a sparse matrix by rows, with the words that occur numbered."""

    indptr: Int  # (D + 1,)
    word: Int  # (I,)  number among `words`
    count: Float  # (I,)
    words: NDArray[np.integer]  # (W',)  their columns in the model

    @classmethod
    def of(cls, counts: sparse.csr_matrix) -> HeldOutTokens:
        """Take them from a table of counts, (D, W)."""
        words, word = np.unique(counts.indices, return_inverse=True)
        return cls(counts.indptr.astype(np.int64), word.astype(np.int64), counts.data.astype(np.float64), words)

    def of_words(self, kept: NDArray[np.bool_]) -> HeldOutTokens:
        """Return the tokens of some words of the model, (W,); the documents stay."""
        own = kept[self.words[self.word]]
        indptr = np.concatenate(([0], np.cumsum(own)))[self.indptr]
        words, word = np.unique(self.word[own], return_inverse=True)
        return HeldOutTokens(indptr, word.astype(np.int64), self.count[own], self.words[words])

    @property
    def n_documents(self) -> int:
        """Documents D."""
        return self.indptr.size - 1

    @property
    def n_tokens(self) -> float:
        """Tokens in all."""
        return float(self.count.sum())

    @property
    def document(self) -> Int:
        """Document of each count, (I,)."""
        return np.repeat(np.arange(self.n_documents), np.diff(self.indptr))

    def by_document(self, values: Float) -> Float:
        """Return the sums of values of the counts, (I,), over each document, (D,)."""
        return np.bincount(self.document, values, minlength=self.n_documents).astype(np.float64)


@dataclass(frozen=True, slots=True)
class SplitDocuments:
    """D documents, half of the tokens of each held out."""

    observed: Corpus
    held_out: HeldOutTokens


@dataclass(frozen=True, slots=True)
class HeldOutDocuments:
    """Documents that are set apart, and the others."""

    choosing: SplitDocuments  # documents that say which topics join
    scoring: SplitDocuments  # and those that say how well topics predict then
    others: Int  # rows of the documents that topics are learned from


def some_documents(corpus: Corpus, n_topics: int, seed: int) -> Corpus:
    """Return the documents that a path looks at: all, or as many as time and memory allow, drawn at random.

    Raises
    ------
    InputError
        If there are more topics than can be joined in a few minutes.
    """
    if n_topics > MOST_TOPICS:
        raise InputError(
            f"the model has {n_topics} topics, too many to join pair by pair; fit with {MOST_TOPICS} or fewer."
        )
    order = stream(seed, "documents of a path of joins").permutation(corpus.n_documents)
    counts = np.cumsum(np.diff(corpus.counts.indptr)[order])
    n = min(int(np.searchsorted(counts, MOST_SHARES // n_topics, side="right")), MOST_WEIGHTS // n_topics)
    return corpus if n >= corpus.n_documents else corpus[np.sort(order[: max(n, 2)])]


def hold_out_documents(corpus: Corpus, seed: int) -> list[HeldOutDocuments]:
    """Set a fifth of the documents apart, then another, until enough tokens are held out.               docs/math (J1)

    Every other document chooses joins, the rest scores them. Half of the tokens of each document are held out. A
    document without a token held out is left out.

    Raises
    ------
    InputError
        If no token is held out of documents of either kind.
    """
    order = stream(seed, "documents apart").permutation(corpus.n_documents)
    scores = np.zeros(corpus.n_documents, dtype=bool)
    scores[order[1::2]] = True
    found, n_tokens = [], np.zeros(2)
    for part in np.array_split(order, PARTS):
        kinds = [_first(corpus, part[scores[part] == kind], n_tokens[int(kind)]) for kind in (False, True)]
        choosing, scoring = (_halves(corpus[rows], seed) for rows in kinds)
        found.append(
            HeldOutDocuments(choosing, scoring, np.setdiff1d(np.arange(corpus.n_documents), np.concatenate(kinds)))
        )
        n_tokens += choosing.held_out.n_tokens, scoring.held_out.n_tokens
        if (n_tokens >= ENOUGH * MOST_TOKENS).all():
            break
    if not n_tokens.all():
        raise InputError(
            f"the documents hold {corpus.n_tokens:.12g} tokens, too few to hold some of them out; give more documents."
        )
    return found


def _first(corpus: Corpus, rows: Int, n_tokens: float) -> Int:
    """Return the first of these rows, in order, with which about MOST_TOKENS tokens are held out."""
    halves = np.cumsum(np.asarray(corpus.document_lengths, dtype=np.float64)[rows]) / 2
    before = n_tokens + np.concatenate([[0.0], halves])[: rows.size]
    return np.sort(rows[before < MOST_TOKENS])


def _halves(corpus: Corpus, seed: int) -> SplitDocuments:
    """Hold out half of the tokens of each document."""
    observed, held = corpus.halves(seed=seed)
    filled = np.flatnonzero(np.diff(held.counts.indptr))
    return SplitDocuments(observed[filled], HeldOutTokens.of(held.counts[filled]))


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
    S: Float, eta: Eta, prior: Float, corpus: Corpus, seed: int, engine: Engine, strength: float = math.inf
) -> tuple[list[Evidence], list[Evidence]]:
    """Set documents apart, learn the topics again from the others, and ask what they say of those.     docs/math (J1)

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
    engine : Engine
    strength : float, default=inf
        Of the topics against the words that a document has; infinite without bursts.

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
    for part in hold_out_documents(corpus, seed):
        others = corpus[part.others]
        pseudo = None if outside is None else sparse.csr_array(outside)
        priors = Priors(prior, float(prior.sum()), eta, pseudo, strength)
        learned, of_words = _learned(S, priors, others, outside, seed, engine), others.counts.sum(axis=0)
        known = np.asarray(of_words).ravel() + (0.0 if outside is None else outside.sum(axis=1)) >= FEWEST
        for halves, evidence in ((part.choosing, choosing), (part.scoring, scoring)):
            held_out = halves.held_out.of_words(known)
            if held_out.word.size:
                evidence.append(_evidence(learned, priors, halves.observed, held_out, engine))
    if not choosing or not scoring:
        raise InputError("the documents have too few words in common to say which topics join; give more documents.")
    return choosing, scoring


def _learned(S: Float, priors: Priors, corpus: Corpus, outside: Float | None, seed: int, engine: Engine) -> Float:
    """Return the counts of topics, (W, K): of those outside and what Gibbs sampling learns.          docs/math (J1)"""
    if not corpus.n_tokens:
        return np.zeros(S.T.shape) if outside is None else outside
    n_parts = min(max(1, int(corpus.n_tokens) // PART), MOST_THREADS)
    chain = Chain(corpus, priors.a.size, seed, n_parts=n_parts, engine=engine)
    chain.begin(chain.near(np.ascontiguousarray(S) + np.finfo(np.float64).tiny))
    for number in range(1, SWEEPS + 1):
        chain.lap(number, priors)
    return chain.mean() if outside is None else outside + chain.mean()


def _evidence(S: Float, priors: Priors, observed: Corpus, held_out: HeldOutTokens, engine: Engine) -> Evidence:
    """Return what topics with these counts, (W, K), say of documents that they have not seen."""
    eta, strength = priors.eta, priors.strength
    mass = S.sum(axis=0) + total_of(eta, len(S))

    def topics(words: NDArray[np.integer] | slice) -> Float:
        return np.asarray((S[words] + by_word(eta, words)) / mass)

    weights = collapsed_weights(observed, topics, priors.a, engine, strength=strength)
    tau = np.ascontiguousarray(S[held_out.words].T) + of_words(eta, held_out.words)
    return Evidence(tau, mass, weights, held_out)


def _outside(S: Float, corpus: Corpus) -> Float | None:
    """Return the expected counts of the documents of the fit that are not at hand, (W, K), if any.    docs/math (J1)"""
    of_fit, at_hand = S.sum(axis=0), np.asarray(corpus.counts.sum(axis=0)).ravel()
    missing = np.maximum(of_fit - at_hand, 0.0)
    missing[missing <= SMALL_REST * of_fit] = 0.0
    if not missing.any():
        return None
    share = np.divide(missing, of_fit, out=np.zeros_like(missing), where=of_fit > 0)
    return np.ascontiguousarray(S.T) * share[:, None]
