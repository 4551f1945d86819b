"""What a component emits, words or vectors: one small class for each exponential family, one interface."""

from stickbreak.likelihoods.base import Likelihood, VectorLikelihood
from stickbreak.likelihoods.dirichlet_multinomial import DirichletMultinomial
from stickbreak.likelihoods.gaussian import DiagonalGaussian, Gaussian, ZeroMeanGaussian

__all__ = [
    "DiagonalGaussian",
    "DirichletMultinomial",
    "Gaussian",
    "Likelihood",
    "VectorLikelihood",
    "ZeroMeanGaussian",
]
