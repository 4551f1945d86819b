"""What a topic emits: one small class for each exponential family, one interface."""

from stickbreak.likelihoods.base import Likelihood, VectorLikelihood
from stickbreak.likelihoods.dirichlet_multinomial import DirichletMultinomial

__all__ = ["DirichletMultinomial", "Likelihood", "VectorLikelihood"]
