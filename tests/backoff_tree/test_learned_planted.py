"""Trees whose shape is planted are found, from nothing but the documents."""

import pytest
from benchmarks.trees.learned import is_found, planted_tree

from stickbreak import BackoffTreeTopics


@pytest.mark.parametrize("seed", [0, 2])
def test_planted_trees_are_found(seed):
    corpus, groups, topics = planted_tree(seed)
    model = BackoffTreeTopics(branching="learned", n_laps=26, random_state=seed).fit(corpus)
    assert is_found(model, groups, topics)[0]
