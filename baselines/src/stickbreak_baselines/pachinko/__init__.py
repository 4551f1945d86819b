"""Pachinko allocation: topics in groups that overlap, by Gibbs sampling; and its hierarchical form."""

from stickbreak_baselines.pachinko.estimator import HierarchicalPachinko, Pachinko

__all__ = ["HierarchicalPachinko", "Pachinko"]
