"""Counts of a state, its joint log-likelihood, and topics drawn for tokens under given topics."""

import numpy as np
import pytest

from stickbreak.numerics.stirling import stirling_ratios
from stickbreak.numerics.streams import key_of
from stickbreak.sampling.chain import TablePairs, log_joint
from stickbreak.sampling.kernels.counts import count_tokens
from stickbreak.sampling.kernels.documents import NO_LABELS, assign
from stickbreak.sampling.state import Concentrations, DocumentTopics, count_topics

from .chains import tokens_of
from .enumeration import EXACT, Tiny


def state_of(tokens, z, m=None):
    """The topics of documents from z; m of a (document, topic) pair, or one table each."""
    documents = DocumentTopics.empty(tokens)
    count_tokens(tokens.start, z, np.zeros(z.max() + 1, np.int64), documents)
    for d in range(tokens.n_documents):
        for s in range(tokens.start[d], tokens.start[d] + documents.size[d]):
            documents.m[s] = 1 if m is None else m[d, documents.topic[s]]
    return documents


@pytest.mark.parametrize("row", EXACT["table_indicator"][:4], ids=lambda row: f"token {row['token']}")
def test_joint_has_the_stored_value(row):
    tiny = Tiny.named("E")
    tokens, order = tokens_of(tiny.docs, tiny.V)
    z = np.array(row["z"], np.int32)[order] if order is not None else np.array(row["z"], np.int32)
    documents = state_of(tokens, z, {(d, k): count for d, k, count in row["m"]})
    counts = count_topics(tokens, z, documents, int(z.max()) + 1)
    now = Concentrations(tiny.alpha, tiny.gamma, tiny.eta)
    pairs = TablePairs.of_documents(tokens.start, documents)
    found = log_joint(pairs, tokens.lengths, counts, now, stirling_ratios(5))
    assert found == pytest.approx(row["log_joint"], abs=1e-9)


def test_topics_are_drawn_in_proportion_to_word_and_document(seed):
    """Weights of the documents by a plain loop; shares of the draws by many equal documents."""
    phi = np.array([[0.7, 0.2, 0.1], [0.2, 0.2, 0.5], [0.1, 0.6, 0.4]])  # (W, K)
    prior, words, rounds = np.array([0.3, 0.1, 0.2]), np.array([0, 0, 1, 2]), 3
    weight = prior.copy()
    for _ in range(rounds):
        share = phi[words] * weight
        weight = prior + (share / share.sum(axis=1, keepdims=True)).sum(axis=0)
    expected = phi[words] * weight
    expected /= expected.sum(axis=1, keepdims=True)
    repeats = 20_000
    start, word = np.arange(0, 4 * repeats + 1, 4), np.tile(words, repeats).astype(np.int32)
    z, rng = np.zeros(word.size, np.int32), np.zeros(1, np.uint64)
    assign(start, word, phi, prior, NO_LABELS, rounds, z, rng, key_of(seed, 0, "test"))
    found = np.stack([np.bincount(z[i::4], minlength=3) for i in range(4)]) / repeats
    error = np.sqrt(expected * (1 - expected) / repeats)
    assert (np.abs(found - expected) < 5 * error).all()
