"""Latent Dirichlet allocation: a fixed number of topics, by Gibbs sampling, CVB0 or variational inference."""

from stickbreak.baselines.lda.estimator import LDA

__all__ = ["LDA"]
