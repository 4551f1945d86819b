"""Discounts by the likelihood of a sample of documents, or of words, and local beam search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stickbreak.backoff_tree.kernels.trees import count_before
from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.state import Scratch
from stickbreak.numerics.arrays import Float, Int, Int32

MOST = 0.95  # what discounts of a path sum to at most, wherever stickbreak chooses them
_FACTORS, _WIDTH, _LEAST, _ROUNDS = (0.8, 1.25), 3, 1e-4, 30


@dataclass(frozen=True, slots=True)
class LeafEntries:
    """The leaves of some words: E entries, a word after the other.

    `used[e, h]` is desc+ of the node of level h above entry e, in its word, without one token of e.
    """

    group: Int  # (E,)
    leaf: Int  # (E,)
    n: Float  # (E,)  tokens
    total: Float  # (E,)  tokens of the group
    used: Float  # (E, depth)

    @classmethod
    def of(cls, group: Int, leaf: Int32, shape: Shape) -> LeafEntries:
        """Count tokens, given by group (numbered from 0) and leaf."""
        L = shape.n_leaves
        pair, n = np.unique(group.astype(np.int64) * L + leaf, return_counts=True)
        used = np.empty((pair.size, shape.depth))
        for h in range(shape.depth):
            node = pair // L * shape.n_nodes[h] + shape.node_of(pair % L, h)
            _, inverse, entries = np.unique(node, return_inverse=True, return_counts=True)
            used[:, h] = entries[inverse] - (n == 1)
        total = np.bincount(pair // L, weights=n)
        return cls(pair // L, pair % L, n.astype(np.float64), total[pair // L], used)


def document_likelihood(start: Int, leaf: Int32, key: np.uint64, shape: Shape) -> Callable[[Float], float]:
    """Return the log likelihood of the leaves of documents, nats per token, of discounts.            docs/math (T7)

    `start` (D + 1,): document d has the tokens start[d] .. start[d + 1] - 1, at least one. `leaf` (N,). `key`: of the
    random order of the tokens in each document. Returns a function from discounts of levels (depth,) to the mean over
    tokens of log P(z | the tokens of the document before it).
    """
    lengths, leaf = np.diff(start), leaf.copy()
    own, used = np.zeros(leaf.size), np.zeros((leaf.size, shape.depth))
    tree = Scratch.of(int(lengths.max()), shape)
    count_before(start, leaf, key, shape.nodes, tree, own, used)
    before = np.arange(leaf.size) - np.repeat(start[:-1], lengths)
    later = before > 0
    own, rates = own[later], (used / shape.sizes_above(leaf.astype(np.int64)))[later]
    known, constant = own > 0, np.log(before[later]).sum() + lengths.size * np.log(shape.n_leaves)

    def value(delta: Float) -> float:
        return float((np.log(own - known * delta.sum() + rates @ delta).sum() - constant) / leaf.size)

    return value


def word_likelihood(entries: LeafEntries, prob: Float, shape: Shape) -> Callable[[Float], float]:
    """Return the leave-one-out log likelihood of the leaves of words, nats per token, of discounts. docs/math (T8)

    `entries`: of words. `prob` (L,): P*(z), held fixed; 0 where no word has a token. Returns a function from discounts
    of levels (depth,) to the mean over tokens of log P(z | the other tokens of the word).
    """
    n, last, several = entries.n, entries.n == 1, entries.total > 1
    here = prob[entries.leaf]
    rates = entries.used / shape.sizes_above(entries.leaf) * here[:, None]
    # of P* over the leaves below the node of each level
    means = np.stack(
        [(shape.sums_below(prob, h) / shape.sizes(h))[shape.node_of(entries.leaf, h)] for h in range(shape.depth)],
        axis=1,
    )
    spread = np.stack([np.bincount(entries.group, weights=column) for column in means.T], axis=1)[entries.group]
    size = np.bincount(entries.group)[entries.group]
    alone = np.log(here / prob.sum())

    def value(delta: Float) -> float:
        discount = delta.sum()
        kept = np.where(last, 0.0, n - 1.0 - discount)
        mass = kept + rates @ delta
        norm = entries.total - discount * size + spread @ delta - (n - discount) + kept - last * (means @ delta)
        log_p = np.log(np.where(several, mass, 1.0)) - np.log(np.where(several, norm, 1.0))
        return float(n @ np.where(several, log_p, alone) / n.sum())

    return value


def beam_search(value: Callable[[Float], float], delta: Float) -> tuple[Float, float]:
    """Return better discounts, and their value, by local beam search.

    The three best vectors are kept; candidates change one discount of one of them by a factor 0.8 or 1.25. It ends
    when no candidate is better than the best, or after thirty rounds. Discounts outside what is allowed, a sum above
    0.95 or one below 0.0001, are brought inside first.

    `value`: from discounts to what is to be large. `delta` (depth,).
    """
    delta = np.maximum(delta * min(1.0, MOST / delta.sum()), _LEAST)
    known = {tuple(delta.tolist()): value(delta)}
    beam = list(known)
    for _ in range(_ROUNDS):
        before = known[beam[0]]
        for one in list(beam):
            for h in range(delta.size):
                for factor in _FACTORS:
                    other = (*one[:h], one[h] * factor, *one[h + 1 :])
                    if other not in known and sum(other) < MOST and other[h] >= _LEAST:
                        known[other] = value(np.array(other))
                        beam.append(other)
        beam = sorted(beam, key=lambda one: -known[one])[:_WIDTH]
        if known[beam[0]] <= before:
            break
    return np.array(beam[0]), known[beam[0]]


def sample_of_groups(start: Int, most: int, rng: np.random.Generator) -> Int:
    """Return groups, in random order, that hold about `most` members together; all, if they hold fewer.

    `start` (groups + 1,): members of group g are start[g] .. start[g + 1] - 1.
    """
    order = rng.permutation(start.size - 1)
    total = np.cumsum(np.diff(start)[order])
    return order[: int(np.searchsorted(total, most)) + 1]
