"""The HDP by Markov chain Monte Carlo: with tables, corpus weights, both or table indicators, and split-merge moves."""

from stickbreak.sampling.estimator import GibbsHDP

__all__ = ["GibbsHDP"]
