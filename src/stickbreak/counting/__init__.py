"""Large collections of texts counted part by part: on many workers, in bounded memory, to be taken up after a kill."""

from stickbreak.counting.count_files import Counted, count_files

__all__ = ["Counted", "count_files"]
