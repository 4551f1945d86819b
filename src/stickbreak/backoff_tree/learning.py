"""Setting the discounts of a sampler to what its state makes likely."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.discounts import (
    Entries,
    beam_search,
    document_likelihood,
    sample_of_groups,
    word_likelihood,
)
from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.numerics.keys import key_of

LEARNABLE = ("alpha", "eta")
SAMPLE = 20_000  # tokens of a sample, about


def learn(sampler: TreeSampler, name: str, executor: Executor, *, search: bool = True) -> float:
    """Set the discounts of documents ("alpha") or words ("eta") by beam search; return their likelihood.

    Without `search` they stay: leaves at random would only ask for as much smoothing as there can be.

    Documents or words are sampled again each time, by the pass; P* is that of the present leaves.

    Returns
    -------
    float
        Nats per token of the sample, leaving one out.
    """
    rng = np.random.Generator(np.random.Philox(key=int(key_of(sampler.seed, sampler.n_passes, f"learn {name}"))))
    tokens, shape = sampler.tokens, sampler.shape
    if name == "alpha":
        chosen = sample_of_groups(tokens.start, SAMPLE, rng)
        entries = Entries.of(*_members(tokens.start, chosen, sampler.z, None), shape)
        likelihood = document_likelihood(entries, shape)
        if not search:
            return likelihood(sampler.delta_doc)
        sampler.delta_doc, value = beam_search(likelihood, sampler.delta_doc)
        return value
    sampler.prepare(executor)
    chosen = sample_of_groups(tokens.word_start, SAMPLE, rng)
    entries = Entries.of(*_members(tokens.word_start, chosen, sampler.z, tokens.by_word), shape)
    used = np.bincount(sampler.z, minlength=shape.n_leaves) > 0
    likelihood = word_likelihood(entries, np.where(used, sampler.backoff.prob, 0.0), shape)
    if not search:
        return likelihood(sampler.delta_word)
    sampler.delta_word, value = beam_search(likelihood, sampler.delta_word)
    return value


def _members(start: Int, chosen: Int, z: Int32, order: Int32 | Int | None) -> tuple[Int, Int32]:
    """Return group, numbered again, and leaf of all tokens of the chosen documents or words."""
    chosen = chosen[np.diff(start)[chosen] > 0]
    where = np.concatenate([np.arange(start[g], start[g + 1]) for g in chosen])
    group = np.repeat(np.arange(chosen.size), np.diff(start)[chosen])
    return group, z[where if order is None else order[where]]
