"""Latent Dirichlet allocation: a fixed number of topics, by variational inference."""

from stickbreak.baselines.lda.estimator import LDA

__all__ = ["LDA"]
