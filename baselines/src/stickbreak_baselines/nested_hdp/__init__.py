"""Nested hierarchical Dirichlet processes: a tree of topics, and a part of it for each document."""

from stickbreak_baselines.nested_hdp.estimator import NestedHDP

__all__ = ["NestedHDP"]
