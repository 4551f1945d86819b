"""The shapes of trees."""

import numpy as np

from stickbreak.backoff_tree.shape import TreeShape


def test_node_of_a_leaf_is_that_of_the_nested_lists():
    shape = TreeShape((2, 3, 2))
    nested = np.arange(12).reshape(2, 3, 2)
    for h in range(4):
        nodes = nested.reshape(np.prod((2, 3, 2)[:h], dtype=int), -1)
        assert shape.leaves_below[h] == nodes.shape[1]
        for a, leaves in enumerate(nodes):
            assert (leaves // shape.leaves_below[h] == a).all()
