"""What is said of the topics of any system, from its word distributions and concentrations alone.

Words that never occur in training are left out: systems differ in whether they know of them at all. Weights of
documents are those of one fixed point for all (zero-order collapsed inference), with the concentrations of the system.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from benchmarks.harness.corpora import Split
from benchmarks.harness.fold_in import SHARE, SMALLEST_WEIGHT, mean
from benchmarks.harness.records import Record
from benchmarks.harness.units import Float
from stickbreak.corpus import Corpus
from stickbreak.evaluation import coherence_of_words, left_to_right
from stickbreak.evaluation.coherence import top_word_indices
from stickbreak.fitting.engine import Engine
from stickbreak.prediction.completion import completion_log_likelihood
from stickbreak.prediction.document_weights import collapsed_weights

# Mimno et al. 2011 add one to joint frequencies.
TOP_WORDS, JOINT = 10, 1.0
PARTICLES, SAMPLE = 20, 50
# Of topics, in left-to-right: its work grows with the square of the length of a document.
MOST_DRAWS = 2e8
SMALLEST_PROBABILITY = 1e-300


def completion(split: Split, topic_word: Float, prior: Float) -> float:
    """Return nats per token of the second halves, words of training only."""
    known = np.flatnonzero(split.seen)
    observed, held_out = (Corpus.from_counts(part.counts[:, known]) for part in (split.observed, split.held_out))
    both = np.flatnonzero((observed.document_lengths > 0) & (held_out.document_lengths > 0))
    topics = _on(known, topic_word)
    with Engine(1) as engine:
        weights = collapsed_weights(observed[both], topics, np.maximum(prior, SMALLEST_WEIGHT), engine)
    return mean(completion_log_likelihood(weights, topics, held_out[both].counts))


def topics_by_size(split: Split, topic_word: Float, prior: Float) -> tuple[np.ndarray, Float]:
    """Return the topics, the one with the most tokens of training first, and these numbers of tokens."""
    with Engine(1) as engine:
        topics = np.maximum(topic_word, SMALLEST_PROBABILITY)
        weights = collapsed_weights(split.train, topics, np.maximum(prior, SMALLEST_WEIGHT), engine)
    tokens = weights.T @ np.asarray(split.train.document_lengths, dtype=np.float64)
    order = np.argsort(-tokens, kind="stable")
    return order, tokens[order]


def topics_in_use(split: Split, topic_word: Float, prior: Float) -> np.ndarray:
    """Return the largest topics, which hold 99 % of the tokens of training."""
    order, tokens = topics_by_size(split, topic_word, prior)
    return order[: int((np.cumsum(tokens) < SHARE * tokens.sum()).sum()) + 1]


def sequential(split: Split, topic_word: Float, prior: Float) -> Record:
    """Return left-to-right nats per token of some held-out documents, at random but the same for all systems."""
    known = np.flatnonzero(split.seen)
    held = Corpus.from_counts((split.observed.counts + split.held_out.counts)[:, known])
    order = np.random.default_rng(0).permutation(np.flatnonzero(held.document_lengths > 0))[:SAMPLE]
    draws = np.cumsum(PARTICLES * held.document_lengths[order].astype(np.float64) ** 2 / 2)
    rows = np.sort(order[: max(1, int((draws <= MOST_DRAWS).sum()))])
    found = left_to_right(_on(known, topic_word), prior, held[rows], n_particles=PARTICLES, n_jobs=1)
    return {"left_to_right": found.unbiased, "left_to_right_documents": found.n_documents}


def coherences(split: Split, topic_word: Float) -> Record:
    """Return means over topics of both coherences of their ten most probable words, in training and held out."""
    top = top_word_indices(topic_word, TOP_WORDS)
    held = Corpus.from_counts(split.observed.counts + split.held_out.counts)
    found: Record = {}
    for place, documents in (("", split.train), ("_held_out", held)):
        found["umass" + place] = _mean(coherence_of_words(top, documents, JOINT))
        found["npmi" + place] = _mean(npmi(top, documents))
    return found


def npmi(top: np.ndarray, corpus: Corpus) -> Float:
    """Return the mean over pairs of words of log[p(v, w) / (p(v) p(w))] / -log p(v, w), of each topic.

    The probabilities are shares of the documents (Lau, Newman and Baldwin 2014). A pair that never occurs together has
    -1, one that is everywhere has 1; pairs of a word that does not occur at all are left out.

    Parameters
    ----------
    top : ndarray of int, of shape (n_topics, M)
        Their most probable words.
    corpus : Corpus
    """
    words, place = np.unique(top, return_inverse=True)
    place = place.reshape(top.shape)
    occurs = sp.csc_array(corpus.counts[:, words] > 0, dtype=np.float64)
    together = (occurs.T @ occurs).tocsr() / corpus.n_documents
    single = together.diagonal()
    first, second = np.tril_indices(top.shape[1], k=-1)
    v, w = place[:, first], place[:, second]
    joint = np.asarray(together[v.ravel(), w.ravel()]).reshape(v.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(joint / (single[v] * single[w])) / -np.log(joint)
    value[joint >= 1] = 1.0
    value[joint == 0] = -1.0
    value[(single[v] == 0) | (single[w] == 0)] = np.nan
    known = ~np.isnan(value)
    return np.where(known, value, 0.0).sum(axis=1) / np.where(known.any(axis=1), known.sum(axis=1), np.nan)


def _on(known: np.ndarray, topic_word: Float) -> Float:
    """Return word distributions of the words that are known."""
    topics = topic_word[:, known]
    return topics / topics.sum(axis=1, keepdims=True)


def _mean(values: Float) -> float | None:
    value = float(np.nanmean(values)) if np.isfinite(values).any() else math.nan
    return None if math.isnan(value) else value
