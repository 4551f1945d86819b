"""What became of seeded topics in a fit: those whose words moved on, and those that hold little but their seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta, total_of
from stickbreak.prediction.relevance import relevant_words
from stickbreak.prediction.topics import FlatTopics

LEAST = 1 / 6  # of the tokens of its most frequent words, as many as its seeds, that the seeds have
_WORDS, _MOST = 3, 10  # of a topic, and topics, that a sentence names


def told_of_seeds(
    topics: FlatTopics,
    seeds: Mapping[str, Sequence[int]],
    numbers: Sequence[int],
    seed_tokens: float,
    n_tokens: float,
    eta: Eta,
) -> str:
    """Say which seeded topics are not what their seeds say; empty where all are.                   math.md (L17)

    The words of a topic moved on where few of its tokens in the documents are its seeds. It holds little but its seeds
    where it has fewer tokens in the documents than pseudo-tokens.

    Parameters
    ----------
    topics : fitted model
    seeds : mapping of str to sequence of int
        Words of each seed, by their columns.
    numbers : sequence of int
        The topic of each seed.
    seed_tokens : float
        Pseudo-tokens of each topic.
    n_tokens : float
        Tokens of the documents of the fit.
    eta : float or ndarray of shape (W,)
        Pseudo-count of a word that is in no seed.

    Returns
    -------
    str
        Sentences, with what to do.
    """
    moved, bare = [], []
    for k, (name, words) in zip(numbers, seeds.items(), strict=True):
        tokens = float(topics.topic_shares_[k]) * n_tokens
        if tokens < seed_tokens:
            bare.append(f"{k} ({name})")
        elif moved_on(topics.word_distributions([k])[0], words, seed_tokens, tokens, eta):
            moved.append(f"{k} ({name}: now {', '.join(_others(topics, k, words))})")
    found = []
    if moved:
        found.append(
            f"Topics whose words moved on from their seeds: {_listed(moved)}. Give them more seeds, other ones, or "
            "somewhat more seed_tokens (--seed-tokens)."
        )
    if bare:
        found.append(
            f"Seeded topics that hold little but their seeds: {_listed(bare)}. Give fewer seed_tokens (--seed-tokens), "
            "or words that more documents have."
        )
    return " ".join(found)


def moved_on(phi: Float, words: Sequence[int], seed_tokens: float, tokens: float, eta: Eta) -> bool:
    """Return whether a topic has few of its seeds in the documents.

    Parameters
    ----------
    phi : ndarray of shape (W,)
        Its word distribution, with pseudo-tokens.
    words : sequence of int
        Its seeds.
    seed_tokens, tokens : float
        Its pseudo-tokens, and its tokens in the documents.
    eta : float or ndarray of shape (W,)
        Pseudo-count of a word, which its word distribution has besides.
    """
    seen = phi * (tokens + seed_tokens + float(total_of(eta, phi.size))) - eta
    seen[list(words)] -= seed_tokens / len(words)
    seen = np.maximum(seen, 0.0)
    return bool(seen[list(words)].sum() < LEAST * np.sort(seen)[-len(words) :].sum())


def _others(topics: FlatTopics, k: int, words: Sequence[int]) -> list[str]:
    """Return the most relevant words of a topic that are not its seeds."""
    (row,) = relevant_words(topics, np.array([k]), _WORDS + len(words))
    return [str(topics.vocabulary_[w]) for w in row if w not in set(words)][:_WORDS]


def _listed(texts: Sequence[str]) -> str:
    """Return some texts in a row."""
    more = f" and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    return ", ".join(texts[:_MOST]) + more
