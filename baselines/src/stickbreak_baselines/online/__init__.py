"""Stochastic variational inference for the HDP as it was before Hughes et al. (2015), to compare with."""

from stickbreak_baselines.online.direct.estimator import SplitMergeOnlineHDP
from stickbreak_baselines.online.franchise.estimator import OnlineHDP

__all__ = ["OnlineHDP", "SplitMergeOnlineHDP"]
