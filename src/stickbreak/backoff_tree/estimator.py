"""`BackoffTreeTopics`: the face of the sparse backoff trees."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.backoff_tree.backoff import LEAST_SHARE, MOST_SHARE
from stickbreak.backoff_tree.blocks import LEAVES, Blocks
from stickbreak.backoff_tree.fitted import FittedTree
from stickbreak.backoff_tree.laps import TreeLaps
from stickbreak.backoff_tree.requirements import check_parameters, check_sizes, tree_settings
from stickbreak.backoff_tree.shape import Shape
from stickbreak.corpus import Corpus
from stickbreak.fitting.constraints import TOPIC_PRIORS, between, one_of, whole
from stickbreak.fitting.engine import Engine, workers_now
from stickbreak.fitting.executor import count_jobs
from stickbreak.fitting.laps import Callback
from stickbreak.fitting.requirements import check_whole
from stickbreak.fitting.shelves import InMemory, OnDisk
from stickbreak.model.estimator import all_or_nothing
from stickbreak.model.seeds import Seeds, plain_seeds
from stickbreak.storage.places import PathLike, place_of


class BackoffTreeTopics(FittedTree):
    """Topics as the leaves of a tree, up to millions: sparse backoff trees (Downey, Bhagavatula and Yang 2015).

    Documents and words share the shape of one tree. Each node takes a discount from every leaf below it that has
    tokens, and spreads it over all leaves below it. A leaf is thus smoothed towards its relatives, and related topics
    become neighbours. A draw multiplies the tree of a document by the tree of a word, and visits only nodes where both
    have tokens. The conditional distributions are not those of one joint distribution: this is a pseudo-Gibbs
    procedure, whose stationary distribution depends on the order of the tokens.

    Parameters
    ----------
    n_topics : int, default=972
        Minimum number of leaves of the tree. Ignored if `branching` gives the children or the paths.
    branching : {"wide", "tall"}, sequence of int, or sequence of str, default="wide"
        Shape of the tree: a name, the children at each level, or the path of each leaf. "wide": few levels, with up to
        12 or more children; "tall": many levels, with 2 or 3 children. (Both are from the paper.) Numbers are the
        children of a node at each level from the root down. Paths such as "science/physics/optics" make a tree of any
        shape, whose nodes have these names.
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
        leaves, token by token in random order; those of words the leave-one-out probability of theirs (math.md (T7),
        (T8)).
    seeds : dict of str to list of str, optional
        Words of leaves that you expect, by the names of these leaves, which they keep as labels. In a tree of paths a
        name is the path of a leaf. Otherwise the seeds are at leaves evenly from left to right, in this order
        (`seed_leaves_`), so seeds are not near each other. Words that the documents lack are left out, and a warning
        names them.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its leaf. Its words share them in whole numbers, at
        least one for each (math.md (T16)).
    learn_every : int, default=5
        Number of sweeps between two searches for the learned discounts.
    n_laps : int, default=100
        Maximum number of passes over the data. A pass ("lap" in names) is one sweep over all tokens. The fit does all
        of them unless you interrupt it.
    stages : sequence of int or None, default=None
        Numbers of levels of the coarser trees to begin with. With (3, 5), for example, the fit begins with the first 3
        levels, goes on with 5, and ends with all. The tokens of a leaf go to its new children at random. None: the tree
        grows a level at a time, in at most half of the passes. (): it begins with all levels.
    stage_sweeps : int, default=10
        Number of sweeps of each coarser tree.
    updates : {"parallel", "serial"}, default="parallel"
        Whether the trees of the words change during a sweep. "parallel": they stay as they were, except for the token
        that is sampled, so that threads or the workers of a cluster sample blocks of documents at the same time;
        "serial": they change with every draw (one thread of this process, slower).
    scratch : path-like or None, default=None
        Folder for the leaves of tokens, for fits that are larger than memory: a file for each block of documents. A
        fit then holds a block for each thread (about 60 MB), besides the trees of the words. The numbers are the same.
        None: memory, or the scratch folder of the cluster that is in use.
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
        leaves.
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
        grew), "n_leaves", "alpha", "eta" (sums of the discounts), "alpha_last", "eta_last" (discounts of the last
        level). For what is learned also "alpha_likelihood", "eta_likelihood": the log-likelihood of the leaves that is
        maximised, in nats per token of a sample, at the last search. A search takes place every `learn_every` sweeps,
        except while leaves are at random: before the first sweep, and before the first sweep with a new level.
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FittedTree._parameter_constraints,
        "n_topics": [whole(1)],
        "branching": [one_of(("wide", "tall")), list, tuple, np.ndarray],
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

    @all_or_nothing
    def expand(self, X: Any, k: int, *, n_laps: int, callback: Callback | None = None) -> Self:
        """Split every leaf into k leaves and continue the fit, from coarse topics to fine ones.      math.md (T9)

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

    def _laps(self, documents: Corpus, seed: int, executor: Engine) -> TreeLaps:
        scratch = None if executor.workers is None else executor.workers.scratch
        scratch = scratch if self.scratch is None else place_of(self.scratch)
        leaves = InMemory(LEAVES) if scratch is None else OnDisk(LEAVES, scratch)
        settings = tree_settings(self)
        known = self._known(documents, settings.shape)
        return TreeLaps(Blocks(documents, executor, leaves), settings, seed, executor, known)

    def _whole_tree(self) -> Shape:
        return tree_settings(self).shape

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        """Return the stages: those of a short fit are fewer, and a longer one does not go on from it."""
        return {"stages": list(tree_settings(self).stages)}
