"""Discounts by leave-one-out likelihood and local beam search, on samples of documents and words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stickbreak.backoff_tree.node_discounts import NONE, NodeDiscounts, Paths
from stickbreak.backoff_tree.shape import Shape
from stickbreak.numerics.arrays import Float, Int, Int32

MOST = 0.95  # what discounts of a path sum to at most, wherever stickbreak chooses them
_FACTORS, _WIDTH, _LEAST, _ROUNDS = (0.8, 1.25), 3, 1e-4, 30


@dataclass(frozen=True, slots=True)
class Entries:
    """The leaves of some documents or words: E entries, a group after the other.

    `used[e, h]` is desc+ of the node of level h above entry e, in its group, without one token of e.
    """

    group: Int  # (E,)
    leaf: Int  # (E,)
    n: Float  # (E,)  tokens
    total: Float  # (E,)  tokens of the group
    used: Float  # (E, depth)

    @classmethod
    def of(cls, group: Int, leaf: Int32, shape: Shape) -> Entries:
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


def document_likelihood(
    entries: Entries, shape: Shape, nodes: NodeDiscounts = NONE.documents
) -> Callable[[Float], float]:
    """Return the leave-one-out log likelihood of leaves in documents, nats per token, of discounts. math.md (T7)

    Parameters
    ----------
    entries : Entries
        Of documents.
    shape : TreeShape
    nodes : NodeDiscounts, optional
        Of documents: they stay as they are.

    Returns
    -------
    callable
        From discounts of levels (depth,) to the mean over tokens of log P(z | the other tokens of the document).
    """
    n, several, paths = entries.n, entries.total > 1, nodes.above(shape, entries.leaf)
    rates, of_nodes = paths.split(entries.used / shape.sizes_above(entries.leaf))
    constant = -np.log(np.where(several, entries.total - 1.0, shape.n_leaves))

    def value(delta: Float) -> float:
        mass = np.where(n > 1, n - 1.0 - paths.sums(delta), 0.0) + rates @ delta + of_nodes
        log_mass = np.log(np.where(several, mass, 1.0))
        return float(n @ (log_mass + constant) / n.sum())

    return value


def word_likelihood(
    entries: Entries, prob: Float, shape: Shape, nodes: NodeDiscounts = NONE.words
) -> Callable[[Float], float]:
    """Return the leave-one-out log likelihood of the leaves of words, nats per token, of discounts. math.md (T8)

    Parameters
    ----------
    entries : Entries
        Of words.
    prob : ndarray of shape (L,)
        P*(z), held fixed; 0 where no word has a token.
    shape : TreeShape
    nodes : NodeDiscounts, optional
        Of words: they stay as they are.

    Returns
    -------
    callable
        As `document_likelihood`.
    """
    n, last, several = entries.n, entries.n == 1, entries.total > 1
    here, paths = prob[entries.leaf], nodes.above(shape, entries.leaf)
    rates, of_nodes = paths.split(entries.used / shape.sizes_above(entries.leaf) * here[:, None])
    # of P* over the leaves below the node of each level
    means, means_of_nodes = paths.split(
        np.stack(
            [(shape.sums_below(prob, h) / shape.sizes(h))[shape.node_of(entries.leaf, h)] for h in range(shape.depth)],
            axis=1,
        )
    )
    spread = np.stack([np.bincount(entries.group, weights=column) for column in means.T], axis=1)[entries.group]
    spread_of_nodes = np.bincount(entries.group, weights=means_of_nodes)[entries.group] - last * means_of_nodes
    size = np.bincount(entries.group)[entries.group]
    alone = np.log(here / prob.sum())

    def value(delta: Float) -> float:
        discount = paths.sums(delta)
        of_group = discount * size if discount.ndim == 0 else np.bincount(entries.group, discount)[entries.group]
        kept = np.where(last, 0.0, n - 1.0 - discount)
        mass = kept + rates @ delta + of_nodes
        norm = entries.total - of_group + spread @ delta - (n - discount) + kept - last * (means @ delta)
        norm += spread_of_nodes
        log_p = np.log(np.where(several, mass, 1.0)) - np.log(np.where(several, norm, 1.0))
        return float(n @ np.where(several, log_p, alone) / n.sum())

    return value


def beam_search(value: Callable[[Float], float], delta: Float, paths: Paths | None = None) -> tuple[Float, float]:
    """Return better discounts, and their value, by local beam search.

    The three best vectors are kept; candidates change one discount of one of them by a factor 0.8 or 1.25. It ends
    when no candidate is better than the best, or after thirty rounds. Discounts outside what is allowed, the sum of a
    path above 0.95 or one below 0.0001, are brought inside first.

    Parameters
    ----------
    value : callable
        From discounts to what is to be large.
    delta : ndarray of shape (depth,)
    paths : Paths, optional
        Of the tree, where nodes have discounts of their own.
    """
    paths = Paths.of_levels(delta.size) if paths is None else paths
    levels = paths.levels().tolist()
    delta = np.maximum(paths.within(delta, MOST), _LEAST)
    known = {tuple(delta.tolist()): value(delta)}
    beam = list(known)
    for _ in range(_ROUNDS):
        before = known[beam[0]]
        for one in list(beam):
            for h in levels:
                for factor in _FACTORS:
                    other = (*one[:h], one[h] * factor, *one[h + 1 :])
                    if other not in known and paths.largest(other) < MOST and other[h] >= _LEAST:
                        known[other] = value(np.array(other))
                        beam.append(other)
        beam = sorted(beam, key=lambda one: -known[one])[:_WIDTH]
        if known[beam[0]] <= before:
            break
    return np.array(beam[0]), known[beam[0]]


def sample_of_groups(start: Int, most: int, rng: np.random.Generator) -> Int:
    """Return groups, in random order, that hold about `most` members together; all, if they hold fewer.

    Parameters
    ----------
    start : ndarray of shape (groups + 1,)
        Members of group g are start[g] .. start[g + 1] - 1.
    most : int
    rng : Generator
    """
    order = rng.permutation(start.size - 1)
    total = np.cumsum(np.diff(start)[order])
    return order[: int(np.searchsorted(total, most)) + 1]
