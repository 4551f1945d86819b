"""The kinds of material, by what a method is fitted to."""

from stickbreak.cli.material import Material
from stickbreak.cli.vectors import Groups, SingleVectors
from stickbreak.cli.words import Words

__all__ = ["MATERIALS"]

MATERIALS: dict[str, type[Material]] = {"documents": Words, "groups": Groups, "vectors": SingleVectors}
