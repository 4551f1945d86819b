"""Sparse backoff trees as they are defined: dense, slow, in plain Python. Written from docs/math (T1) to (T8)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate

import numpy as np

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15


def _mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


class Stream:
    """SplitMix64 in whole numbers of Python."""

    def __init__(self, key, index):
        self.state = _mix(_mix((key + _STEP) & _MASK) ^ ((index * _STEP + 0xBF58476D1CE4E5B9) & _MASK))

    def uniform(self):
        self.state = (self.state + _STEP) & _MASK
        return (_mix(self.state) >> 11) * 2.0**-53


class Tree:
    """A tree with one discount for each level, numbered from the root."""

    def __init__(self, branching, delta):
        self.branching, self.delta = list(branching), [float(x) for x in delta]
        self.depth = len(self.branching)
        self.below = [int(np.prod(self.branching[h:], dtype=np.int64)) for h in range(self.depth + 1)]
        self.L, self.discount = self.below[0], float(sum(self.delta))

    def node(self, z, h):
        return z // self.below[h]

    def used(self, n, h):
        """desc+ of the nodes of level h, as a Counter."""
        return Counter(self.node(z, h) for z, count in n.items() if count > 0)

    def smoothing(self, n):
        """B(z) of every leaf: each node gives delta desc+ / desc to each leaf below it."""
        out = np.zeros(self.L)
        for h in range(self.depth):
            for a, used in self.used(n, h).items():
                out[a * self.below[h] : (a + 1) * self.below[h]] += self.delta[h] * used / self.below[h]
        return out

    def kept(self, n, scale=None):
        """max(n - Delta, 0), scaled."""
        out = np.zeros(self.L)
        for z, count in n.items():
            out[z] = max(count - self.discount, 0.0) * (1.0 if scale is None else scale[z])
        return out

    def mass(self, n, scale=None):
        return self.kept(n, scale) + self.smoothing(n)


def backoff(words, tree, n_tokens):
    """A, B and the C that conserves the tokens, by bisection; `words` are Counters of leaves."""
    A = sum(tree.kept(n) for n in words)
    B = sum(tree.smoothing(n) for n in words)
    used = A > 0
    low, high = B[used].max(), B.max() + 2.0 * n_tokens
    for _ in range(200):
        middle = (low + high) / 2
        gap = middle - B[used]
        if (gap > 0).all() and middle * (A[used] / gap).sum() < n_tokens:
            high = middle
        else:
            low = middle
    return A, B, max(high, 1.001 * B.max())


class Node:
    """A node with tokens of one document; children in the order in which the kernels look at them."""

    def __init__(self, number):
        self.number, self.children, self.n = number, [], Counter()

    def child(self, number):
        return next((c for c in self.children if c.number == number), None)


class Document:
    """The tree of one document; new nodes come before their siblings."""

    def __init__(self, tree, leaves=()):
        self.tree, self.root = tree, Node(0)
        for z in leaves:
            self.add(z)

    @property
    def n(self):
        return self.root.n

    def add(self, z):
        node = self.root
        node.n[z] += 1
        for h in range(1, self.tree.depth + 1):
            child = node.child(self.tree.node(z, h))
            if child is None:
                child = Node(self.tree.node(z, h))
                node.children.insert(0, child)
            node = child
            node.n[z] += 1

    def take(self, z):
        node = self.root
        node.n = without(node.n, z)
        for h in range(1, self.tree.depth + 1):
            child = node.child(self.tree.node(z, h))
            child.n = without(child.n, z)
            if not child.n:
                node.children.remove(child)
            node = child


class Walk:
    """Draws with the random numbers of the kernels, in their order; everything is added up anew for each draw."""

    def __init__(self, documents, words, rng):
        self.doc, self.word, self.rng = documents, words, rng  # two trees of one shape
        self.ways = set()  # taken below the directory

    def from_document(self, node, h):
        tree, given = self.doc, sum(self.doc.delta[: h + 1])
        for _ in range(tree.depth - max(h, 0)):
            left = [c.n.total() - given * len(c.n) for c in node.children]
            x = self.rng.uniform() * (node.n.total() - given * len(node.n))
            node = node.children[min(bisect_right(list(accumulate(left)), x), len(left) - 1)]
        ((z, n),) = node.n.items()
        x = self.rng.uniform() * (n - given) - (n - tree.discount)
        if x < 0:
            return z
        h += 1
        while h < tree.depth - 1 and x >= tree.delta[h]:
            x -= tree.delta[h]
            h += 1
        return tree.node(z, h) * tree.below[h] + int(self.rng.uniform() * tree.below[h])

    def from_word(self, h, leaves, v):
        """Draw below a node of level h whose used leaves, ascending, are given with their masses."""
        tree = self.word
        rest = sum(tree.delta[h:])
        total = sum(v)
        x = self.rng.uniform() * (total + len(leaves) * rest)
        if x < total:
            return leaves[min(bisect_right(list(accumulate(v)), x), len(leaves) - 1)]
        z = leaves[int(self.rng.uniform() * len(leaves))]
        x = self.rng.uniform() * rest
        while h < tree.depth - 1 and x >= tree.delta[h]:
            x -= tree.delta[h]
            h += 1
        return tree.node(z, h) * tree.below[h] + int(self.rng.uniform() * tree.below[h])

    def order(self, document, word, listed, level):
        """Return the nodes that both trees have, with their levels, in the order of the kernels.

        `listed` are the leaves in the word's list: those of `word`, and that of a token that is left out.
        """
        tree, now = self.word, [document.root]

        def inside(leaves, number, h):
            return [y for y in sorted(leaves) if tree.node(y, h) == number]

        found = [(document.root, 0)]
        for h in range(1, level + 1):  # in the directory
            now = [c for node in now for c in node.children if inside(word, c.number, h)]
            found += [(node, h) for node in now]
        queue = [(node, level) for node in now]
        while queue:
            node, h = queue.pop(0)
            if h == tree.depth:
                continue
            here = inside(listed, node.number, h)
            alive = [c for c in node.children if inside(word, c.number, h + 1)]
            self.ways.add("one" if len(here) == 1 else "few" if len(here) <= 6 else "many")
            if len(here) == 1:  # straight down, before anything else
                while alive:
                    h += 1
                    found.append((alive[0], h))
                    alive = [c for c in alive[0].children if h < tree.depth and inside(word, c.number, h + 1)]
                continue
            if len(here) <= 6:  # by entries of the word
                alive.sort(key=lambda c: c.number)
            found += [(c, h + 1) for c in alive]
            queue += [(c, h + 1) for c in alive]
        return found

    def parts(self, node, h, word, scale):
        """The parts of the product at a node: (which tree decides, mass, leaves of the word below, their v)."""
        below = [y for y in sorted(word) if self.word.node(y, h) == node.number]
        v = [(word[y] - self.word.discount) * scale[y] for y in below]
        if h == self.doc.depth:
            ((_, n),) = node.n.items()
            return [("leaf", (n - self.doc.discount) * v[0], below, v)]
        tau = sum(v) + len(below) * sum(self.word.delta[h:])
        left = node.n.total() - len(node.n) * sum(self.doc.delta[: h + 1])
        return [
            ("word", len(node.n) * self.doc.delta[h] / self.doc.below[h] * tau, below, v),
            ("document", self.word.delta[h] / self.word.below[h] * len(below) * left, None, None),
        ]

    def draw(self, document, word, scale, listed=None, level=0):
        """Return a leaf and the mass of all."""
        L = self.doc.L
        if not document.n and not word:
            return int(self.rng.uniform() * L), 0.0
        if not document.n:
            leaves = sorted(word)
            v = [(word[y] - self.word.discount) * scale[y] for y in leaves]
            total = sum(v) + len(leaves) * self.word.discount
            return self.from_word(0, leaves, v), total / L
        if not word:
            return self.from_document(document.root, -1), 0.0
        nodes = self.order(document, word, word if listed is None else listed, level)
        parts = [(node, h, part) for node, h in nodes for part in self.parts(node, h, word, scale)]
        total = sum(part[1] for *_, part in parts)
        x = self.rng.uniform() * total
        at = 0
        while x >= parts[at][2][1] and at < len(parts) - 1:
            x -= parts[at][2][1]
            at += 1
        node, h, (which, _, inside, v) = parts[at]
        if which == "leaf":
            leaf = node.number
        elif which == "word":
            leaf = self.from_word(h, inside, v)
        else:
            leaf = self.from_document(node, h)
        return leaf, total / document.n.total()


def last_level(tree, word):
    """The last level of a word's directory: the deepest one with no more nodes than the word has leaves."""
    return max(h for h in range(tree.depth + 1) if tree.L // tree.below[h] <= max(1, len(word)))


def without(n, z):
    out = Counter(n)
    out[z] -= 1
    return +out


def sweep(documents, z, words, trees, scale, peak, key, *, at_once):
    """Sample every token; return the leaves and the log probability of each document's words."""
    z, words, n_all = list(z), [Counter(n) for n in words], sum(map(len, documents))
    level = [last_level(trees[1], n) for n in words]
    log_p, i = [], 0
    for d, document in enumerate(documents):
        walk, here, score = Walk(*trees, Stream(key, d)), Document(trees[0], z[i : i + len(document)]), 0.0
        for w in document:
            here.take(z[i])
            rest = without(words[w], z[i])
            new, total = walk.draw(here, rest, scale, rest if at_once else words[w], level[w])
            score += np.log(total / peak) if total > 0 else -np.log(n_all)
            z[i] = new
            here.add(new)
            if at_once:
                words[w] = rest
                words[w][new] += 1
            i += 1
        log_p.append(score)
    return z, np.array(log_p)


def placed(documents, first, words, trees, scale, key):
    """Place each token given those before it in its document, the words as they are; return the leaves.

    `first` is the number of the first of these documents in the collection.
    """
    z = []
    for d, document in enumerate(documents, start=first):
        walk, here = Walk(*trees, Stream(key, d)), Document(trees[0])
        for w in document:
            new, _ = walk.draw(here, words[w], scale, words[w], last_level(trees[1], words[w]))
            here.add(new)
            z.append(new)
    return z


def shuffled(leaves, stream):
    """Return leaves in random order, by the random numbers of the kernel."""
    leaves = list(leaves)
    for i in range(len(leaves) - 1, 0, -1):
        j = int(stream.uniform() * (i + 1))
        leaves[i], leaves[j] = leaves[j], leaves[i]
    return leaves


def log_sequence(tree, leaves):
    """log P of the leaves of a document in this order, each given those before it, from the definition.      (T7)"""
    total = 0.0
    for i, z in enumerate(leaves):
        mass = tree.mass(Counter(leaves[:i])) if i else np.ones(tree.L)
        total += np.log(mass[z] / mass.sum())
    return total


def loo_word(tree, n, prob):
    """sum_z n_z log P(z | the other tokens of the word), whose smoothing goes by P*, each computed anew."""
    total = 0.0
    for z, count in n.items():
        rest = without(n, z)
        mass = tree.kept(rest) + tree.smoothing(rest) * prob if rest else prob
        total += count * np.log(mass[z] / mass.sum())
    return total
