"""The default: topics and their number, by one sparse chain whose topics merge."""

from stickbreak.topics.estimator import TopicModel

__all__ = ["TopicModel"]
