"""The shapes of trees."""

import numpy as np
import pytest

from stickbreak.backoff_tree.shape import TreeShape, shape_of
from stickbreak.exceptions import InputError

PAPER = (18, 108, 972, 8748, 104976, 1259712)


@pytest.mark.parametrize("n_leaves", PAPER)
def test_both_shapes_have_the_numbers_of_leaves_of_the_paper(n_leaves):
    assert shape_of("wide", n_leaves).n_leaves == shape_of("tall", n_leaves).n_leaves == n_leaves


def test_largest_trees_are_those_of_the_paper():
    assert shape_of("wide", 1259712).branching == (3, 6, 6, 9, 9, 12, 12)
    assert shape_of("tall", 1259712).branching == (2,) * 6 + (3,) * 9
    assert [shape_of("tall", n).depth for n in PAPER] == [3, 5, 7, 9, 12, 15]


def test_trees_go_beyond_the_paper():
    assert shape_of("wide", 12597120).branching == (3, 6, 6, 9, 9, 12, 12, 10)
    assert shape_of("wide", 100_000_000).n_leaves >= 100_000_000


@pytest.mark.parametrize("kind", ["wide", "tall"])
@pytest.mark.parametrize("n_leaves", [2, 3, 5, 7, 100, 1000, 5000, 200_000])
def test_tree_has_the_leaves_that_are_wished_and_few_more(kind, n_leaves):
    found = shape_of(kind, n_leaves).n_leaves
    assert n_leaves <= found < 2 * n_leaves


def test_node_of_a_leaf_is_that_of_the_nested_lists():
    shape = TreeShape((2, 3, 2))
    nested = np.arange(12).reshape(2, 3, 2)
    for h in range(4):
        nodes = nested.reshape(np.prod((2, 3, 2)[:h], dtype=int), -1)
        assert shape.leaves_below[h] == nodes.shape[1]
        for a, leaves in enumerate(nodes):
            assert (leaves // shape.leaves_below[h] == a).all()


def test_expanded_tree_has_the_old_leaves_as_nodes():
    assert TreeShape((2, 3)).expanded(4).branching == (2, 3, 4)


@pytest.mark.parametrize(
    ("branching", "n_leaves", "words"),
    [
        ((), 5, "2 or more"),
        ((3, 1), 5, "2 or more"),
        ((3, 2.5), 5, "2 or more"),
        ((60_000, 60_000), 5, "3,600,000,000 leaves"),
        ("bushy", 5, "'wide', 'tall'"),
        ("wide", 1, "at least 2 leaves"),
        ("tall", 2**31, "at most"),
    ],
)
def test_what_is_no_tree_is_refused(branching, n_leaves, words):
    with pytest.raises(InputError, match=words):
        shape_of(branching, n_leaves)
