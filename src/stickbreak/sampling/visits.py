"""What jobs do with a block of documents: top-level functions of what is given and of the block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.sampling.blocks import Counted, Opened, Outcome
from stickbreak.sampling.counts import packed
from stickbreak.sampling.direct import DirectAssignment
from stickbreak.sampling.kernels import direct as direct_kernels
from stickbreak.sampling.kernels import partially_collapsed as kernels
from stickbreak.sampling.kernels import starts as starts_kernels
from stickbreak.sampling.kernels.labels import NO_LABELS
from stickbreak.sampling.kernels.partially_collapsed import Sampled


def assigned(given: tuple[Float, Float, np.uint64, int], opened: Opened) -> Outcome:
    """Draw each token's topic from given topics; find how many tokens each has."""
    phi, prior, key, rounds = given
    rng = np.zeros(1, np.uint64)
    starts_kernels.assign(opened.first, opened.start, opened.word, phi, prior, NO_LABELS, rounds, opened.z, rng, key)
    return Outcome(np.bincount(opened.z, minlength=prior.size), opened.z)


def tabled(given: tuple[Float, np.uint64], opened: Opened) -> Outcome:
    """Draw the tables of all documents, given alpha beta_k; count."""
    prior, key = given
    opened.m = opened.m[:0]
    documents = opened.documents(prior.size)
    direct_kernels.draw_tables(opened.first, opened.start, documents, prior, NO_LABELS, np.zeros(1, np.uint64), key)
    m = packed(opened.start, documents.size, documents.m)
    return Outcome(Counted.of(opened, documents, prior.size), opened.z, m)


def swept(given: tuple[Sampled, tuple[np.uint64, np.uint64]], opened: Opened) -> Outcome:
    """Resample the topics of all tokens and the tables; count."""
    sampled, keys = given
    start, documents = opened.start, opened.no_documents()
    kernels.sweep(0, start.size - 1, opened.first, start, opened.word, opened.z, documents, sampled, keys)
    m = packed(start, documents.size, documents.m)
    return Outcome(Counted.of(opened, documents, sampled.scale.size), opened.z, m)


def counted(n_topics: int, opened: Opened) -> Outcome:
    """Count the topics as they are."""
    return Outcome(Counted.of(opened, opened.documents(n_topics), n_topics))


def topics(given: None, opened: Opened) -> Outcome:
    """Return the topic of each token."""
    return Outcome({"z": opened.z})


def packed_topics(n_topics: int, opened: Opened) -> Outcome:
    """Return all that is kept of a block, in the arrays of a checkpoint."""
    documents = opened.documents(n_topics)
    pairs = {name: packed(opened.start, documents.size, getattr(documents, name)) for name in ("topic", "n", "m")}
    return Outcome({"z": opened.z, "size": documents.size, **pairs})


def listed(wanted: Int32, opened: Opened) -> Outcome:
    """Return the tokens of some topics, topic by topic: their topics, numbers, documents and words."""
    chosen = np.zeros(max(int(opened.z.max(initial=0)), int(wanted.max())) + 1, np.bool_)
    chosen[wanted] = True
    at = np.flatnonzero(chosen[opened.z])
    at = at[np.argsort(opened.z[at], kind="stable")]
    document = np.searchsorted(opened.start, at, side="right") - 1 + opened.first
    return Outcome((opened.z[at], at + opened.token, document.astype(np.int32), opened.word[at]))


def checked(corpus: Corpus, arrays: Mapping[str, NDArray[Any]], n_topics: int) -> Int32:
    """Return what the file of a block holds, from its part of a checkpoint; a ValueError for what cannot be."""
    tokens = Tokens.from_corpus(corpus)
    state = DirectAssignment(tokens)
    state.restore(arrays, n_topics)
    row = np.repeat(np.arange(tokens.n_documents), arrays["size"])
    return np.concatenate((state.z, arrays["m"][np.lexsort((arrays["topic"], row))]))
