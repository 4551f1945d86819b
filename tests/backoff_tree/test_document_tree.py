"""The tree of a document in its table: tokens in and out equal a tree made anew."""

import numpy as np

from stickbreak.backoff_tree.kernels.crowded import set_shares, write_shares
from stickbreak.backoff_tree.kernels.shapes import node_of
from stickbreak.backoff_tree.kernels.trees import (
    add_token,
    clear_document,
    open_document,
    take_token,
    write_path,
)
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.backoff_tree.state import Discounts, Scratch

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
    open_document(z, 0, room, s.node, s.path, s.trail, s.finder)
    twin = Document(Tree(shape.branching, [0.1] * 4), z.tolist())
    for step in range(10_000):
        i = int(rng.integers(room))
        write_path(s.path, np.int64(z[i]), s.finder)
        take_token(s.node, s.path, s.trail)
        twin.take(int(z[i]))
        z[i] = rng.integers(48)
        write_path(s.path, np.int64(z[i]), s.finder)
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
    discounts = document.given, document.rate, word.rate, word.from_here
    offset = np.concatenate(([0], np.cumsum(shape.n_nodes + 1)))
    z = rng.integers(12, size=room).astype(np.int32)
    open_document(z, 0, room, s.node, s.path, s.trail, s.finder)
    set_shares(s.node, 3, *discounts, offset, s.share, s.queue, False)
    for _ in range(300):
        i = int(rng.integers(room))
        for change in (take_token, add_token):
            write_path(s.path, np.int64(z[i]), s.finder)
            change(s.node, s.path, s.trail)
            write_shares(s.node, s.path, s.trail, *discounts, offset, s.share)
            z[i] = rng.integers(4) if change is take_token else z[i]  # some leaves become empty
        again = np.zeros_like(s.share)
        set_shares(s.node, 3, *discounts, offset, again, s.queue, False)
        np.testing.assert_array_equal(s.share, again)
    assert (s.share[:, 1] > 0).sum() < s.share.shape[0] - 8, "no leaf became empty"
    set_shares(s.node, 3, *discounts, offset, s.share, s.queue, True)
    assert not s.share.any()


def test_a_cleared_tree_takes_as_many_leaves_as_it_has_room_for():
    shape = TreeShape((3, 3, 3))
    s = Scratch.of(9, shape)
    clear_document(s.node, 9, 3)
    for z in range(0, 27, 3):
        write_path(s.path, np.int64(z), s.finder)
        add_token(s.node, s.path, s.trail)
    assert nodes(s.node)[1:3] == (9, 9)


def test_nodes_of_leaves_are_exact_in_the_largest_trees():
    rng = np.random.default_rng(0)
    for below in (1, 2, 3, 7, 12, 144, 1296, 3**13, 2**30, 715_827_882):
        edges = np.arange(0, 2**31 - 1, max(below, 2**31 // 2000 // below * below), dtype=np.int64) // below * below
        leaves = np.concatenate((edges, edges[1:] - 1, rng.integers(2**31 - 1, size=2000)))
        for z in leaves.tolist():
            assert node_of(z, 1.0 / below) == z // below
