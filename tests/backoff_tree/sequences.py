"""Left-to-right sampling of a tree as it is defined, slow: the rule, dense word probabilities, a twin of the kernel."""

from bisect import bisect_right
from collections import Counter
from itertools import pairwise

import numpy as np

from .reference import Document, Tree, Walk, last_level


def tree_rule(branching, delta):
    """mass(z) / n, uniform at the start."""
    tree = Tree(branching, delta)
    return lambda z: tree.mass(Counter(z)) / len(z) if len(z) else np.full(tree.L, 1 / tree.L)


class DenseTree:
    """A fitted tree written out: P(w | z) of all words and leaves, as (T11) has it.

    Parameters
    ----------
    fitted : BackoffTreeTopics
    """

    def __init__(self, fitted):
        self.doc = Tree(fitted.branching_, fitted.alpha_levels_)
        self.word = Tree(fitted.branching_, fitted.eta_levels_)
        self.scale, self.peak = fitted._model.backoff.scale, fitted._model.backoff.peak
        start = fitted.word_start_
        self.lists = [
            Counter(dict(zip(fitted.word_leaf_[a:b].tolist(), fitted.word_count_[a:b].tolist(), strict=True)))
            for a, b in pairwise(start)
        ]
        n_words = np.array([sum(n.values()) for n in self.lists])
        known = n_words > 0
        self.new = 0.0 if known.all() else 1 / (1 + n_words.sum())
        self.share = n_words / n_words.sum()
        found = np.array([self.word.mass(n, self.scale) / self.peak for n in self.lists]).T
        self.lack = 1 - found.sum(axis=1)
        self.lack[sorted(sum(self.lists, Counter()))] = 0.0  # nothing but rounding
        self.phi = (1 - self.new) * (found + np.outer(self.lack, self.share))
        self.phi[:, ~known] = self.new / max(1, int((~known).sum()))


class TreeStep:
    """A draw by (T12): by the product of both trees, or by what the words lack."""

    def __init__(self, dense):
        self.dense = dense

    def begin(self):
        return Leaves(self.dense.doc)

    def knows(self, w):
        return bool(self.dense.lists[w])

    def __call__(self, w, z, rng):
        dense, here = self.dense, z.document
        if not self.knows(w):
            return None, dense.phi[0, w]
        n, word = here.n.total(), dense.lists[w]
        walk = Walk(dense.doc, dense.word, rng)
        leaf, found = walk.draw(here, word, dense.scale, level=last_level(dense.word, word))
        found /= dense.peak
        mass = dense.doc.mass(here.n) if n else np.ones(dense.doc.L)
        lacking = mass @ dense.lack
        lost = dense.share[w] * lacking / (n or dense.doc.L)
        if lost > 0 and rng.uniform() * (found + lost) >= found:
            leaf = self.unseen_leaf(here, lacking, rng)
        return leaf, (1 - dense.new) * (found + lost)

    def unseen_leaf(self, here, total, rng):
        """Node by node: a leaf of each node, or the leaf itself."""
        tree, lack = self.dense.doc, self.dense.lack
        if not here.n:
            return self.below(0, tree.L, rng)
        x = rng.uniform() * total
        queue = [(here.root, 0)]
        while queue:
            node, h = queue.pop(0)
            first = node.number * tree.below[h]
            own = lack[first : first + tree.below[h]].sum()
            rate = tree.delta[h] / tree.below[h] * len(node.n) if h < tree.depth else node.n.total() - tree.discount
            x -= rate * own
            if x < 0:
                return self.below(first, first + tree.below[h], rng)
            queue += [(child, h + 1) for child in node.children]
        raise AssertionError("rounding took a draw beyond its end")

    def below(self, first, last, rng):
        sums = np.cumsum(self.dense.lack[first:last])
        return first + bisect_right(sums.tolist(), rng.uniform() * sums[-1])


class Leaves:
    """The leaves of the tokens so far; those of words that the fit never saw have none."""

    def __init__(self, tree):
        self.of_token, self.document = {}, Document(tree)

    def take(self, i):
        z = self.of_token.pop(i, None)
        if z is not None:
            self.document.take(z)

    def put(self, i, z):
        if z is not None:
            self.of_token[i] = z
            self.document.add(z)
