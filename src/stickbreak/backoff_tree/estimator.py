"""`BackoffTreeTopics`: the face of the sparse backoff trees; never a table of documents and leaves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from stickbreak.backoff_tree.checks import check_parameters, check_sizes, checked_leaves, tree_settings
from stickbreak.backoff_tree.document_blocks import DocumentBlocks, check_counts, leaves_in
from stickbreak.backoff_tree.laps import TreeLaps
from stickbreak.backoff_tree.learned import LearnedTreeLaps
from stickbreak.backoff_tree.model import TreeModel, TreeRule
from stickbreak.backoff_tree.nodes import TopicNode, paths_of_words, tree_of
from stickbreak.backoff_tree.sampler import LEARNABLE
from stickbreak.backoff_tree.seeds import KnownWords, leaves_of
from stickbreak.backoff_tree.shape import Shape, shape_of
from stickbreak.backoff_tree.state import LEAST_SHARE, MOST_SHARE, WordCounts, is_smoothing_share
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.batch_store import scratch_folder
from stickbreak.fitting.checkpoint import is_table, require
from stickbreak.fitting.checks import check_whole
from stickbreak.fitting.constraints import TOPIC_PRIORS, between, one_of, whole
from stickbreak.fitting.engine import Engine, count_jobs, threads_and_workers, workers_now
from stickbreak.fitting.loop import Callback
from stickbreak.model.estimator import all_or_nothing
from stickbreak.model.seeds import Seeds, plain_seeds
from stickbreak.model.topic_estimator import TopicEstimator, on_workers
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.ranges import are_discounts
from stickbreak.prediction.completion import Completion, scored_documents, seen_mask
from stickbreak.prediction.document_weights import checked_dtype, checked_least
from stickbreak.prediction.topics import ShownTopics, checked_numbers
from stickbreak.prediction.words import words_to_show
from stickbreak.storage.places import PathLike

_LEVELS = ("alpha_levels_", "eta_levels_")  # discounts
_MOST_NUMBERS = 1 << 26  # of a dense table of words of leaves: 512 MiB


class BackoffTreeTopics(TopicEstimator):
    """Topics as the leaves of a tree, up to millions: sparse backoff trees (Downey, Bhagavatula and Yang 2015).

    Documents and words share the shape of one tree. Each node takes a discount from every leaf below it that has
    tokens, and spreads it over all leaves below it. A leaf is thus smoothed towards its relatives, and related topics
    become neighbours. A draw multiplies the tree of a document by the tree of a word, and visits only nodes where both
    have tokens. The conditional distributions are not those of one joint distribution: this is a pseudo-Gibbs
    procedure, whose stationary distribution depends on the order of the tokens.

    Parameters
    ----------
    n_topics : int, default=972
        Minimum number of leaves of the tree. Ignored if `branching` gives the children or the paths, or is "learned".
    branching : {"wide", "tall", "learned"}, sequence of int, or sequence of str, default="wide"
        Shape of the tree: a name, the children at each level, or the path of each leaf. "wide": few levels, with up to
        12 or more children; "tall": many levels, with 2 or 3 children. (Both are from the paper.) Numbers are the
        children of a node at each level from the root down. Paths such as "science/physics/optics" make a tree of any
        shape, whose nodes have these names. "learned": `TopicModel` finds the leaves, the joins of its topics are the
        first tree, and moves change its shape between passes (docs/math (T17), (T18)). Its nodes are named by their
        most relevant words.
    alpha : float or sequence of float, default=0.9
        Sum of the discounts of documents along a path, shared equally by its levels. A sequence gives one discount for
        each level from the root down. If alpha is learned, these are the initial values.
    eta : float or sequence of float, default=0.5
        Sum of the discounts of words along a path, shared equally by its levels. A sequence gives one discount for each
        level from the root down. If eta is learned, these are the initial values.
    smoothing_share : float or None, default=None
        Share of smoothing in the words of the leaf that has most of it; other leaves have less. It sets the constant C
        of the paper. None: C is solved after each sweep, so that the leaves have as many pseudo-counts as there are
        tokens.
    learn : sequence of {"alpha", "eta"}, default=("alpha", "eta")
        Hyperparameters that are learned from the data. The discounts of documents maximise the probability of their
        leaves, token by token in random order; those of words the leave-one-out probability of theirs (docs/math (T7),
        (T8)).
    seeds : dict of str to list of str, optional
        Words of leaves that you expect, by the names of these leaves, which they keep as labels. In a tree of paths a
        name is the path of a leaf. Otherwise the seeds are at leaves evenly from left to right, in this order
        (`seed_leaves_`), so seeds are not near each other. Words that the documents lack are left out, and a warning
        names them.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its leaf. Its words share them in whole numbers, at
        least one for each (docs/math (T16)).
    learn_every : int, default=5
        Number of sweeps between two searches for the learned discounts.
    n_laps : int, default=100
        Maximum number of passes over the data. A pass ("lap" in names) is one sweep over all tokens, or at first over
        those of a part of a large collection (docs/math (T19)). The fit does all of them unless you interrupt it.
    stages : sequence of int or None, default=None
        Numbers of levels of the coarser trees to begin with. With (3, 5), for example, the fit begins with the first 3
        levels, goes on with 5, and ends with all. The tokens of a leaf go to its new children at random. None: the tree
        grows a level at a time, in at most half of the passes. (): it begins with all levels.
    stage_sweeps : int, default=10
        Number of sweeps of each coarser tree. The whole tree makes as many with a part of a large collection, but at
        most half of its sweeps.
    updates : {"parallel", "serial"}, default="parallel"
        Whether the trees of the words change during a sweep. "parallel": they stay as they were, except for the token
        that is sampled, so that threads or the workers of a cluster sample blocks of documents at the same time;
        "serial": they change with every draw (one thread of this process, slower).
    scratch : path-like or None, default=None
        Folder for the leaves of tokens, for fits that are larger than memory: a file for each block of documents. A
        fit then holds a block for each thread (about 60 MB), besides the trees of the words. The `TopicModel` that a
        learned tree begins with has its files there, too. The numbers are the same. None: memory, or the scratch folder
        of the cluster that is in use.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`, `scratch` and cluster.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of leaves with tokens, K.
    n_leaves_ : int
        Number of leaves of the tree, L.
    branching_ : list of int or list of str
        Children of a node at each level, or the path of each leaf from left to right.
    seed_leaves_ : list of int
        The leaf of each seed, in their order. In a larger tree, after `expand`, it is the first below.
    tree_ : TopicNode
        The root of the tree. Every node has `children`, `parent` and `top_words`; `node_of` gives the leaves.
    leaves_ : ndarray of shape (K,)
        The leaves with tokens. Leaves are numbered from left to right.
    leaf_tokens_ : ndarray of shape (K,)
        Number of tokens of each leaf in `leaves_`, without the pseudo-tokens of seeds.
    topic_shares_ : ndarray of shape (K,)
        Share of the tokens of the fit that each topic has. They sum to one.
    topic_weights_ : ndarray of shape (K,)
        Share of all tokens that each of these leaves has.
    leaf_word_ : scipy.sparse.csr_array of shape (K, W)
        Number of tokens, and pseudo-tokens, of each word at each of these leaves. It stands for `components_` of the
        other families, which a tree does not have: a dense table of topics and words would be too large for a million
        leaves. For the same reason there is no `expected_weights`: `transform` returns a sparse table.
    topic_word_ : ndarray of shape (K, W)
        Word distributions of these leaves, if the table takes at most half a gigabyte (else use `word_distributions`).
    alpha_levels_, eta_levels_ : ndarray of shape (levels,)
        Discounts of documents and words at each level.
    alpha_, eta_ : float
        Sums of these discounts.
    smoothing_share_ : float or None
        The `smoothing_share` of the fit.
    learned_ : list of str
        Names of the hyperparameters whose discounts were learned in the fit.
    word_start_, word_leaf_, word_count_ : ndarray
        Leaves of each word and its tokens there. Those of word w are at word_start_[w] .. word_start_[w + 1] - 1.
    objective_ : float
        Mean log probability of a word given all other tokens and their leaves, in the last sweep, in nats.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass: "lap" (its number), "objective", "n_topics", "seconds", "moved" (whether the tree
        grew or changed its shape), "n_tokens" (that the pass read: compare "objective" and "n_topics" of passes with
        the same number), "n_leaves", "alpha", "eta" (sums of the discounts), "alpha_last", "eta_last" (discounts of
        the last level). For what is learned also "alpha_likelihood", "eta_likelihood": the log-likelihood of the leaves
        that is maximised, in nats per token of a sample, at the last search. A search takes place every `learn_every`
        sweeps, except while leaves are at random: before the first sweep, and before the first sweep with a new level.
    n_laps_ : int
        Number of passes done (sweeps).
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        Always False: there is no test of convergence.
    stop_reason_ : str
        Why the fit ended.
    vocabulary_ : tuple of str
        The words.
    text_options_, text_column_ : TextOptions or None, str or None
        How the texts of the fit were counted, and their column in its data frame. None where it was given counts.

    References
    ----------
    D. Downey, C. S. Bhagavatula, Y. Yang. Efficient Methods for Inferring Large Sparse Topic Hierarchies. ACL 2015.

    Examples
    --------
    >>> from stickbreak import BackoffTreeTopics
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = BackoffTreeTopics(branching=(3, 4), n_laps=10, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape
    (50, 12)
    """

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("word_start_", "word_leaf_", "word_count_", *_LEVELS)
    _fitted_values: ClassVar[tuple[str, ...]] = (
        "branching_",
        "smoothing_share_",
        "seed_leaves_",
        *TopicEstimator._fitted_values,
    )
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    objective_name: ClassVar[str] = "log probability of each word given all others"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicEstimator._parameter_constraints,
        "n_topics": [whole(1)],
        "branching": [one_of(("wide", "tall", "learned")), list, tuple, np.ndarray],
        "alpha": [Real, "array-like"],
        "eta": [Real, "array-like"],
        "smoothing_share": [None, between(LEAST_SHARE, MOST_SHARE)],
        "learn": [list, tuple],
        "seeds": TOPIC_PRIORS["seeds"],
        "seed_tokens": TOPIC_PRIORS["seed_tokens"],
        "learn_every": [whole(1)],
        "stages": [None, list, tuple],
        "stage_sweeps": [whole(1)],
        "updates": [one_of(("parallel", "serial"))],
        "scratch": [None, str, os.PathLike],
    }

    _eta_is_of_words = False

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
    _model: TreeModel
    seed_leaves_: list[int]

    def __init__(
        self,
        *,
        n_topics: int = 972,
        branching: str | Sequence[int] | Sequence[str] | NDArray = "wide",
        alpha: float | Sequence[float] = 0.9,
        eta: float | Sequence[float] = 0.5,
        smoothing_share: float | None = None,
        learn: Sequence[str] = ("alpha", "eta"),
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        learn_every: int = 5,
        n_laps: int = 100,
        stages: Sequence[int] | None = None,
        stage_sweeps: int = 10,
        updates: str = "parallel",
        scratch: PathLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.branching = branching
        self.alpha = alpha
        self.eta = eta
        self.smoothing_share = smoothing_share
        self.learn = learn
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.learn_every = learn_every
        self.n_laps = n_laps
        self.stages = stages
        self.stage_sweeps = stage_sweeps
        self.updates = updates
        self.scratch = scratch
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self)
        if self.seeds is not None:
            leaves_of(tuple(self.seeds or ()), tree_settings(self).shape)  # refuses what has no leaf

    @all_or_nothing
    def expand(self, X: Any, k: int, *, n_laps: int, callback: Callback | None = None) -> Self:
        """Split every leaf into k leaves and continue the fit, from coarse topics to fine ones.      docs/math (T9)

        Tokens go to the children of their leaf at random. The new level gets the mean discount of the other levels.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)
            The documents of the fit.
        k : int
            Number of leaves that each leaf becomes.
        n_laps : int
            Number of further sweeps, with the larger tree.
        callback : callable, optional
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As in `continue_fit`, or if k is less than 2 or the tree grows too large.
        """
        leaves = check_whole("k", k, 2)
        return self._go_on(X, n_laps, callback, lambda laps: laps.expand(leaves))

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        on_workers = workers_now() is not None
        blocks = 1 if on_workers else count_jobs(self.n_jobs)
        check_sizes(documents, tree_settings(self), blocks=blocks, in_files=on_workers or self.scratch is not None)

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> TreeLaps:
        leaves, settings = leaves_in(scratch_folder(self.scratch, engine.workers)), tree_settings(self)
        blocks = DocumentBlocks(documents, engine, leaves)
        if settings.learned:
            return LearnedTreeLaps(documents, blocks, settings, seed, engine, self.scratch)
        return TreeLaps(blocks, settings, seed, engine, self._known(documents, settings.shape))

    def _passes_over_all(self, documents: Corpus) -> float:
        return tree_settings(self).passes_over_all(int(self.n_laps), float(documents.n_tokens))

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        """Return the stages, and the passes over a part: no longer fit goes on from a short one, which has fewer."""
        settings = tree_settings(self)
        part_passes = [settings.part_passes] if settings.begins_with_part(documents.n_tokens) else []
        return {"stages": [*settings.stages, *part_passes]}

    def _known(self, documents: Corpus, shape: Shape) -> KnownWords | None:
        """Return what seeds say of a fit to documents."""
        if self.seeds is None:
            return None
        return KnownWords.of(self.seeds, float(self.seed_tokens), documents.words, shape)

    def _take_names(self, documents: Corpus) -> None:
        names = tuple(self.seeds or ())
        self.seed_leaves_ = leaves_of(names, tree_settings(self).shape).tolist() if names else []
        super()._take_names(documents)

    def _take_seeds(self, known: KnownWords | None, shape: Shape) -> None:
        """Take the leaves of seeds in a tree; where they have moved, as the tree has grown, their names follow."""
        self._pseudo = None if known is None else known.pseudo
        now = [] if known is None else known.leaves_in(shape).tolist()
        if now != self.seed_leaves_:  # of two seeds at a leaf of a coarse tree the first gives the name
            self._labels = dict(reversed([*zip(now, tuple(self.seeds or ()), strict=True)]))
        self.seed_leaves_ = now

    def _pseudo_in(self, shape: Shape) -> WordCounts | None:
        """Return the pseudo-tokens of each word at each leaf of the fitted tree."""
        if self._pseudo is None:
            return None
        return KnownWords(shape, np.array(self.seed_leaves_, dtype=np.int64), self._pseudo).counts_in(shape)

    def _seeds_first(self, leaves: Int) -> Int:
        """Return an order of leaves in which those of seeds come before the others, each in their order here."""
        return np.argsort(~np.isin(leaves, self.seed_leaves_), kind="stable")

    def _seed_numbers(self) -> Sequence[int]:
        return self.seed_leaves_

    def _keeps_number(self, k: int) -> bool:
        return k in self.seed_leaves_

    def _check_seeds(self, shape: Shape) -> None:
        """Refuse seeds of a loaded model that no fit can have left; a ValueError."""
        n_seeds, leaves = 0 if self._pseudo is None else int(self._pseudo.shape[1]), self.seed_leaves_
        inside = isinstance(leaves, list) and all(isinstance(z, int) and 0 <= z < shape.n_leaves for z in leaves)
        require(inside and len(leaves) == n_seeds, "its seeds are not at leaves of its tree")

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
        """Return the probabilities of all words at some leaves, smoothed by the leaves near them.     docs/math (T6)

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
        """Return the most relevant words of topics.                                                    docs/math (T14)

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
        by word, found a part of this table at a time.

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
        return self._model.ranked_words(check_whole("n", n, 1))

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

    def transform(self, X: Any, *, sparse: bool = True, dtype: Any = "float64", least: float = 0.0) -> Any:
        """Return the shares of the tokens of documents at each leaf.                                 docs/math (T10)

        The trees of the words stay fixed. Each document is sampled by itself, with random numbers that depend only on
        its words. The shares are means over fifty sweeps, after ten sweeps of burn-in.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)
        sparse : bool, default=True
            False is refused: a dense table of documents and leaves is what a tree of this size avoids.
        dtype : {"float64", "float32"}, default="float64"
        least : float, default=0.0
            The least share that the table holds.

        Returns
        -------
        scipy.sparse.csr_array of shape (D, L)
            Rows sum to one, without smaller shares than `least`. The row of a document without any word of the fit is
            empty.
        """
        dtype, least = checked_dtype(dtype), checked_least(least)
        if not sparse:
            raise InputError("a tree has no dense weights of documents; leave out sparse=False.")
        weights = self.active_weights(X)
        if least > 0:
            weights = weights.multiply(weights >= least).tocsr()
            weights.eliminate_zeros()
        return weights.astype(dtype, copy=False)

    @on_workers
    def active_weights(self, X: Any) -> Any:
        """Return what `transform` does, as a sparse array whatever scikit-learn's `set_output` says, (D, L)."""
        with threads_and_workers(self.n_jobs) as engine:
            return self._model.weights(self._corpus(X), engine)

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
            scored = sparse.csr_matrix(scored.multiply(seen_mask(seen, self.n_features_in_)))
            scored.eliminate_zeros()
        with threads_and_workers(self.n_jobs) as engine:
            total, n_tokens = self._model.log_predictive(observed[rows], Corpus.from_counts(scored), engine)
        return Completion.of_sums(total, total, n_tokens, int(rows.size))

    def _predictive_rule(self) -> TreeRule:
        return TreeRule(self._model)

    def _build(self) -> TreeModel:
        """Make the words' trees: nothing that is saved or pickled, as the fitted attributes say all."""
        counts, shape = WordCounts(self.word_start_, self.word_leaf_, self.word_count_), shape_of(self.branching_, 0)
        delta, share = (self.alpha_levels_, self.eta_levels_), self.smoothing_share_
        with Engine(1) as engine:
            return TreeModel(counts, shape, *delta, share, engine, self._pseudo_in(shape))

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
        if laps.settings.learned:
            self.branching_ = paths_of_words(self._model, self.vocabulary_)
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
