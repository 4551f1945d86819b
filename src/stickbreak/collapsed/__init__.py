"""Collapsed variational inference (CVB0) for the HDP: a family of its own, and a warm start for the others."""

from stickbreak.collapsed.cvb0 import ALONE, cvb0
from stickbreak.collapsed.estimator import CollapsedHDP
from stickbreak.collapsed.state import COUNT_BYTES, CollapsedState

__all__ = ["ALONE", "COUNT_BYTES", "CollapsedHDP", "CollapsedState", "cvb0"]
