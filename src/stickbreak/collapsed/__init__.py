"""Collapsed variational inference (CVB0) for the HDP: a warm start for the other families."""

from stickbreak.collapsed.cvb0 import cvb0, responsibilities
from stickbreak.collapsed.state import CollapsedState

__all__ = ["CollapsedState", "cvb0", "responsibilities"]
