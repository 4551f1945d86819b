"""The HDP by Markov chain Monte Carlo: franchise, direct assignment and table indicators, with split-merge moves."""

from stickbreak.sampling.estimator import GibbsHDP

__all__ = ["GibbsHDP"]
