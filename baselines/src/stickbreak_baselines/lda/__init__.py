"""Latent Dirichlet allocation: a fixed number of topics, by variational inference."""

from stickbreak_baselines.lda.estimator import LDA

__all__ = ["LDA"]
