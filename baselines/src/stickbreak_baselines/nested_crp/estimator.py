"""`NestedCRP`: the face of the family."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import refuse_fractions
from stickbreak.fitting.constraints import CONCENTRATION, TOPIC_PRIORS, between, whole
from stickbreak.fitting.engine import Engine
from stickbreak.model.seeds import Seeds, plain_seeds
from stickbreak.numerics.arrays import Float
from stickbreak_baselines.nested_crp.checks import check_parameters, check_sizes, eta_of, whole_pseudo
from stickbreak_baselines.nested_crp.fitted import FittedNestedCRP
from stickbreak_baselines.nested_crp.gibbs import Chain
from stickbreak_baselines.nested_crp.laps import NestedLaps
from stickbreak_baselines.nested_crp.state import Priors

MOST_LEVELS = 20


class NestedCRP(FittedNestedCRP):
    """A tree of topics that grows as documents ask: hierarchical LDA (Blei, Griffiths and Jordan 2010).

    Each document follows one path from the root down. At each node it takes a child with a probability in proportion to
    the documents that went there, or a new one: the nested Chinese restaurant process. Its tokens come from the topics
    on its path. So words of all documents gather at the root, and words of few documents at the leaves. Gibbs sampling
    draws paths and levels in turn. A path costs what the nodes of the words of its document cost.

    Parameters
    ----------
    n_levels : int, default=3
        Number of levels of the tree, the root among them: 2 or more.
    gamma : float, default=1.0
        How likely a document opens a new branch. If it is learned, this is its initial value.
    level_mean : float, default=0.35
        m of the levels of a document, GEM(m, pi): the expected share of its tokens at the root, and of what is left at
        each level below. The last level has the rest.
    level_scale : float, default=100.0
        pi of the levels: how much the shares of all documents are alike.
    eta : float or sequence of float, default=0.1
        Pseudo-count of every word in every topic, or one for each level from the root down, or else one for each word.
        Those of words are in the order of the vocabulary. Smaller ones make more nodes.
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They are the first children of the root, in this
        order, and keep their numbers, which begin at 1, and names.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words, at least one for each
        (docs/math (R7)). If a node has fewer tokens than that, documents avoid the seed; take 10 for short documents.
    learn : sequence of {"gamma"}, default=()
        Hyperparameters that are learned from the data, from pass 10 on. The prior is Gamma(1, 1).
    n_laps : int, default=200
        Number of passes over the data. A pass ("lap" in names) draws the path of each document and the level of each
        token once. The fit does all of them unless you interrupt it.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads of `transform` and `score`. None means 1, and -1 means all cores. A pass has one thread.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of nodes K, each of which is a topic.
    topic_word_ : ndarray of shape (n_topics_, W)
        Expected word distribution of each node: topic 0 is the root; level by level follow the nodes below, children of
        one parent beside each other, the one with the most documents first.
    topic_parents_ : ndarray of int of shape (n_topics_,)
        The parent of each node; -1 of the root.
    topic_levels_ : ndarray of int of shape (n_topics_,)
        The level of each node; 0 of the root.
    topic_documents_ : ndarray of int of shape (n_topics_,)
        Number of documents whose path leads through each node; that of a seed may have none.
    topic_tokens_ : ndarray of shape (n_topics_,)
        Number of tokens at each node itself.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected weights of the nodes in a new document. The rest to one belongs to nodes that it would open.
    tree_ : TreeNode
        The root of the tree, to walk from.
    components_ : ndarray of shape (n_topics_, W)
        Tokens of each word at each node, plus its pseudo-counts.
    gamma_ : float
        gamma at the end, learned or given.
    eta_levels_ : ndarray of shape (n_levels,)
        Pseudo-count of every word at each level; the mean of all words where these differ.
    eta_words_ : ndarray of shape (W,) or None
        What this is multiplied by for each word. None where all words are alike.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    objective_ : float
        Last entry of "objective" in `trace_`.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass: "lap" (its number), "objective", "n_topics" (nodes), "seconds", "moved" (1 where the
        number of nodes changed), "gamma". The objective is in nats per token: each token given all others and the path
        of its document, as it is drawn.
    n_laps_ : int
        Number of passes done.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        Always False: a chain does not converge to a point.
    stop_reason_ : str
        Why the fit ended.
    vocabulary_ : tuple of str
        The words.
    text_options_, text_column_ : TextOptions or None, str or None
        How the texts of the fit were counted, and their column in its data frame. None where it was given counts.

    References
    ----------
    D. M. Blei, T. L. Griffiths, M. I. Jordan. The Nested Chinese Restaurant Process and Bayesian Nonparametric
    Inference of Topic Hierarchies. Journal of the ACM 57, 2010.

    Examples
    --------
    >>> from stickbreak_baselines import NestedCRP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = NestedCRP(n_laps=10, random_state=0).fit(corpus)
    >>> root = model.tree_
    >>> root.n_tokens == corpus.n_tokens, root.n_topics == model.n_topics_
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FittedNestedCRP._parameter_constraints,
        "n_levels": [whole(2, MOST_LEVELS)],
        "gamma": CONCENTRATION,
        "level_mean": [between(0.001, 0.999)],
        "level_scale": [between(0.01, 1e6)],
        "eta": [Real, "array-like"],
        "seeds": TOPIC_PRIORS["seeds"],
        "seed_tokens": TOPIC_PRIORS["seed_tokens"],
        "learn": [list, tuple],
    }

    def __init__(
        self,
        *,
        n_levels: int = 3,
        gamma: float = 1.0,
        level_mean: float = 0.35,
        level_scale: float = 100.0,
        eta: float | Sequence[float] | NDArray = 0.1,
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        learn: Sequence[str] = (),
        n_laps: int = 200,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_levels = n_levels
        self.gamma = gamma
        self.level_mean = level_mean
        self.level_scale = level_scale
        self.eta = eta
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.learn = learn
        self.n_laps = n_laps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self)

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        refuse_fractions(documents)
        _, of_words = self._eta_for(documents)
        check_sizes(documents, int(self.n_levels), by_word=of_words is not None)

    def _eta_for(self, documents: Corpus) -> tuple[Float, Float | None]:
        return eta_of(self.eta, int(self.n_levels), documents.n_words)

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        return {}

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> NestedLaps:
        priors = Priors(float(self.gamma), *self._levels(), *self._eta_for(documents))
        pseudo = None if self.seeds is None else whole_pseudo(self.seeds, float(self.seed_tokens), documents)
        return NestedLaps(Chain(documents, int(self.n_levels), seed, pseudo), priors, tuple(self.learn))

    def _take(self, laps: NestedLaps, documents: Corpus) -> None:
        tree, eta, pseudo = laps.chain.tree, laps.priors.eta, laps.chain.pseudo
        order = tree.order()
        row = np.full(tree.level.size, -1)
        row[order] = np.arange(order.size)
        self.topic_levels_, self.topic_documents_ = tree.level[order], tree.n_documents[order]
        self.topic_documents_[0] -= tree.n_kept  # without those of seeds
        self.topic_documents_[1 : 1 + tree.n_kept] -= 1
        self.topic_parents_ = np.append(-1, row[tree.parent[order[1:]]])
        self.eta_words_ = laps.priors.of_words
        self.components_ = laps.chain.counts() + eta[self.topic_levels_][:, None] * self._of_words()
        self.components_[1 : 1 + tree.n_kept] += pseudo.toarray().T
        self._pseudo = pseudo if tree.n_kept else None
        self.gamma_, self.eta_levels_ = laps.priors.gamma, eta.copy()
