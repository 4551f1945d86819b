"""Planted collections that seeds, labels and updates are tried on."""

from typing import Any

import numpy as np

from stickbreak.corpus import Corpus

OWN = 12  # words of a topic that are its own: a0, a1, ... of topic 0, b0, ... of topic 1
WORDS = [f"{'abcdefgh'[w // OWN]}{w % OWN}" for w in range(8 * OWN)]


def topics(n_topics: int) -> np.ndarray:
    """Word distributions (K, W) of topics with words of their own."""
    phi = np.full((n_topics, len(WORDS)), 0.03)
    for k in range(n_topics):
        phi[k, k * OWN : (k + 1) * OWN] += 1
    return phi / phi.sum(axis=1, keepdims=True)


def documents(n: int, of: list[int], seed: int, *, tokens: int = 40) -> Corpus:
    """Documents of some of the topics."""
    rng, phi = np.random.default_rng(seed), topics(8)
    theta = rng.dirichlet(np.full(len(of), 0.15), n)
    counts = [rng.multinomial(tokens, row @ phi[of] / (row @ phi[of]).sum()) for row in theta]
    return Corpus.from_counts(np.array(counts), vocabulary=WORDS)


def labelled_documents(n: int, seed: int) -> tuple[Corpus, list[list[str]]]:
    """Documents with one or two of four labels each, and of two topics that are of no label."""
    rng, phi, rows, labels = np.random.default_rng(seed), topics(6), [], []
    for _ in range(n):
        own = list(rng.choice(4, size=1 + (rng.random() < 0.3), replace=False))
        theta = rng.dirichlet([1.0] * len(own) + [0.6, 0.6])
        rows.append(rng.multinomial(40, theta @ phi[[*own, 4, 5]]))
        labels.append([f"L{k}" for k in own])
    return Corpus.from_counts(np.array(rows), vocabulary=WORDS), labels


def matched(model: Any, n_topics: int) -> list[int]:
    """The planted topic that each topic of a model is nearest to."""
    return [int(k) for k in np.argmax(np.sqrt(model.topic_word_) @ np.sqrt(topics(n_topics)).T, axis=1)]
