"""Passes of a fit: stages from coarse to fine, learning of discounts, checkpoints."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.backoff_tree.discounts import MOST
from stickbreak.backoff_tree.document_blocks import DocumentBlocks
from stickbreak.backoff_tree.sampler import TreeSampler, learn
from stickbreak.backoff_tree.seeds import KnownWords
from stickbreak.backoff_tree.shape import Shape, shape_of
from stickbreak.backoff_tree.state import WordCounts
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback, Lap, Packed, Stop
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.numerics.ranges import are_discounts

FIRST_TOKENS = 1 << 21  # tokens of the part of a large collection that the first passes read, at least, ...
LEAF_TOKENS = 100  # ... or as many for each leaf, if that is more


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """What does not change from pass to pass."""

    shape: Shape  # of the last stage
    delta_doc: Float  # (depth,)  to begin with
    delta_word: Float  # (depth,)
    stages: tuple[int, ...] = ()  # interior levels of the trees before
    stage_sweeps: int = 10  # passes of each of them
    learn: tuple[str, ...] = ()
    learn_every: int = 5
    at_once: bool = False
    smoothing_share: float | None = None  # None: C is solved
    learned: bool = False  # whether `shape` only stands for one that is learned
    part_passes: int = 0  # of the whole tree, that read a part of a large collection

    @property
    def first_shape(self) -> Shape:
        """The tree of the first pass."""
        return self.shape.cut(min((*self.stages, self.shape.depth)))

    def tokens_for(self, n_passes: int, n_leaves: int) -> float:
        """Return how many tokens the pass after `n_passes` reads, at least; infinity: all.          docs/math (T19)"""
        if n_passes >= len(self.stages) * self.stage_sweeps + self.part_passes:
            return math.inf
        return float(max(FIRST_TOKENS, LEAF_TOKENS * n_leaves))

    def passes_over_all(self, n_laps: int, n_tokens: float) -> float:
        """Return the work of a fit, in passes over all `n_tokens` tokens of a collection."""
        levels = [depth for depth in self.stages for _ in range(self.stage_sweeps)]
        levels += [self.shape.depth] * (n_laps - len(levels))
        parts = [self.tokens_for(done, self.shape.cut(depth).n_leaves) for done, depth in enumerate(levels)]
        return sum(min(1.0, part / n_tokens) for part in parts)

    def begins_with_part(self, n_tokens: float) -> bool:
        """Whether the first pass over a collection of `n_tokens` tokens reads only a part of it."""
        return self.tokens_for(0, self.first_shape.n_leaves) < n_tokens


class TreeLaps:
    """A sampler on its way: `run_fit` drives it.

    `known`: pseudo-tokens of seeds.
    """

    window = 0

    def __init__(
        self, blocks: DocumentBlocks, settings: TreeSettings, seed: int, engine: Engine, known: KnownWords | None = None
    ) -> None:
        self.settings, self._engine = settings, engine
        shape = settings.first_shape
        self.sampler = TreeSampler(
            blocks,
            shape,
            settings.delta_doc[: shape.depth],
            settings.delta_word[: shape.depth],
            seed,
            at_once=settings.at_once,
            known=known,
            smoothing_share=settings.smoothing_share,
        )
        self._likelihood: dict[str, float] = {}
        if settings.begins_with_part(blocks.n_tokens):
            blocks.spread()
            blocks.n_read = blocks.number_for(settings.tokens_for(0, shape.n_leaves))

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        learned = (f"{name}_likelihood" for name in self.settings.learn)
        return ["n_tokens", "n_leaves", "alpha", "eta", "alpha_last", "eta_last", *learned]

    def begin(self, report: Callback, stop: Stop) -> None:
        """Put every token in a leaf: too short to be reported or stopped."""
        self.sampler.begin()

    def expand(self, k: int) -> None:
        """Make every leaf a node with k leaves.                                                      docs/math (T9)"""
        sampler = self.sampler
        sampler.expand(
            sampler.shape.expanded(k), float(sampler.delta_doc.mean()), float(sampler.delta_word.mean()), MOST
        )

    def finish(self) -> WordCounts:
        """Return the tokens of each word at each leaf, without pseudo-tokens."""
        sampler = self.sampler
        sampler.read(math.inf, self._engine)
        return sampler.counts(self._engine)[0] if sampler.known is None else sampler.own_counts(self._engine)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every pass; `done` were done before."""
        sampler, settings = self.sampler, self.settings
        while True:
            moved = self._grow()
            if sampler.n_passes % settings.learn_every == 0:
                for name in settings.learn:
                    self._likelihood[name] = learn(sampler, name, self._engine, search=sampler.settled)
                moved |= self._reshape()
            objective = sampler.sweep(self._engine)
            columns = {"n_tokens": float(sampler.blocks.n_tokens), "n_leaves": float(sampler.shape.n_leaves)}
            for name, delta in (("alpha", sampler.delta_doc), ("eta", sampler.delta_word)):
                columns |= {name: float(delta.sum()), f"{name}_last": float(delta[-1])}
            columns |= {f"{name}_likelihood": value for name, value in self._likelihood.items()}
            yield Lap(objective, sampler.n_used(self._engine), moved, columns)

    def _grow(self) -> bool:
        """Go on to the documents and levels of the next pass; return whether the tree has grown."""
        sampler, settings = self.sampler, self.settings
        stage = sampler.n_passes // settings.stage_sweeps
        wanted = settings.stages[stage] if stage < len(settings.stages) else settings.shape.depth
        if sampler.blocks.n_read < sampler.blocks.n_blocks:
            n_leaves = max(settings.shape.cut(wanted).n_leaves, sampler.shape.n_leaves)
            sampler.read(settings.tokens_for(sampler.n_passes, n_leaves), self._engine)
        grown = False
        while sampler.shape.depth < wanted:
            h = sampler.shape.depth
            shape = settings.shape.cut(h + 1)
            sampler.expand(shape, float(settings.delta_doc[h]), float(settings.delta_word[h]), MOST)
            grown = True
        return grown

    def _reshape(self) -> bool:
        """Change the shape of the tree, which is learned; return whether it has changed."""
        return False

    def snapshot(self) -> Packed:
        """Return arrays and plain values that all further passes depend on."""
        sampler = self.sampler
        arrays: dict[str, NDArray] = {"delta_doc": sampler.delta_doc, "delta_word": sampler.delta_word}
        leaves = sampler.blocks.leaves
        arrays |= {f"z.{block}": leaves.arrays(block)["z"] for block in range(len(leaves))}
        values: dict[str, Any] = {
            "n_passes": sampler.n_passes,
            "branching": sampler.shape.as_values,
            "n_read": len(leaves),
            "likelihood": dict(self._likelihood),
        }
        return arrays, values

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned.

        Raises KeyError, ValueError if it cannot be of these tokens.
        """
        sampler, shape = self.sampler, shape_of(values["branching"], 0)
        for delta in (arrays["delta_doc"], arrays["delta_word"]):
            require(is_table(delta, shape.depth), "a level has no discount")
            require(are_discounts(delta), "its discounts are not positive with a sum below one")
        sampler.shape, sampler.n_passes = shape, whole_number("n_passes", values["n_passes"])
        sampler.settled = sampler.n_passes > 0
        sampler.delta_doc, sampler.delta_word = arrays["delta_doc"], arrays["delta_word"]
        n_read = whole_number("n_read", values["n_read"])
        require(0 < n_read <= sampler.blocks.n_blocks, "its blocks are not those of these documents")
        sampler.blocks.n_read = n_read
        sampler.blocks.put(
            _checked(arrays[f"z.{block}"], size, shape) for block, size in enumerate(sampler.blocks.sizes)
        )
        sampler.recount()
        self._likelihood = {str(name): float(value) for name, value in values["likelihood"].items()}


def _checked(z: NDArray, size: int, shape: Shape) -> Int32:
    """Return the leaves of a block; a ValueError for what cannot be leaves of its tokens."""
    require(z.shape == (size,) and z.dtype == np.int32, "its leaves are not one for each token")
    require(z.size == 0 or (z.min() >= 0 and z.max() < shape.n_leaves), "a leaf is outside the tree")
    return z.copy()
