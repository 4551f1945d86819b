"""The HDP and the DP mixture by optimisation: Hughes, Kim and Sudderth (2015), Hughes and Sudderth (2013)."""

from stickbreak.variational.estimator import VariationalHDP
from stickbreak.variational.gaussian_hdp import GaussianHDP
from stickbreak.variational.gaussian_mixture import GaussianDPMixture
from stickbreak.variational.vector_topics import VectorTopics

__all__ = ["GaussianDPMixture", "GaussianHDP", "VariationalHDP", "VectorTopics"]
