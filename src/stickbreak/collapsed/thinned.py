"""Some of the documents with their shares: enough to see where large topics part (math.md (C22))."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.shards import Shard, Shares
from stickbreak.collapsed.walking import Documents, Outcome
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.streams import stream_at

TOKENS = 1 << 14  # of a topic in the documents that are drawn, on average: at least as many
DOCUMENTS = 1 << 8  # at least as many are drawn: a few long ones may lack the words in which halves differ
MOST = 16  # the largest m: at least one document in 16 is drawn


def thinning(n_tokens: float, n_topics: int, n_documents: int) -> int:
    """Return m, where one document in m is enough: 1 for few tokens a topic, or few documents.      math.md (C22)"""
    return min(MOST, max(1, min(int(n_tokens / (n_topics * TOKENS)), n_documents // DOCUMENTS)))


def one_in(documents: Documents, n_tokens: float, n_topics: int, engine: Engine) -> int:
    """Return m for documents: only those with tokens that take part count."""
    if thinning(n_tokens, n_topics, documents.n_documents) == 1:  # without a look at the documents
        return 1
    return thinning(n_tokens, n_topics, int(np.count_nonzero(documents.lengths(engine))))


def thinned(documents: Documents, m: int, seed: int, lap: int, engine: Engine) -> InMemory:
    """Return one document in m, drawn at random, with the shares of the tokens that take part.

    Parameters
    ----------
    documents : Documents
        Those without tokens are left out.
    m : int
    seed : int
    lap : int
        Each has draws of its own.
    engine : Engine
    """
    drawn: list[Shard] = documents.walk(engine, draw, (m, seed, lap)).listed
    sizes = np.concatenate([np.diff(shard.indptr) for shard in drawn] or [np.zeros(0, np.int64)])
    word = np.concatenate([shard.word for shard in drawn] or [np.zeros(0, np.int32)])
    count = np.concatenate([shard.count for shard in drawn] or [np.zeros(0)])
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    some = InMemory(Corpus(sp.csr_matrix((count, word, indptr), shape=(sizes.size, documents.n_words))))
    each = np.concatenate([np.diff(shard.shares.start) for shard in drawn] or [np.zeros(0, np.int64)])
    start = np.concatenate(([0], np.cumsum(each)))
    topic = np.concatenate([shard.shares.topic for shard in drawn] or [np.zeros(0, np.uint16)])
    share = np.concatenate([shard.shares.share for shard in drawn] or [np.zeros(0, np.float32)])
    begin = 0
    for shard in some.shards:
        own = start[begin : begin + shard.word.size + 1]
        begin, entries = begin + shard.word.size, slice(own[0], own[-1])
        shard.shares = Shares(own - own[0], topic[entries], share[entries])
    return some


def draw(given: tuple[int, int, int], shard: Shard) -> Outcome:
    """List some documents of a shard, as one shard."""
    (m, seed, lap), sizes, shares = given, np.diff(shard.indptr), shard.shares
    drawn = stream_at(seed, f"documents of halves in lap {lap}", shard.first).random(sizes.size) * m < 1.0
    counts = np.repeat(drawn, sizes) & (shard.count > 0.0)
    document, each = np.repeat(np.arange(sizes.size), sizes)[counts], np.diff(shares.start)
    left = np.bincount(document, minlength=sizes.size)
    indptr = np.concatenate(([0], np.cumsum(left[left > 0])))
    entries, start = np.repeat(counts, each), np.concatenate(([0], np.cumsum(each[counts])))
    own = Shares(start, shares.topic[entries], shares.share[entries])
    return Outcome(listed=[Shard(shard.first, indptr, shard.word[counts], shard.count[counts], own)])
