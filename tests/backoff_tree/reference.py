"""Sparse backoff trees as they are defined: dense, slow, in plain Python. Written from SPEC 4.1 to 4.6."""

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


class Walk:
    """Draws with the random numbers of the kernels, in their order; everything is added up anew for each draw."""

    def __init__(self, documents, words, rng):
        self.doc, self.word, self.rng = documents, words, rng  # two trees of one shape

    def from_document(self, z, n, h):
        tree, left = self.doc, n - sum(self.doc.delta[: h + 1])
        x = self.rng.uniform() * left - (n - tree.discount)
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

    def parts(self, z, n, word, scale):
        """The parts of the product that belong to a leaf of the document: (level, which tree, mass)."""
        out = []
        for h in range(self.doc.depth):
            inside = [y for y in sorted(word) if self.word.node(y, h) == self.word.node(z, h)]
            if not inside:
                return out
            v = [(word[y] - self.word.discount) * scale[y] for y in inside]
            tau = sum(v) + len(inside) * sum(self.word.delta[h:])
            out.append((h, "word", self.doc.delta[h] / self.doc.below[h] * tau, inside, v))
            left = n - sum(self.doc.delta[: h + 1])
            out.append((h, "document", self.word.delta[h] / self.word.below[h] * len(inside) * left, None, None))
        if z in word:
            out.append((None, "leaf", (n - self.doc.discount) * (word[z] - self.word.discount) * scale[z], None, None))
        return out

    def draw(self, document, word, scale):
        """Return a leaf and the mass of all."""
        L = self.doc.L
        if not document and not word:
            return int(self.rng.uniform() * L), 0.0
        if not document:
            leaves = sorted(word)
            v = [(word[y] - self.word.discount) * scale[y] for y in leaves]
            total = sum(v) + len(leaves) * self.word.discount
            return self.from_word(0, leaves, v), total / L
        if not word:
            tokens = [z for z in sorted(document) for _ in range(document[z])]
            z = tokens[int(self.rng.uniform() * len(tokens))]
            return self.from_document(z, document[z], -1), 0.0
        parts = [(z, part) for z in sorted(document) for part in self.parts(z, document[z], word, scale)]
        total = sum(part[2] for _, part in parts)
        x = self.rng.uniform() * total
        at = 0
        while x >= parts[at][1][2] and at < len(parts) - 1:
            x -= parts[at][1][2]
            at += 1
        z, (h, which, _, inside, v) = parts[at]
        if which == "leaf":
            leaf = z
        elif which == "word":
            leaf = self.from_word(h, inside, v)
        else:
            leaf = self.from_document(z, document[z], h)
        return leaf, total / sum(document.values())


def without(n, z):
    out = Counter(n)
    out[z] -= 1
    return +out


def sweep(documents, z, words, trees, scale, peak, key, *, at_once):
    """Sample every token; return the leaves and the log probability of each document's words."""
    z, words, n_all = list(z), [Counter(n) for n in words], sum(map(len, documents))
    log_p, i = [], 0
    for d, document in enumerate(documents):
        walk, here, score = Walk(*trees, Stream(key, d)), Counter(z[i : i + len(document)]), 0.0
        for w in document:
            here = without(here, z[i])
            rest = without(words[w], z[i])
            new, total = walk.draw(here, rest, scale)
            score += np.log(total / peak) if total > 0 else -np.log(n_all)
            z[i] = new
            here[new] += 1
            if at_once:
                words[w] = rest
                words[w][new] += 1
            i += 1
        log_p.append(score)
    return z, np.array(log_p)


def loo_document(tree, n):
    """sum_z n_z log P(z | the other tokens of the document), each computed anew from its definition."""
    total = 0.0
    for z, count in n.items():
        rest = without(n, z)
        mass = tree.mass(rest) if rest else np.ones(tree.L)
        total += count * np.log(mass[z] / mass.sum())
    return total


def loo_word(tree, n, prob):
    """The same for a word, whose smoothing goes by P*."""
    total = 0.0
    for z, count in n.items():
        rest = without(n, z)
        mass = tree.kept(rest) + tree.smoothing(rest) * prob if rest else prob
        total += count * np.log(mass[z] / mass.sum())
    return total
