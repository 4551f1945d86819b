"""A fitted tree: the words' trees of the last leaves, asked about documents and leaves.

Beside the model itself: the words of leaves that top words are read from, and the rule of the left-to-right likelihood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from stickbreak.backoff_tree.document_blocks import merged
from stickbreak.backoff_tree.kernels import documents as document_kernels
from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.state import (
    Backoff,
    Discounts,
    Scratch,
    Totals,
    Trees,
    WordCounts,
    directories,
    lists_of,
    solve_backoff,
)
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens, refuse_fractions
from stickbreak.fitting.engine import Engine, shards
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.streams import key_of
from stickbreak.prediction.left_to_right import Particles, Sequences
from stickbreak.prediction.words import relevance

# passes over a new document: before the first that counts, and those that count for its shares and for its score
N_BURN, N_SHARES, N_SCORE = 10, 50, 100
_SHARD_TOKENS, _BLOCK_TOKENS = 16_384, 200_000
_RANKED_NUMBERS = 1 << 22  # of a table of words of leaves that are ranked at a time


@dataclass(frozen=True, slots=True)
class LeafWords:
    """A sparse table of K leaves and W words; the words of leaf k stand at start[k] .. start[k + 1] - 1.

    `start` (K + 1,). `word` (entries,): ascending within a leaf. `count` (entries,): tokens of the word at the leaf.
    `probability` (entries,): P(w | z), smoothing included. docs/math (T6). `word_tokens` (W,): tokens of a word at all
    leaves.
    """

    start: Int
    word: Int32
    count: Int32
    probability: Float
    word_tokens: Float

    @property
    def counts(self) -> sparse.csr_array:
        """Tokens of each word at each leaf, (K, W)."""
        return sparse.csr_array((self.count, self.word, self.start), shape=(self.start.size - 1, self.word_tokens.size))

    def at_leaf(self, k: int) -> tuple[Int, Float]:
        """Return the words that have tokens at a leaf, with P(w | z)."""
        here = slice(self.start[k], self.start[k + 1])
        return self.word[here].astype(np.int64), self.probability[here]

    def below(self, low: int, high: int) -> tuple[Int, Float]:
        """Return the words that have tokens at leaves low .. high - 1, with their share of the tokens there."""
        here = slice(self.start[low], self.start[high])
        tokens = np.bincount(self.word[here], weights=self.count[here], minlength=self.word_tokens.size)
        words = np.flatnonzero(tokens)
        return words, tokens[words] / tokens.sum()

    def best(self, found: tuple[Int, Float], n: int) -> tuple[Int, Float]:
        """Return the n words, with their probabilities, that say most about a node.                 docs/math (T14)"""
        words, probability = found
        order = np.argsort(-relevance(probability, np.log(self.word_tokens[words])), kind="stable")[:n]
        return words[order], probability[order]


class UnseenWords(NamedTuple):
    """What the words' probabilities lack to one at leaves without tokens, and which words have it.   docs/math (T11)"""

    peak: float  # C of (T6)
    missing: Float  # (L + 1,)  running sums over leaves
    spread: Float  # (L,)  what an entry of a document there adds, beside n_z times that of the leaf itself
    share: Float  # (W,)  of a word; of one that the fit never saw its probability
    known: float  # probability that a word is one that the fit has seen


class TreeModel:
    """The trees of the words, held fixed.                                                      docs/math (T6), (T16)

    `counts`: of the documents, with one token at least. `delta_doc`, `delta_word` (depth,). `smoothing_share`: of the
    words, at the leaf with the most smoothing; None where C is solved. `engine`: of the work of the constructor.
    `pseudo`: pseudo-tokens of seeds, which the trees have, too.
    """

    def __init__(
        self,
        counts: WordCounts,
        shape: Shape,
        delta_doc: Float,
        delta_word: Float,
        smoothing_share: float | None,
        engine: Engine,
        pseudo: WordCounts | None = None,
    ) -> None:
        self.shape, self.own_tokens = shape, Totals.of(counts, shape.n_leaves).n_tokens
        if pseudo is not None:
            counts = merged(counts, [pseudo], shape.n_leaves, engine)
        of_documents, self.of_words = Discounts.of(delta_doc, shape), Discounts.of(delta_word, shape)
        self.words = lists_of(counts)
        self.n_tokens, n_words, of_word = Totals.of(counts, shape.n_leaves)
        self.backoff: Backoff = solve_backoff(self.n_tokens, n_words, self.of_words, shape, smoothing_share)
        directory = directories(self.words, self.backoff.scale, self.of_words, shape, engine)
        self.trees = Trees(shape.below, shape.nodes, of_documents, self.of_words, self.words, directory)
        self.word_tokens: Float = of_word.astype(np.float64)

    def samples(self, tokens: Tokens, n_passes: int, engine: Engine) -> Int32:
        """Return leaves of all tokens in each pass that counts, (n_passes, N).                       docs/math (T10)"""
        samples = np.zeros((n_passes, tokens.word.size), np.int32)
        key = key_of(0, 0, "new documents")

        def work(part: tuple[int, int]) -> None:
            scratch = Scratch.of(int(tokens.lengths[part[0] : part[1]].max(initial=1)), self.shape)
            document_kernels.sample_documents(
                *part, tokens.start, tokens.word, self.trees, key, -1, N_BURN, samples, scratch
            )

        engine.map(work, shards(tokens.lengths, _SHARD_TOKENS))
        return samples

    def weights(self, corpus: Corpus, engine: Engine) -> sparse.csr_array:
        """Return shares of the tokens of documents at each leaf, (D, L), zero rows for documents of unknown words."""
        parts = []
        for tokens in self._blocks(corpus):
            samples, L = self.samples(tokens, N_SHARES, engine), self.shape.n_leaves
            document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
            pair, n = np.unique((document * L + samples).ravel(), return_counts=True)
            row = pair // L
            start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=tokens.n_documents))))
            share = n / (samples.shape[0] * tokens.lengths[row])
            parts.append(sparse.csr_array((share, pair % L, start), shape=(tokens.n_documents, L)))
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def log_predictive(self, observed: Corpus, held_out: Corpus, engine: Engine) -> tuple[float, float]:
        """Return the log probability of held-out words, and their number.                            docs/math (T11)"""
        total, first = 0.0, 0
        lacking, unknown, given_away = self.lacking(), self.word_tokens == 0, self.given_away()
        for tokens in self._blocks(observed):
            counts = held_out[first : first + tokens.n_documents].counts
            first += tokens.n_documents
            samples, prob = self.samples(tokens, N_SCORE, engine), np.zeros(counts.nnz)
            held_start, held_word = counts.indptr.astype(np.int64), counts.indices

            def work(
                part: tuple[int, int], tokens: Tokens = tokens, samples: Int32 = samples, prob: Float = prob,
                held: tuple[Int, Int32] = (held_start, held_word),
            ) -> None:  # fmt: skip
                longest = int(tokens.lengths[part[0] : part[1]].max(initial=1))
                scratch = Scratch.of(samples.shape[0] * longest, self.shape)
                document_kernels.predict_words(*part, tokens.start, samples, *held, self.trees, lacking, scratch, prob)

            engine.map(work, shards(tokens.lengths, _SHARD_TOKENS))
            prob *= 1.0 - given_away
            new = unknown[held_word]
            prob[new] = given_away / max(1, int(unknown.sum()))
            total += float(counts.data @ np.log(prob))
        return total, float(held_out.counts.sum())

    def missing(self) -> Float:
        """Return running sums over leaves of what the words' probabilities lack to one there, (L + 1,). docs/math (T11)

        They lack something at leaves without tokens only; the words have it by their frequency.
        """
        lack = np.where(self.n_tokens > 0, 0.0, 1.0 - self.backoff.smoothing / self.backoff.peak)
        return np.concatenate(([0.0], np.cumsum(lack)))

    def lacking(self) -> UnseenWords:
        """Return what the words' probabilities lack, as kernels ask for it."""
        shape, documents, missing = self.shape, self.trees.of_documents, self.missing()
        spread: Float = -documents.given[-1] * np.diff(missing)
        for h in range(shape.depth):
            lack = np.diff(missing[shape.first_leaves(h)])
            spread += np.repeat(documents.delta[h] / shape.sizes(h) * lack, shape.sizes(h))
        words, u = self.word_tokens, self.given_away()
        known = words > 0
        share = np.where(known, words / words.sum(), u / max(1, int((~known).sum())))
        return UnseenWords(self.backoff.peak, missing, spread, share, 1.0 - u)

    def given_away(self) -> float:
        """Return the probability u that a word is one of those that the fit never saw.             docs/math (T11)"""
        return 1.0 / (1.0 + float(self.word_tokens.sum())) if (self.word_tokens == 0).any() else 0.0

    def _blocks(self, corpus: Corpus) -> Iterator[Tokens]:
        """Yield the tokens of known words of documents, in blocks that need little memory."""
        refuse_fractions(corpus)
        lengths, first = corpus.document_lengths, 0
        known = self.word_tokens > 0
        while first < corpus.n_documents or first == 0:
            last = first + 1 + int(np.searchsorted(np.cumsum(lengths[first + 1 :]), _BLOCK_TOKENS))
            counts = sparse.csr_matrix(corpus[first:last].counts.multiply(known))
            counts.eliminate_zeros()
            yield Tokens.from_corpus(Corpus.from_counts(counts) if corpus.n_documents else corpus)
            first = last

    def discounted(self) -> Float:
        """Return what each entry of the lists of words keeps, in their order.                         docs/math (T6)"""
        words = self.words
        return (words.n - self.of_words.given[-1]) * self.backoff.scale[words.leaf]

    def leaf_words(self) -> LeafWords:
        """Return the words that have tokens at each leaf, with P(w | z); other words have less there."""
        words, rate = self.words, self.of_words.rate
        smoothing = np.empty(words.leaf.size)
        document_kernels.smooth_entries(
            0, words.size.size, words.start, words.size, words.leaf, self.shape.nodes, rate, smoothing
        )
        kept = self.discounted()
        by_word = sparse.csc_array(
            (np.arange(words.leaf.size), words.leaf, words.start), shape=(self.shape.n_leaves, words.size.size)
        )
        by_leaf = sparse.csr_array(by_word)
        entry = by_leaf.data
        return LeafWords(
            start=np.append(by_leaf.indptr[:-1][self.n_tokens > 0], entry.size).astype(np.int64),
            word=by_leaf.indices.astype(np.int32),
            count=words.n[entry],
            probability=((kept + smoothing) / self.backoff.peak)[entry],
            word_tokens=self.word_tokens,
        )

    def word_distributions(self, leaves: Int) -> Float:
        """Return P(w | z) of some leaves with tokens, (n, W): all words, smoothing included.         docs/math (T6)"""
        words, L = self.words, self.shape.n_leaves
        out = np.zeros((leaves.size, words.size.size))
        if not leaves.size:
            return out
        for h in range(self.shape.depth):
            nodes, inverse = np.unique(self.shape.node_of(leaves, h), return_inverse=True)
            node = self.shape.node_of(words.leaf, h)
            at = np.searchsorted(nodes, node)
            inside = (at < nodes.size) & (nodes[np.minimum(at, nodes.size - 1)] == node)
            word = np.repeat(np.arange(words.size.size), words.size)
            used = sparse.csr_array(
                (np.ones(int(inside.sum())), (at[inside], word[inside])), shape=(nodes.size, words.size.size)
            )
            rate = (
                self.of_words.rate[h] if self.of_words.rate.ndim == 1 else self.of_words.rate[h, nodes[inverse], None]
            )
            out += rate * used[inverse].toarray()
        kept = sparse.csc_array((self.discounted(), words.leaf, words.start), shape=(L, words.size.size))
        return (out + sparse.csr_array(kept)[leaves].toarray()) / self.backoff.peak

    def ranked_words(self, n_words: int) -> Int:
        """Return the words of highest P(w | z) of all leaves with tokens, the highest first, ties by word: (K, n)."""
        leaves, W = np.flatnonzero(self.n_tokens), self.word_tokens.size
        top, size = np.empty((leaves.size, min(n_words, W)), np.int64), max(1, _RANKED_NUMBERS // W)
        for begin in range(0, leaves.size, size):
            part = slice(begin, begin + size)
            order = np.argsort(-self.word_distributions(leaves[part]), axis=1, kind="stable")
            top[part] = order[:, : top.shape[1]]
        return top


class TreeRule:
    """Leaves with the sequential rule of the documents' tree: p(z | leaves before) is mass(z) / n.  docs/math (T12)

    Nothing dense is made but some numbers for each leaf.
    """

    def __init__(self, model: TreeModel) -> None:
        self._model, self._lacking = model, model.lacking()

    @property
    def numbers_per_word(self) -> int:
        """Doubles that are gathered for each different word of a shard: none."""
        return 0

    def log_probabilities(self, documents: Sequences, particles: Particles) -> tuple[Float, Float]:
        """Return both estimates of the log probability of each document, (D,) and (D,).        docs/math (T12)"""
        model = self._model
        printed, unbiased = (np.empty(documents.content.size) for _ in range(2))
        scratch = Scratch.of(int(np.diff(documents.start).max(initial=1)), model.shape)
        document_kernels.score_documents(
            (documents.start, documents.word, documents.content), particles.key, particles.n, particles.resample,
            model.trees, self._lacking, scratch, printed, unbiased,
        )  # fmt: skip
        return printed, unbiased
