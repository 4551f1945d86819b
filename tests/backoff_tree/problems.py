"""Small trees and documents for the tests of this folder, and the kernels' view of them."""

from __future__ import annotations

from collections import Counter

import numpy as np

from stickbreak.backoff_tree.document_blocks import DocumentBlocks, leaves_in
from stickbreak.backoff_tree.kernels import documents as document_kernels
from stickbreak.backoff_tree.kernels.lists import entry_mass
from stickbreak.backoff_tree.kernels.products import set_shares
from stickbreak.backoff_tree.kernels.trees import DrawnToken, open_document, write_path
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.backoff_tree.state import Discounts, Scratch, Trees, WordLeaves, directories
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.kernel_random import open_stream

ONE = Engine(1)


def random_shape(rng):
    return TreeShape(tuple(int(k) for k in rng.integers(2, 5, size=rng.integers(1, 5))))


def random_delta(rng, depth):
    return rng.dirichlet(np.ones(depth)) * rng.uniform(0.1, 0.95)


def random_counts(rng, n_leaves, n_tokens, *, all_of=False):
    """Tokens at random, among a third of the leaves if not `all_of` them."""
    some = np.arange(n_leaves) if all_of else rng.integers(n_leaves, size=max(1, n_leaves // 3))
    return Counter(int(z) for z in rng.choice(some, size=n_tokens))


def word_lists(counts, n_words=1):
    """Lists of words that are given as Counters."""
    counts = [counts] if isinstance(counts, Counter) else counts
    sizes = [sum(n.values()) for n in counts]
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    leaf, count = np.zeros(start[-1], np.int32), np.zeros(start[-1], np.int32)
    for w, n in enumerate(counts):
        for j, z in enumerate(sorted(n)):
            leaf[start[w] + j], count[start[w] + j] = z, n[z]
    size = np.array([len(n) for n in counts], np.int32)
    return WordLeaves(start, size, leaf, count, np.zeros(start[-1] + len(counts)))


class Pair:
    """A document's tree and a word's tree as the kernels see them; `shares`: looked at level by level."""

    def __init__(self, shape, document, delta_doc, word, delta_word, scale, *, shares=False):
        self.word = Discounts.of(delta_word, shape)
        self.lists = word_lists(word)
        self.directory = directories(self.lists, scale, self.word, shape, ONE)
        doc = Discounts.of(delta_doc, shape)
        self.trees = Trees(shape.below, shape.nodes, doc, self.word, self.lists, self.directory)
        z = np.array([y for y in document.elements()], np.int32)
        self.n_tokens = z.size
        self.shares, self.scratch = shares, Scratch.of(max(1, z.size), shape, crowded=shares)
        s = self.scratch
        open_document(z, 0, z.size, s.node, s.path, s.trail, shape.nodes)
        if shares:
            set_shares(self.trees, s, False)

    def seed(self, key):
        open_stream(self.scratch.rng, key, 0)

    def draw(self, own_entry=-1, gone=0, lost=0.0):
        """Return a leaf and the mean mass."""
        word, taken = document_kernels.word_at(0, self.trees), DrawnToken(own_entry, gone, float(lost))
        return document_kernels.draw_leaf(self.trees, self.scratch, word, taken, self.shares)

    def draw_without(self, z, scale):
        """Draw as a token of the word at leaf z does, which does not count."""
        s, a = self.scratch, self.lists
        write_path(s.own, np.int64(z), self.trees.finder)
        entry = a.leaf[: a.size[0]].tolist().index(z)
        gone = int(a.n[entry] == 1)
        return self.draw(entry, gone, entry_mass(1, z, scale, self.word.given) if gone else scale[z])


def small_corpus(rng, n_documents=12, n_words=9, most=14):
    counts = np.zeros((n_documents, n_words), dtype=int)
    for d in range(n_documents):
        for w in rng.integers(n_words, size=rng.integers(0, most)):
            counts[d, w] += 1
    counts[1] = 0
    counts[2] = 0
    counts[2, 3] = 1
    counts[:, 8] = 0
    counts[0, 8] = 1  # a word of one token
    return Corpus.from_counts(counts)


def tokens_of(corpus):
    tokens = Tokens.from_corpus(corpus)
    documents = [tokens.word[a:b].tolist() for a, b in zip(tokens.start, tokens.start[1:], strict=False)]
    return tokens, documents


def blocks_of(corpus):
    """Documents of a sampler, in memory."""
    return DocumentBlocks(corpus, ONE, leaves_in(None))


def leaves_of(sampler):
    """The leaves of all tokens, (N,)."""
    return np.concatenate(list(sampler.blocks.leaves))


def counters(tokens, z):
    """The leaves of each word."""
    out = [Counter() for _ in range(tokens.n_words)]
    for w, y in zip(tokens.word.tolist(), z.tolist(), strict=True):
        out[w][y] += 1
    return out
