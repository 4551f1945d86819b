"""Comparison of fitted models: which topics are the same, split, joined, new or gone, and which come again."""

from stickbreak.comparison.align import Alignment, align
from stickbreak.comparison.stability import Stability, found_again, stability

__all__ = ["Alignment", "Stability", "align", "found_again", "stability"]
