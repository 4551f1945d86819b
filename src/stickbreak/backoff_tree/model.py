"""A fitted tree: the words' trees of the last leaves, asked about documents and leaves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from stickbreak.backoff_tree.backoff import Backoff, solve_backoff
from stickbreak.backoff_tree.counting import merged
from stickbreak.backoff_tree.kernels import fixed as fixed_kernels
from stickbreak.backoff_tree.leaf_words import LeafWords
from stickbreak.backoff_tree.lists import Totals, directories, lists_of
from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.state import Directory, Discounts, Scratch, WordCounts
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens, refuse_fractions
from stickbreak.fitting.executor import Executor, shards
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.streams import key_of

# passes over a new document: before the first that counts, and those that count for its shares and for its score
N_BURN, N_SHARES, N_SCORE = 10, 50, 100
_SHARD_TOKENS, _BLOCK_TOKENS = 16_384, 200_000


class TreeModel:
    """The trees of the words, held fixed.

    Parameters
    ----------
    counts : WordCounts
        Of the documents, with one token at least.
    shape : TreeShape
    delta_doc, delta_word : ndarray of shape (depth,)
    smoothing_share : float or None
        Of the words, at the leaf with the most smoothing; None where C is solved.                    math.md (T6)
    executor : Executor
        Of the work of the constructor.
    pseudo : WordCounts, optional
        Pseudo-tokens of seeds, which the trees have, too.                                        math.md (T16)
    """

    def __init__(
        self,
        counts: WordCounts,
        shape: Shape,
        delta_doc: Float,
        delta_word: Float,
        smoothing_share: float | None,
        executor: Executor,
        pseudo: WordCounts | None = None,
    ) -> None:
        self.shape, self.own_tokens = shape, Totals.of(counts, shape.n_leaves).n_tokens
        if pseudo is not None:
            counts = merged(counts, [pseudo], shape.n_leaves, executor)
        self.of_documents = Discounts.of(delta_doc, shape)
        self.of_words = Discounts.of(delta_word, shape)
        self.words = lists_of(counts)
        self.n_tokens, n_words, of_word = Totals.of(counts, shape.n_leaves)
        self.backoff: Backoff = solve_backoff(self.n_tokens, n_words, self.of_words, shape, smoothing_share)
        self.directory: Directory = directories(self.words, self.backoff.scale, self.of_words, shape, executor)
        self.word_tokens: Float = of_word.astype(np.float64)

    def samples(self, tokens: Tokens, n_passes: int, executor: Executor) -> Int32:
        """Return leaves of all tokens in each pass that counts, (n_passes, N).                       math.md (T10)"""
        samples = np.zeros((n_passes, tokens.word.size), np.int32)
        key = key_of(0, 0, "new documents")

        def work(part: tuple[int, int]) -> None:
            scratch = Scratch.of(int(tokens.lengths[part[0] : part[1]].max(initial=1)), self.shape)
            fixed_kernels.sample_documents(
                *part, tokens.start, tokens.word, self.shape.below, self.of_documents, self.of_words,
                self.words, self.directory, key, N_BURN, samples, scratch,
            )  # fmt: skip

        executor.map(work, shards(tokens.lengths, _SHARD_TOKENS))
        return samples

    def weights(self, corpus: Corpus, executor: Executor) -> sparse.csr_array:
        """Return shares of the tokens of documents at each leaf, (D, L), zero rows for documents of unknown words."""
        parts = []
        for tokens in self._blocks(corpus):
            samples, L = self.samples(tokens, N_SHARES, executor), self.shape.n_leaves
            document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
            pair, n = np.unique((document * L + samples).ravel(), return_counts=True)
            row = pair // L
            start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=tokens.n_documents))))
            share = n / (samples.shape[0] * tokens.lengths[row])
            parts.append(sparse.csr_array((share, pair % L, start), shape=(tokens.n_documents, L)))
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def log_predictive(self, observed: Corpus, held_out: Corpus, executor: Executor) -> tuple[float, float]:
        """Return the log probability of held-out words, and their number.                            math.md (T11)"""
        total, first = 0.0, 0
        missing, share = self.missing(), self.word_tokens / self.word_tokens.sum()
        unknown, given_away = self.word_tokens == 0, self.given_away()
        for tokens in self._blocks(observed):
            counts = held_out[first : first + tokens.n_documents].counts
            first += tokens.n_documents
            samples, prob = self.samples(tokens, N_SCORE, executor), np.zeros(counts.nnz)
            held_start, held_word = counts.indptr.astype(np.int64), counts.indices
            self._predict(tokens, samples, held_start, held_word, missing, share, prob, executor)
            prob *= 1.0 - given_away
            new = unknown[held_word]
            prob[new] = given_away / max(1, int(unknown.sum()))
            total += float(counts.data @ np.log(prob))
        return total, float(held_out.counts.sum())

    def missing(self) -> Float:
        """Return running sums over leaves of what the words' probabilities lack to one there, (L + 1,). math.md (T11)

        They lack something at leaves without tokens only; the words have it by their frequency.
        """
        lack = np.where(self.n_tokens > 0, 0.0, 1.0 - self.backoff.smoothing / self.backoff.peak)
        return np.concatenate(([0.0], np.cumsum(lack)))

    def given_away(self) -> float:
        """Return the probability u that a word is one of those that the fit never saw.             math.md (T11)"""
        return 1.0 / (1.0 + float(self.word_tokens.sum())) if (self.word_tokens == 0).any() else 0.0

    def _predict(
        self, tokens: Tokens, samples: Int32, held_start: Int, held_word: Int32, missing: Float, share: Float,
        prob: Float, executor: Executor,
    ) -> None:  # fmt: skip
        """Write the mean probabilities of held-out words over samples."""

        def work(part: tuple[int, int]) -> None:
            longest = int(tokens.lengths[part[0] : part[1]].max(initial=1))
            scratch = Scratch.of(samples.shape[0] * longest, self.shape)
            fixed_kernels.predict_words(
                *part, tokens.start, samples, held_start, held_word, self.shape.below, self.of_documents,
                self.of_words, self.words, self.directory, self.backoff.peak, missing, share, scratch, prob,
            )  # fmt: skip

        executor.map(work, shards(tokens.lengths, _SHARD_TOKENS))

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

    def kept(self) -> Float:
        """Return what each entry of the lists of words keeps, in their order.                         math.md (T6)"""
        words = self.words
        return (words.n - self.of_words.given[-1]) * self.backoff.scale[words.leaf]

    def leaf_words(self) -> LeafWords:
        """Return the words that have tokens at each leaf, with P(w | z); other words have less there."""
        words, rate = self.words, self.of_words.rate
        smoothing = np.empty(words.leaf.size)
        fixed_kernels.smooth_entries(
            0, words.size.size, words.start, words.size, words.leaf, self.shape.nodes, rate, smoothing
        )
        kept = self.kept()
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
        """Return P(w | z) of some leaves with tokens, (n, W): all words, smoothing included.         math.md (T6)"""
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
        kept = sparse.csc_array((self.kept(), words.leaf, words.start), shape=(L, words.size.size))
        return (out + sparse.csr_array(kept)[leaves].toarray()) / self.backoff.peak
