"""Tokens that are left aside: held out to judge moves, or of whole documents that are set apart to judge topics.

What is left aside follows from a few numbers. So it is never stored, and every part of a collection finds its own.
"""

from __future__ import annotations

import numpy as np

from stickbreak.collapsed.shards import Aside, Shard, Shares
from stickbreak.collapsed.walking import Outcome
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream_at

APART, MOST_APART = 0.05, 50_000.0  # of the documents, and of their tokens at most: they say which passes are better
LEAST_APART = 40  # documents, if they are at most a twentieth: of long ones these have more tokens
FEWEST_DOCUMENTS = 200


def share_apart(n_documents: int, n_tokens: float) -> float:
    """Return the share of the documents that is set apart; collections of few documents keep all of them."""
    if n_documents < FEWEST_DOCUMENTS:
        return 0.0
    return min(APART, max(MOST_APART / max(n_tokens, 1.0), LEAST_APART / n_documents))


def parted(
    count: Float, indptr: Int, first: int, aside: Aside, held: Float | None = None
) -> tuple[Float, Float | None, Float | None]:
    """Return the counts of consecutive documents that take part, those held out and those set apart.

    What is held out need not be drawn if it is given.
    """
    apart = None
    if aside.apart:
        rng = stream_at(aside.apart_seed, "documents set apart", first)
        chosen = np.repeat(rng.random(indptr.size - 1) < aside.apart, np.diff(indptr))
        apart = np.where(chosen, count, 0.0)
        count = count - apart
    if aside.held and held is None:
        rng = stream_at(aside.held_seed, f"tokens held back in turn {aside.turn}", first)
        held = rng.binomial(np.floor(count).astype(np.int64), aside.held).astype(np.float64)
    if held is not None:
        count = count - held
    return count, held, apart


def halved(seed: int, shard: Shard) -> Outcome:
    """List the documents of a shard that are set apart, as one shard, half of the tokens of each held out.

    It numbers them newly, from the number of its first document on.
    """
    if shard.apart is None or not shard.apart.any():
        return Outcome()
    own, sizes = shard.apart > 0, np.diff(shard.indptr)
    document = np.repeat(np.arange(sizes.size), sizes)
    kept = np.bincount(document[own], minlength=sizes.size)
    indptr = np.concatenate(([0], np.cumsum(kept[kept > 0])))
    apart, rng = shard.apart[own], stream_at(seed, "halves of documents set apart", shard.first)
    held = rng.binomial(np.floor(apart).astype(np.int64), 0.5).astype(np.float64)
    found = Shard(shard.first, indptr, shard.word[own], apart - held, Shares.none(apart.size), held)
    return Outcome(listed=[found])


def lengths(given: None, shard: Shard) -> Outcome:
    """List the tokens of each document, those left aside not counted, (D_s,)."""
    document = np.repeat(np.arange(shard.indptr.size - 1), np.diff(shard.indptr))
    return Outcome(listed=[np.bincount(document, weights=shard.count, minlength=shard.indptr.size - 1)])
