"""What a fitted tree offers: shares of documents, words of leaves, scores; never a table of documents and leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from stickbreak.backoff_tree.backoff import is_smoothing_share
from stickbreak.backoff_tree.counting import check_counts
from stickbreak.backoff_tree.laps import TreeLaps
from stickbreak.backoff_tree.learning import LEARNABLE
from stickbreak.backoff_tree.model import TreeModel
from stickbreak.backoff_tree.ranking import ranked_words
from stickbreak.backoff_tree.requirements import checked_leaves
from stickbreak.backoff_tree.seeded import SeededTree
from stickbreak.backoff_tree.sequence import TreeRule
from stickbreak.backoff_tree.shape import shape_of
from stickbreak.backoff_tree.state import WordCounts
from stickbreak.backoff_tree.walk import TopicNode, tree_of
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import is_table, require
from stickbreak.fitting.engine import engine
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.fitting.requirements import check_whole
from stickbreak.model.topic_estimator import on_workers
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.ranges import are_discounts
from stickbreak.prediction.completion import Completion, checked_seen, scored_documents
from stickbreak.prediction.topics import ShownTopics, checked_numbers
from stickbreak.prediction.words import words_to_show

_LEVELS = ("alpha_levels_", "eta_levels_")  # discounts
_MOST_NUMBERS = 1 << 26  # of a dense table of words of leaves: 512 MiB


class FittedTree(SeededTree):
    """The side of `BackoffTreeTopics` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("word_start_", "word_leaf_", "word_count_", *_LEVELS)
    _fitted_values: ClassVar[tuple[str, ...]] = ("branching_", "smoothing_share_", *SeededTree._fitted_values)
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    objective_name: ClassVar[str] = "log probability of each word given all others"

    n_topics: int
    word_start_: Int
    word_leaf_: Int32
    word_count_: Int32
    alpha_levels_: Float
    eta_levels_: Float
    branching_: list[int] | list[str]
    smoothing_share_: float | None
    objective_: float
    n_laps_: int
    n_jobs: int | None
    _model: TreeModel

    @property
    def n_leaves_(self) -> int:
        """Number of leaves L of the tree, with or without tokens."""
        check_is_fitted(self)
        return self._model.shape.n_leaves

    @property
    def n_topics_(self) -> int:
        """Number of leaves with tokens."""
        check_is_fitted(self)
        return int(self.leaves_.size)

    @property
    def leaves_(self) -> Int:
        """The leaves with tokens in ascending order, (K,): the topics. Their numbers are the columns of `transform`."""
        check_is_fitted(self)
        return np.flatnonzero(self._model.n_tokens)

    @property
    def leaf_tokens_(self) -> Int:
        """Tokens of each topic, (K,); 0 of a seed whose leaf no token is at."""
        check_is_fitted(self)
        return self._model.own_tokens[self.leaves_]

    @property
    def topic_weights_(self) -> Float:
        """Share of all tokens that each topic has, (K,); they sum to one."""
        check_is_fitted(self)
        return self.leaf_tokens_ / self.leaf_tokens_.sum()

    @property
    def topic_shares_(self) -> Float:
        """The same as `topic_weights_`, (K,)."""
        return self.topic_weights_

    @property
    def alpha_(self) -> float:
        """Sum of the discounts of documents."""
        check_is_fitted(self)
        return float(self.alpha_levels_.sum())

    @property
    def eta_(self) -> float:  # type: ignore[override]  # other families store it
        """Sum of the discounts of words."""
        check_is_fitted(self)
        return float(self.eta_levels_.sum())

    @property
    def leaf_word_(self) -> sparse.csr_array:
        """Tokens of each word at each topic, sparse, (K, W)."""
        check_is_fitted(self)
        return self._model.leaf_words().counts

    @property
    def tree_(self) -> TopicNode:
        """The root of the tree, to walk from. It is made again at each access, so keep it for many questions."""
        check_is_fitted(self)
        return tree_of(self._model, self.vocabulary_)

    @property
    def topic_word_(self) -> Float:
        """Word distributions of all topics, dense, (K, W); for too many topics use `word_distributions`.

        Raises
        ------
        InputError
            If the table would be larger than half a gigabyte.
        """
        check_is_fitted(self)
        return self.word_distributions(self.leaves_)

    @property
    def n_columns_(self) -> int:
        """Number of columns that `transform` returns: one for each leaf, with or without tokens."""
        return self.n_leaves_

    def word_distributions(self, leaves: ArrayLike) -> Float:
        """Return the probabilities of all words at some leaves, smoothed by the leaves near them.     math.md (T6)

        Parameters
        ----------
        leaves : array-like of int, of shape (n,)
            Leaves with tokens (`leaves_`).

        Returns
        -------
        ndarray of shape (n, W)
            Rows sum to one.

        Raises
        ------
        InputError
            If a leaf has no token, or the table would be larger than half a gigabyte.
        """
        check_is_fitted(self)
        chosen = checked_leaves(leaves, self._model.n_tokens)
        size = chosen.size * self.n_features_in_
        if size > _MOST_NUMBERS:
            raise InputError(
                f"the words of {chosen.size:,} leaves would take {size * 8 / 2**30:,.1f} GiB; "
                f"request at most {_MOST_NUMBERS // self.n_features_in_:,} leaves at a time (word_distributions)."
            )
        return self._model.word_distributions(chosen)

    def top_words(
        self, n: int = 10, vocabulary: Sequence[str] | None = None, *, leaves: ArrayLike | None = None
    ) -> list[list[str]]:
        """Return the most relevant words of topics.                                                    math.md (T14)

        Parameters
        ----------
        n : int, default=10
            Maximum number of words of a topic. Only words with tokens there are shown.
        vocabulary : sequence of str, optional
            Names of the columns, if the fit did not know them.
        leaves : array-like of int, optional
            Leaves with tokens. The default is all of them, `leaves_`.

        Raises
        ------
        InputError
            If `n` is not a whole number of at least 1, some column has no name, or a leaf has no token.
        """
        check_is_fitted(self)
        words = words_to_show(n, vocabulary, self.vocabulary_)
        return [[str(words[w]) for w in row] for row, _ in self._ranked(n, leaves)]

    def word_shares(self) -> Float:
        """Return the share of the tokens of the fit that each word has, (W,)."""
        check_is_fitted(self)
        tokens = np.concatenate(([0], np.cumsum(self.word_count_, dtype=np.int64)))
        return np.diff(tokens[self.word_start_]) / tokens[-1]

    def topics_of_words(self, words: ArrayLike) -> tuple[Int, Float, Float]:
        """Return the share of the tokens of the fit that are a word and at a leaf, of the leaves that have the words.

        Parameters
        ----------
        words : array-like of int, of shape (n,)
            Columns of words.

        Returns
        -------
        numbers : ndarray of int, of shape (m,)
            Leaves.
        sizes : ndarray of shape (m,)
            Share of all tokens that each of these leaves has.
        shares : ndarray of shape (m, n)

        Raises
        ------
        InputError
            If a number is not that of a word.
        """
        check_is_fitted(self)
        columns = checked_numbers("words", words, self.n_features_in_)
        ranges = [slice(self.word_start_[w], self.word_start_[w + 1]) for w in columns]
        leaves = [self.word_leaf_[of] for of in ranges]
        numbers = np.unique(np.concatenate([np.empty(0, np.int32), *leaves])).astype(np.int64)
        shares = np.zeros((numbers.size, len(ranges)))
        for j, (of, at) in enumerate(zip(ranges, leaves, strict=True)):
            shares[np.searchsorted(numbers, at), j] = self.word_count_[of]
        total = self.word_count_.sum(dtype=np.int64)
        return numbers, self._model.own_tokens[numbers] / total, shares / total

    def node_of(self, leaf: int) -> TopicNode:
        """Return the leaf as a node of the tree; its `parent`, and theirs, lead to the root.

        Parameters
        ----------
        leaf : int
            A leaf with tokens.

        Raises
        ------
        InputError
            If the leaf has no token.
        """
        check_is_fitted(self)
        return self.tree_.leaf(leaf)

    def top_word_indices(self, n: int = 10) -> Int:
        """Return the words with the highest P(w | z) of every topic, the highest first, as coherence uses them.

        `top_words` ranks by relevance. This is the plain order in the rows of `topic_word_`, ties
        by word, found without this table for any number of leaves.

        Parameters
        ----------
        n : int, default=10
            Number of words of a topic, or all if there are fewer.

        Returns
        -------
        ndarray of shape (K, min(n, W))
            Columns of words.
        """
        check_is_fitted(self)
        return ranked_words(self._model, check_whole("n", n, 1))

    def shown_topics(self, n_words: int = 10, *, most: int = 100) -> ShownTopics:
        """Return the leaves of seeds and those with the most tokens, the largest first.

        Parameters
        ----------
        n_words : int, default=10
            Maximum number of words of each leaf, as `top_words` ranks them.
        most : int, default=100
            Maximum number of leaves.

        Raises
        ------
        InputError
            If a number is not whole or less than 1.
        """
        check_is_fitted(self)
        order = np.argsort(-self.leaf_tokens_, kind="stable")
        order = order[np.sort(self._seeds_first(self.leaves_[order])[: check_whole("most", most, 1)])]
        leaves = self.leaves_[order]
        words = [
            [(str(self.vocabulary_[w]), float(p)) for w, p in zip(found, probability, strict=True)]
            for found, probability in self._ranked(check_whole("n_words", n_words, 1), leaves)
        ]
        return ShownTopics(leaves, self.topic_shares_[order], self.topic_shares_[order], words)

    def expected_weights(self, X: Any) -> Float:
        """Raise an InputError: a dense table of documents and leaves is what a tree of this size avoids."""
        raise InputError("a tree has no dense weights of documents; call transform for its sparse weights.")

    def transform(self, X: Any) -> Any:
        """Return the shares of the tokens of documents at each leaf.                                 math.md (T10)

        The trees of the words stay fixed. Each document is sampled by itself, with random numbers that depend only on
        its words. The shares are means over fifty sweeps, after ten sweeps of burn-in.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        scipy.sparse.csr_array of shape (D, L)
            Rows sum to one. The row of a document without any word of the fit is empty.
        """
        return self.active_weights(X)

    @on_workers
    def active_weights(self, X: Any) -> Any:
        """Return what `transform` does, as a sparse array whatever scikit-learn's `set_output` says, (D, L)."""
        with engine(self.n_jobs) as executor:
            return self._model.weights(self._corpus(X), executor)

    def complete(self, observed: Any, held_out: Any, *, seen: ArrayLike | None = None) -> Completion:
        """Score the held-out halves of documents, with leaves from the observed halves: means over a hundred sweeps.

        Parameters
        ----------
        observed, held_out : Corpus
            The two halves of the same documents, as `Corpus.halves` cuts them.
        seen : array-like of bool, of shape (W,), optional
            Words to score. The default scores all.

        Returns
        -------
        Completion
            Both conventions agree here, because no leaf is inactive.

        Raises
        ------
        InputError
            If the halves do not belong together or to the model, or no document has tokens in both.
        """
        check_is_fitted(self)
        observed, held_out = self._corpus(observed), self._corpus(held_out)
        rows = scored_documents(observed, held_out)
        scored = held_out[rows].counts
        if seen is not None:
            scored = sparse.csr_matrix(scored.multiply(checked_seen(seen, self.n_features_in_)))
            scored.eliminate_zeros()
        with engine(self.n_jobs) as executor:
            total, n_tokens = self._model.log_predictive(observed[rows], Corpus.from_counts(scored), executor)
        return Completion.of_sums(total, total, n_tokens, int(rows.size))

    def _predictive_rule(self) -> TreeRule:
        return TreeRule(self._model)

    def _build(self) -> TreeModel:
        """Make the words' trees: nothing that is saved or pickled, as the fitted attributes say all."""
        counts, shape = WordCounts(self.word_start_, self.word_leaf_, self.word_count_), shape_of(self.branching_, 0)
        delta, share = (self.alpha_levels_, self.eta_levels_), self.smoothing_share_
        with ThreadExecutor(1) as executor:
            return TreeModel(counts, shape, *delta, share, executor, self._pseudo_in(shape))

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_model"}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if hasattr(self, "word_leaf_"):
            self._model = self._build()

    def _ranked(self, n: int, leaves: ArrayLike | None) -> list[tuple[Int, Float]]:
        """Return words of leaves by relevance, with P(w | z)."""
        table, with_tokens = self._model.leaf_words(), self.leaves_
        chosen = with_tokens if leaves is None else checked_leaves(leaves, self._model.n_tokens)
        return [table.best(table.at_leaf(k), n) for k in np.searchsorted(with_tokens, chosen)]

    def _take(self, laps: TreeLaps, documents: Corpus) -> None:
        sampler = laps.sampler
        self.word_start_, self.word_leaf_, self.word_count_ = laps.finish()
        self.alpha_levels_, self.eta_levels_ = sampler.delta_doc.copy(), sampler.delta_word.copy()
        self.branching_, self.smoothing_share_ = sampler.shape.as_values, sampler.smoothing_share
        self._take_seeds(sampler.known, sampler.shape)
        self._model = self._build()

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        shape, counts = shape_of(self.branching_, 0), WordCounts(self.word_start_, self.word_leaf_, self.word_count_)
        check_counts(counts, self.n_features_in_, shape.n_leaves)
        self._check_seeds(shape)
        for name in _LEVELS:
            delta = getattr(self, name)
            require(is_table(delta, shape.depth) and are_discounts(delta), "its discounts do not fit its tree")
        share = self.smoothing_share_
        require(share is None or is_smoothing_share(share), "its share of smoothing is out of its range")
        self._model = self._build()
        self._check_end_and_labels()
