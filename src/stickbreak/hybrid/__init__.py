"""Streams and many topics: variational Dirichlets for the corpus, Gibbs sampling inside each document."""

from stickbreak.hybrid.estimator import HybridHDP

__all__ = ["HybridHDP"]
