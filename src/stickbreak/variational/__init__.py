"""The HDP by optimisation: Hughes, Kim and Sudderth (2015)."""

from stickbreak.variational.estimator import VariationalHDP

__all__ = ["VariationalHDP"]
