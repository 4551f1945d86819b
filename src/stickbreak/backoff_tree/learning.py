"""Setting the discounts of a sampler to what its state makes likely."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.blocks import Blocks
from stickbreak.backoff_tree.discounts import (
    Entries,
    beam_search,
    document_likelihood,
    sample_of_groups,
    word_likelihood,
)
from stickbreak.backoff_tree.lists import Totals
from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.state import WordCounts
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.numerics.streams import key_of

LEARNABLE = ("alpha", "eta")
SAMPLE = 20_000  # tokens of a sample, about


def learn(sampler: TreeSampler, name: str, engine: Engine, *, search: bool = True) -> float:
    """Set the discounts of documents ("alpha") or words ("eta") by beam search; return their likelihood.

    Without `search` they stay: leaves at random would only ask for as much smoothing as there can be.

    Documents or words are sampled again each time, by the pass; P* is that of the present leaves.

    Returns
    -------
    float
        Nats per token of the sample.
    """
    key = key_of(sampler.seed, sampler.n_passes, f"learn {name}")
    rng, shape = np.random.Generator(np.random.Philox(key=int(key))), sampler.shape
    if name == "alpha":
        likelihood = document_likelihood(*_of_documents(sampler.blocks, rng), key, shape)
        if not search:
            return likelihood(sampler.delta_doc)
        sampler.delta_doc, value = beam_search(likelihood, sampler.delta_doc)
        return value
    counts, totals = sampler.counts(engine)
    entries = Entries.of(*_of_words(counts, totals, rng), shape)
    likelihood = word_likelihood(entries, np.where(totals.n_tokens > 0, sampler.solve(engine).prob, 0.0), shape)
    if not search:
        return likelihood(sampler.delta_word)
    sampler.delta_word, value = beam_search(likelihood, sampler.delta_word)
    return value


def _of_documents(blocks: Blocks, rng: np.random.Generator) -> tuple[Int, Int32]:
    """Return where the tokens of some documents begin, and the leaf of each."""
    chosen, lengths = sample_of_groups(blocks.start, SAMPLE, rng), np.diff(blocks.start)
    chosen = chosen[lengths[chosen] > 0]
    return np.concatenate(([0], np.cumsum(lengths[chosen]))), np.concatenate(blocks.of_documents(chosen))


def _of_words(counts: WordCounts, totals: Totals, rng: np.random.Generator) -> tuple[Int, Int32]:
    """Return word, numbered again, and leaf of all tokens of some words."""
    chosen = sample_of_groups(np.concatenate(([0], np.cumsum(totals.of_word))), SAMPLE, rng)
    chosen = chosen[totals.of_word[chosen] > 0]
    where = np.concatenate([np.arange(counts.start[w], counts.start[w + 1]) for w in chosen])
    leaf = np.repeat(counts.leaf[where], counts.n[where])
    return np.repeat(np.arange(chosen.size), totals.of_word[chosen]), leaf
