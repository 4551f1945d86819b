"""The sampler: leaves of all tokens, the trees of the words, pass after pass."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.backoff import Backoff
from stickbreak.backoff_tree.discounts import within
from stickbreak.backoff_tree.kernels import documents as document_kernels
from stickbreak.backoff_tree.lists import empty_lists, fill_lists, word_trees
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.backoff_tree.state import Directory, Discounts, Scratch, WordLeaves
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.executor import Executor, ThreadExecutor, shards
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.numerics.keys import key_of

_SHARD_TOKENS = 16_384


class TreeSampler:
    """Leaves of N tokens, and what a pass over them depends on.                                     math.md (T5)

    A pseudo-Gibbs procedure: the conditionals of the model are not those of one joint distribution (math.md (T5)).

    Parameters
    ----------
    tokens : Tokens
    shape : TreeShape
    delta_doc, delta_word : ndarray of shape (depth,)
        Discounts of each level, for documents and words; each sums to less than 1.
    seed : int
    at_once : bool
        Whether each draw changes the words' trees at once (serial), or all are merged after the pass (parallel).

    Attributes
    ----------
    z : ndarray of shape (N,)
        Leaf of each token.
    n_passes : int
        Passes done.
    settled : bool
        Whether a pass was made since tokens were last put at leaves at random: by the start, or by growth.
    """

    def __init__(
        self, tokens: Tokens, shape: TreeShape, delta_doc: Float, delta_word: Float, seed: int, *, at_once: bool
    ) -> None:
        self.tokens, self.shape, self.seed, self.at_once = tokens, shape, seed, at_once
        self.delta_doc, self.delta_word = np.array(delta_doc, np.float64), np.array(delta_word, np.float64)
        self.n_passes, self.settled = 0, False
        self.words: WordLeaves = empty_lists(tokens)
        self.z: Int32 = np.zeros(tokens.word.size, np.int32)
        self.backoff: Backoff
        self._directory: Directory

    def begin(self) -> None:
        """Put every token at a leaf at random."""
        rng = np.random.Generator(np.random.Philox(key=int(key_of(self.seed, 0, "leaves"))))
        self.z = rng.integers(self.shape.n_leaves, size=self.z.size, dtype=np.int32)

    def prepare(self, executor: Executor) -> None:
        """Make the trees of the words from the leaves of the tokens; drift of rounding ends here."""
        fill_lists(self.words, self.tokens, self.z, executor)
        discounts = Discounts.of(self.delta_word, self.shape)
        self.backoff, self._directory = word_trees(self.words, self.z, discounts, self.shape, executor)

    def sweep(self, executor: Executor) -> float:
        """Sample all tokens once; return the mean log probability of a word given all other tokens, before its draw."""
        self.n_passes += 1
        self.prepare(executor)
        tokens, shape = self.tokens, self.shape
        of_documents, of_words = Discounts.of(self.delta_doc, shape), Discounts.of(self.delta_word, shape)
        log_p = np.zeros(tokens.n_documents)
        key = key_of(self.seed, self.n_passes, "tree")

        def work(part: tuple[int, int]) -> None:
            longest = int(tokens.lengths[part[0] : part[1]].max(initial=1))
            document_kernels.sweep_documents(
                *part, tokens.start, tokens.word, self.z, shape.leaves_below, of_documents, of_words, self.words,
                self._directory, self.backoff.scale, self.backoff.peak, key, self.at_once,
                Scratch.of(longest, shape), log_p,
            )  # fmt: skip

        parts = shards(tokens.lengths, _SHARD_TOKENS)
        (ThreadExecutor(1) if self.at_once else executor).map(work, parts)
        self.settled = True
        return float(log_p.sum() / tokens.word.size)

    def expand(self, k: int, delta_doc: float, delta_word: float, most: float) -> None:
        """Make every leaf a node with k leaves; its tokens go to one of these at random.                math.md (T9)

        Parameters
        ----------
        k : int
            Leaves of each former leaf.
        delta_doc, delta_word : float
            Discounts of the new level.
        most : float
            All discounts of a kind are scaled down to sum to at most so much.
        """
        self.shape, self.settled = self.shape.expanded(k), False
        rng = np.random.Generator(
            np.random.Philox(key=int(key_of(self.seed, self.n_passes, f"expand {self.shape.depth - 1} {k}")))
        )
        self.z = (self.z * np.int32(k) + rng.integers(k, size=self.z.size, dtype=np.int32)).astype(np.int32)
        self.delta_doc = within(np.append(self.delta_doc, delta_doc), most)
        self.delta_word = within(np.append(self.delta_word, delta_word), most)

    @property
    def n_used(self) -> int:
        """Number of leaves with tokens."""
        return int(np.count_nonzero(np.bincount(self.z, minlength=self.shape.n_leaves)))
