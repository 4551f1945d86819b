"""Sparse backoff trees: topics are the leaves of a tree, up to millions of them."""

from stickbreak.backoff_tree.estimator import BackoffTreeTopics
from stickbreak.backoff_tree.nodes import TopicNode

__all__ = ["BackoffTreeTopics", "TopicNode"]
