"""Seeds of a tree: pseudo-tokens of words at leaves, which are counted and never sampled (docs/math (T16))."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from stickbreak.backoff_tree.document_blocks import BlockJob, DocumentBlocks
from stickbreak.backoff_tree.shape import Shape, Taxonomy
from stickbreak.backoff_tree.state import WordCounts
from stickbreak.corpus.tokens import written_out
from stickbreak.exceptions import InputError
from stickbreak.model.seeds import Seeds, known_words, pseudo_of
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.sparse_gibbs.tokens import NearSeeds


@dataclass(frozen=True, slots=True)
class KnownWords:
    """What is known of the words of some leaves.                                                   docs/math (T16)"""

    shape: Shape  # the whole tree
    leaves: Int  # (n_seeds,)  of each seed there
    pseudo: sparse.csr_array  # (W, n_seeds)  pseudo-tokens, whole numbers

    @classmethod
    def of(cls, seeds: Seeds, tokens: float, vocabulary: Sequence[str], shape: Shape) -> KnownWords:
        """Return what seeds say: each has `tokens`, shared by its words in whole numbers, at least one for each."""
        pseudo = pseudo_of(list(known_words(seeds, vocabulary).values()), len(vocabulary), tokens)
        pseudo.data = np.maximum(np.rint(pseudo.data), 1.0)
        return cls(shape, leaves_of(tuple(seeds), shape), pseudo)

    def leaves_in(self, shape: Shape) -> Int:
        """Return the leaf of each seed in a tree of the first levels alone, or of further ones: the first below."""
        if shape.depth > self.shape.depth:
            return self.leaves * (shape.n_leaves // self.shape.n_leaves)  # each leaf has become as many
        return self.shape.node_of(self.leaves, shape.depth)

    def counts_in(self, shape: Shape) -> WordCounts:
        """Return the pseudo-tokens of each word at each leaf of such a tree."""
        entries = self.pseudo.tocoo()
        place = entries.row, self.leaves_in(shape)[entries.col]
        table = sparse.csr_array((entries.data, place), shape=(self.pseudo.shape[0], shape.n_leaves))
        return WordCounts(table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data.astype(np.int32))

    def start(self, blocks: DocumentBlocks, shape: Shape, rng: np.random.Generator) -> Iterator[Int32]:
        """Yield leaves of the tokens of each block: of seeds, or at random.                   docs/math (L17), (T16)"""
        leaves = self.leaves_in(shape)
        for job in blocks.jobs():
            seed = self._near(job, rng)
            free = rng.integers(shape.n_leaves, size=seed.size, dtype=np.int32)
            yield np.where(seed >= 0, leaves[seed], free).astype(np.int32)

    def scattered(
        self, blocks: DocumentBlocks, before: Shape, shape: Shape, rng: np.random.Generator
    ) -> Iterator[Int32]:
        """Yield leaves of the tokens of each block in a tree with a level more.                docs/math (T9), (T16)

        Of a leaf that has become a node above seeds these get their part, as at the start.
        """
        leaves, nodes = self.leaves_in(shape), self.leaves_in(before)
        for job, z in zip(blocks.jobs(), blocks.leaves, strict=True):
            below, seed = shape.scattered(before.branching, z, rng), self._near(job, rng)
            yield np.where((seed >= 0) & (nodes[seed] == z), leaves[seed], below).astype(np.int32)

    def _near(self, job: BlockJob, rng: np.random.Generator) -> Int:
        """Draw a seed for each token of a block, or -1."""
        documents = job.documents.load()
        start, word = written_out(documents)
        return NearSeeds(documents, self.pseudo).draw(word, np.repeat(np.arange(start.size - 1), np.diff(start)), rng)


def leaves_of(names: Sequence[str], shape: Shape) -> Int:
    """Return the leaf of each seed: that of its path in a tree of paths, else evenly from left to right.

    Raises InputError if there are fewer leaves, or a name is not the path of one.
    """
    if not isinstance(shape, Taxonomy):
        if len(names) > shape.n_leaves:
            raise InputError(
                f"seeds are {len(names)}, but the tree has {shape.n_leaves} leaves; give fewer, or a larger tree."
            )
        return np.arange(len(names), dtype=np.int64) * shape.n_leaves // len(names)
    number, found = {path: z for z, path in enumerate(shape.branching)}, []
    for name in names:
        path = "/".join(part.strip() for part in name.split("/"))
        if path not in number:
            raise InputError(
                f"seeds has the name {name!r:.60}, which is not the path of a leaf of the tree; give a path of "
                f"branching, such as {shape.branching[0]!r:.60}."
            )
        found.append(number[path])
    if len(set(found)) < len(found):
        raise InputError("seeds has the path of a leaf twice; give each leaf once.")
    return np.array(found, dtype=np.int64)
