"""The tree of a document in its table: tokens in and out equal a tree made anew."""

from collections import Counter

import numpy as np

from stickbreak.backoff_tree.kernels.products import set_shares, write_shares
from stickbreak.backoff_tree.kernels.trees import (
    add_token,
    node_of,
    open_document,
    take_token,
    write_path,
)
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.backoff_tree.state import Discounts, Scratch, Trees, directories

from .problems import ONE, word_lists
from .reference import Document, Tree


def nodes(node, at=0):
    """Number, leaves and tokens of a node, and its children in their order."""
    number, child, _, entries, tokens = node[at].tolist()
    children = []
    while child >= 0:
        children.append(nodes(node, child))
        child = int(node[child, 2])
    return number, entries, tokens, children


def expected_nodes(twin):
    return twin.number, len(twin.n), twin.n.total(), [expected_nodes(c) for c in twin.children]


def n_free(node):
    n, at = 0, int(node[0, 2])
    while at >= 0:
        n, at = n + 1, int(node[at, 2])
    return n


def n_used(nodes):
    return 1 + sum(map(n_used, nodes[3]))


def test_ten_thousand_tokens_in_and_out_equal_the_twin(seed):
    rng = np.random.default_rng(seed)
    shape, room = TreeShape((2, 3, 2, 4)), 30
    s = Scratch.of(room, shape)
    z = rng.integers(48, size=room).astype(np.int32)
    open_document(z, 0, room, s.node, s.path, s.trail, shape.nodes)
    twin = Document(Tree(shape.branching, [0.1] * 4), z.tolist())
    for step in range(10_000):
        i = int(rng.integers(room))
        write_path(s.path, np.int64(z[i]), shape.nodes)
        take_token(s.node, s.path, s.trail)
        twin.take(int(z[i]))
        z[i] = rng.integers(48)
        write_path(s.path, np.int64(z[i]), shape.nodes)
        add_token(s.node, s.path, s.trail)
        twin.add(int(z[i]))
        if step % 10 == 0:
            found = nodes(s.node)
            assert found == expected_nodes(twin.root)
            assert n_used(found) + n_free(s.node) == room * shape.depth + 1
    assert nodes(s.node)[1:3] == (np.unique(z).size, room)


def test_shares_follow_the_tokens_of_a_crowded_document(seed):
    rng, shape, room = np.random.default_rng(seed), TreeShape((2, 3, 2)), 40
    s = Scratch.of(room, shape, crowded=True)
    document, word = (Discounts.of(rng.uniform(0.05, 0.2, 3), shape) for _ in range(2))
    words = word_lists(Counter([0]))
    trees = Trees(shape.below, shape.nodes, document, word, words, directories(words, np.ones(12), word, shape, ONE))
    z = rng.integers(12, size=room).astype(np.int32)
    open_document(z, 0, room, s.node, s.path, s.trail, shape.nodes)
    set_shares(trees, s, False)
    for _ in range(300):
        i = int(rng.integers(room))
        for change in (take_token, add_token):
            write_path(s.path, np.int64(z[i]), shape.nodes)
            change(s.node, s.path, s.trail)
            write_shares(trees, s)
            z[i] = rng.integers(4) if change is take_token else z[i]  # some leaves become empty
        again = np.zeros_like(s.share)
        set_shares(trees, s._replace(share=again), False)
        np.testing.assert_array_equal(s.share, again)
    assert (s.share[:, 1] > 0).sum() < s.share.shape[0] - 8, "no leaf became empty"
    set_shares(trees, s, True)
    assert not s.share.any()


def test_nodes_of_leaves_are_exact_in_the_largest_trees():
    rng = np.random.default_rng(0)
    for below in (1, 2, 3, 7, 12, 144, 1296, 3**13, 2**30, 715_827_882):
        edges = np.arange(0, 2**31 - 1, max(below, 2**31 // 2000 // below * below), dtype=np.int64) // below * below
        leaves = np.concatenate((edges, edges[1:] - 1, rng.integers(2**31 - 1, size=2000)))
        for z in leaves.tolist():
            assert node_of(z, 1.0 / below) == z // below
