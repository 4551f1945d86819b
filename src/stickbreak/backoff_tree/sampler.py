"""The sampler: leaves of all tokens, the trees of the words, pass after pass; and how its discounts are learned."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.discounts import (
    LeafEntries,
    beam_search,
    document_likelihood,
    sample_of_groups,
    word_likelihood,
)
from stickbreak.backoff_tree.document_blocks import (
    DocumentBlocks,
    SweepWork,
    WordTrees,
    count_tokens,
    merged,
    placed,
    sampled,
)
from stickbreak.backoff_tree.seeds import KnownWords
from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.state import Backoff, Discounts, Totals, WordCounts, solve_backoff
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.streams import key_of

LEARNABLE = ("alpha", "eta")
SAMPLE = 20_000  # tokens of a sample, about
_ALONE = Engine(1)


class TreeSampler:
    """Leaves of N tokens, and what a pass over them depends on.                                     docs/math (T5)

    A pseudo-Gibbs procedure: the conditionals of the model are not those of one joint distribution (docs/math (T5)).

    `blocks`: the documents; it holds the leaves of their tokens. `delta_doc`, `delta_word` (depth,): discounts of each
    level, for documents and words; each sums to less than 1. `at_once`: whether each draw changes the words' trees at
    once (serial), or all are merged after the pass (parallel). `known`: pseudo-tokens, which the trees of the words
    have beside the tokens. `smoothing_share`: of the words, at the leaf with the most smoothing. The default solves C.
    docs/math (T6). `n_passes`: passes done. `settled`: whether a pass was made since tokens were last put at leaves at
    random: by the start, or by growth. `backoff`: that of the last pass, or of the last `solve`.
    """

    backoff: Backoff

    def __init__(
        self,
        blocks: DocumentBlocks,
        shape: Shape,
        delta_doc: Float,
        delta_word: Float,
        seed: int,
        *,
        at_once: bool,
        known: KnownWords | None = None,
        smoothing_share: float | None = None,
    ) -> None:
        self.blocks, self.shape, self.seed, self.at_once, self.known = blocks, shape, seed, at_once, known
        self.delta_doc, self.delta_word = np.array(delta_doc, np.float64), np.array(delta_word, np.float64)
        self.smoothing_share = smoothing_share
        self.n_passes, self.settled = 0, False
        self._counted: tuple[WordCounts, Totals] | None = None

    def begin(self) -> None:
        """Put every token that is read at a leaf at random, or at that of a seed."""
        rng, L = np.random.Generator(np.random.Philox(key=int(key_of(self.seed, 0, "leaves")))), self.shape.n_leaves
        if self.known is None:
            self.blocks.put(rng.integers(L, size=size, dtype=np.int32) for size in self.blocks.sizes)
        else:
            self.blocks.put(self.known.start(self.blocks, self.shape, rng))
        self.recount()

    def recount(self) -> None:
        """Forget what the tokens of words add up to: the leaves, or the tree, are others."""
        self._counted = None

    def counts(self, engine: Engine) -> tuple[WordCounts, Totals]:
        """Return the tokens of each word at each leaf, pseudo-tokens too, and what they add up to.  docs/math (T16)"""
        if self._counted is None:
            counts = self.own_counts(engine)
            if self.known is not None:
                counts = merged(counts, [self.known.counts_in(self.shape)], self.shape.n_leaves, engine)
            self._counted = counts, Totals.of(counts, self.shape.n_leaves)
        return self._counted

    def own_counts(self, engine: Engine) -> WordCounts:
        """Return the tokens of each word at each leaf that documents have."""
        return count_tokens(self.blocks, self.shape.n_leaves, engine)

    def solve(self, engine: Engine) -> Backoff:
        """Return the backoff of the leaves and discounts as they are."""
        n_tokens, n_words, _ = self.counts(engine)[1]
        self.backoff = solve_backoff(n_tokens, n_words, self.of_words(), self.shape, self.smoothing_share)
        return self.backoff

    def marginal(self, engine: Engine) -> Float:
        """Return P* of the leaves as they are; 0 where no token is.                                  docs/math (T8)"""
        return np.where(self.counts(engine)[1].n_tokens > 0, self.solve(engine).prob, 0.0)

    def of_documents(self) -> Discounts:
        """Return the discounts of documents as they are."""
        return Discounts.of(self.delta_doc, self.shape)

    def of_words(self) -> Discounts:
        """Return the discounts of words as they are."""
        return Discounts.of(self.delta_word, self.shape)

    def sweep(self, engine: Engine) -> float:
        """Sample all tokens that are read once.

        Return the mean log probability of a word given all other tokens, before its own draw.
        """
        self.n_passes += 1
        task = self._work(engine, "tree", at_once=self.at_once)
        self.recount()  # the trees of the pass alone hold these counts now
        # each draw of a serial pass changes the trees for the next: that is one thread's work
        log_p = self.blocks.run(_ALONE if self.at_once else engine, sampled, task)
        self.settled = True
        return float(np.concatenate(log_p).sum() / self.blocks.n_tokens)

    def read(self, n_tokens: float, engine: Engine) -> None:
        """Read `n_tokens` tokens or more from now on. The trees of words place the new ones.         docs/math (T19)"""
        before, number = self.blocks.n_read, self.blocks.number_for(n_tokens)
        if number <= before:
            return
        task = self._work(engine, "place", at_once=False)
        self.recount()
        self.blocks.n_read = number
        self.blocks.run(engine, placed, task, before)

    def _work(self, engine: Engine, purpose: str, *, at_once: bool) -> SweepWork:
        """Return what the jobs of a pass share: trees made of the leaves, so drift of rounding ends here."""
        (counts, totals), backoff, shape = self.counts(engine), self.solve(engine), self.shape
        room = np.minimum(totals.of_word, shape.n_leaves) if at_once else None
        discounts = self.of_documents(), self.of_words()
        trees = WordTrees.of(counts, shape, discounts, backoff.scale, engine, room=room)
        key = key_of(self.seed, self.n_passes, purpose)
        return SweepWork(trees, backoff.peak, int(totals.of_word.sum()), key, at_once)

    def expand(self, shape: Shape, delta_doc: float, delta_word: float, most: float) -> None:
        """Make leaves nodes of a tree with a level more; their tokens go to leaves below at random.     docs/math (T9)

        `shape`: the tree with the new level. `delta_doc`, `delta_word`: discounts of the new level. `most`: all
        discounts of a kind are scaled down to sum to at most so much along a path.
        """
        before, self.shape, self.settled = self.shape, shape, False
        purpose = f"expand {before.depth} {shape.n_leaves // before.n_leaves}"
        rng = np.random.Generator(np.random.Philox(key=int(key_of(self.seed, self.n_passes, purpose))))
        if self.known is None:
            self.blocks.put(shape.scattered(before.branching, z, rng) for z in self.blocks.leaves)
        else:
            self.blocks.put(self.known.scattered(self.blocks, before, shape, rng))
        self.recount()
        self.delta_doc, self.delta_word = (
            delta * min(1.0, most / float(delta.sum()))
            for delta in (np.append(self.delta_doc, delta_doc), np.append(self.delta_word, delta_word))
        )

    def reshape(self, shape: Shape, to: Int32, delta_doc: Float, delta_word: Float) -> None:
        """Take a tree with the same leaves, where leaf z is leaf to[z], and its discounts."""
        self.shape, self.delta_doc, self.delta_word = shape, delta_doc, delta_word
        self.blocks.put(to[z] for z in self.blocks.leaves)
        self.recount()

    def n_used(self, engine: Engine) -> int:
        """Return the number of leaves with tokens."""
        return int(np.count_nonzero(self.counts(engine)[1].n_tokens))


def learn(sampler: TreeSampler, name: str, engine: Engine, *, search: bool = True) -> float:
    """Set the discounts of documents ("alpha") or words ("eta") by beam search; return their likelihood.

    Without `search` they stay: leaves at random would only ask for as much smoothing as there can be.

    Documents or words are sampled again each time, by the pass; P* is that of the present leaves.

    Returns nats per token of the sample.
    """
    key = key_of(sampler.seed, sampler.n_passes, f"learn {name}")
    rng, shape = np.random.Generator(np.random.Philox(key=int(key))), sampler.shape
    if name == "alpha":
        likelihood = document_likelihood(*leaves_of_documents(sampler.blocks, SAMPLE, rng), key, shape)
        if not search:
            return likelihood(sampler.delta_doc)
        sampler.delta_doc, value = beam_search(likelihood, sampler.delta_doc)
        return value
    counts, totals = sampler.counts(engine)
    entries = LeafEntries.of(*leaves_of_words(counts, totals, SAMPLE, rng), shape)
    likelihood = word_likelihood(entries, sampler.marginal(engine), shape)
    if not search:
        return likelihood(sampler.delta_word)
    sampler.delta_word, value = beam_search(likelihood, sampler.delta_word)
    return value


def leaves_of_documents(blocks: DocumentBlocks, most: int, rng: np.random.Generator) -> tuple[Int, Int32]:
    """Return where the tokens of some documents begin, and the leaf of each; about `most` tokens."""
    chosen, lengths = sample_of_groups(blocks.start, most, rng), np.diff(blocks.start)
    chosen = chosen[lengths[chosen] > 0]
    return np.concatenate(([0], np.cumsum(lengths[chosen]))), np.concatenate(blocks.of_documents(chosen))


def leaves_of_words(counts: WordCounts, totals: Totals, most: int, rng: np.random.Generator) -> tuple[Int, Int32]:
    """Return word, numbered again, and leaf of all tokens of some words; about `most` tokens."""
    chosen = sample_of_groups(np.concatenate(([0], np.cumsum(totals.of_word))), most, rng)
    chosen = chosen[totals.of_word[chosen] > 0]
    where = np.concatenate([np.arange(counts.start[w], counts.start[w + 1]) for w in chosen])
    leaf = np.repeat(counts.leaf[where], counts.n[where])
    return np.repeat(np.arange(chosen.size), totals.of_word[chosen]), leaf
