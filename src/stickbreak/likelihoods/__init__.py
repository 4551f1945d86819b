"""What a component emits, words or vectors: one small class for each exponential family, one interface."""

from stickbreak.likelihoods.base import CountLikelihood, Likelihood, TokenLikelihood, VectorLikelihood, WordLikelihood
from stickbreak.likelihoods.beta_bernoulli import BetaBernoulli
from stickbreak.likelihoods.diagonal_gaussian import DiagonalGaussian
from stickbreak.likelihoods.dirichlet_multinomial import DirichletMultinomial
from stickbreak.likelihoods.gamma_poisson import GammaPoisson
from stickbreak.likelihoods.gaussian import Gaussian
from stickbreak.likelihoods.zero_mean_gaussian import ZeroMeanGaussian

__all__ = [
    "BetaBernoulli",
    "CountLikelihood",
    "DiagonalGaussian",
    "DirichletMultinomial",
    "GammaPoisson",
    "Gaussian",
    "Likelihood",
    "TokenLikelihood",
    "VectorLikelihood",
    "WordLikelihood",
    "ZeroMeanGaussian",
]
