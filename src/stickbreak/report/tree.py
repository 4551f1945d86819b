"""The tree of topics in a report: its largest nodes, as many as a page can hold."""

import heapq
from itertools import count
from typing import Any

from stickbreak.report.data import TreeNode, TreeReport, WordShare

MOST_NODES = 2000
_NODE_WORDS = 10


def describe_tree(model: Any, most_nodes: int = MOST_NODES) -> TreeReport | None:
    """Gather the largest nodes of a fitted tree.

    A node has no more tokens than its parent, so the largest nodes are a tree themselves: they are found from the root
    down, and of all others no words are made.

    Parameters
    ----------
    model : FlatTopics
    most_nodes : int, default=2000
        Nodes to describe.

    Returns
    -------
    TreeReport or None
        By decreasing number of tokens, parents before their children. None where the topics form no tree.
    """
    root = model.tree_
    if root is None:
        return None
    nodes: list[TreeNode] = []
    order = count()
    waiting = [(0, next(order), root, -1)]  # (tokens, negative; order; node; place of its parent)
    while waiting and len(nodes) < most_nodes:
        _, _, node, parent = heapq.heappop(waiting)
        children = node.children
        for child in children:
            heapq.heappush(waiting, (-child.n_tokens, next(order), child, len(nodes)))
        nodes.append(
            TreeNode(
                parent=parent,
                child=node.path[-1] if node.level else 0,
                name=node.name,
                topic=node.topic,
                n_own=_own_tokens(node),
                n_tokens=node.n_tokens,
                n_topics=node.n_topics,
                n_children=len(children),
                words=tuple(WordShare(word, probability) for word, probability in node.words(_NODE_WORDS)),
            )
        )
    return TreeReport(
        branching=root.branching,
        n_levels=root.depth,
        n_topics=model.n_topics_,
        n_nodes=root.n_nodes,
        nodes=tuple(nodes),
    )


def _own_tokens(node: Any) -> int:
    """Return the tokens of a topic that has others below it: those that are in none of them."""
    if node.topic is None or not node.children:
        return 0
    return max(0, int(node.n_tokens - sum(child.n_tokens for child in node.children)))
