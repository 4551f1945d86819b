"""The shapes of trees."""

import numpy as np
import pytest

from stickbreak.backoff_tree.shape import TreeShape, shape_of

PAPER = (18, 108, 972, 8748, 104976, 1259712)


@pytest.mark.parametrize("n_leaves", PAPER)
def test_both_shapes_have_the_numbers_of_leaves_of_the_paper(n_leaves):
    assert shape_of("wide", n_leaves).n_leaves == shape_of("tall", n_leaves).n_leaves == n_leaves


def test_node_of_a_leaf_is_that_of_the_nested_lists():
    shape = TreeShape((2, 3, 2))
    nested = np.arange(12).reshape(2, 3, 2)
    for h in range(4):
        nodes = nested.reshape(np.prod((2, 3, 2)[:h], dtype=int), -1)
        assert shape.leaves_below[h] == nodes.shape[1]
        for a, leaves in enumerate(nodes):
            assert (leaves // shape.leaves_below[h] == a).all()
