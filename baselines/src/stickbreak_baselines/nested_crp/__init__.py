"""Hierarchical topics by nested Chinese restaurants: a tree that grows as documents ask, by Gibbs sampling."""

from stickbreak_baselines.nested_crp.estimator import NestedCRP

__all__ = ["NestedCRP"]
