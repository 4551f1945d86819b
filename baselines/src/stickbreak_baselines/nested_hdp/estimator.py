"""`NestedHDP`: the face of the family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.checks import check_tokens
from stickbreak.fitting.constraints import CONCENTRATIONS, STEPS, TOLERANCES, TOPIC_PRIORS, between, sweeps, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Interruption, Lap
from stickbreak.fitting.step_sizes import offset_for
from stickbreak.model.seeds import Seeds, WordPrior, plain_seeds
from stickbreak.numerics.streams import seed_from
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.nested_hdp.checks import branching_of, check_children, check_sizes
from stickbreak_baselines.nested_hdp.fitted import FittedNestedHDP
from stickbreak_baselines.nested_hdp.laps import NestedHDPLaps
from stickbreak_baselines.nested_hdp.local_step import LocalSettings
from stickbreak_baselines.nested_hdp.starts import begin
from stickbreak_baselines.nested_hdp.steps import Rules, Steps

MOST_DOCUMENT_NODES = 1 << 12


class NestedHDP(FittedNestedHDP):
    """A tree of topics of which each document has a part: the nested HDP (Paisley, Wang, Blei and Jordan 2015).

    Each token goes down the tree from the root. At a node it takes a child, by the sticks that the document has there.
    Then it stops, or goes on below. So a document can be about several branches, where `NestedCRP` gives it one path.
    The tree has a given number of children at each level, and a fit uses as many of them as documents ask for. Each
    document selects the nodes that explain it best, one after the other. A fit takes minibatches, or all documents at
    once; then the objective never falls.

    Parameters
    ----------
    branching : sequence of int, default=(20, 10, 5)
        Largest number of children of the root, of a node at level 1, and so on. The root has no topic.
    alpha : float, default=1.0
        Concentration of the sticks of a document: larger ones give it more children of a node.
    gamma : float, default=5.0
        Concentration of the sticks of the corpus at every node.
    level_mean : float, default=0.35
        m of the switches of a document: the expected share of tokens that stop at a node, among those that come to it.
    level_scale : float, default=1.0
        pi of the switches: how much the nodes of all documents are alike in this.
    eta : float or array-like of shape (W,) or (K, W), default=0.1
        Pseudo-count of every word in every topic. An array has one for each word, or a row for each of the first K
        children of the root: these keep their numbers as those of seeds do, and other topics have its smallest number
        for every word.
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They are the first children of the root, in this
        order, and keep their numbers and names.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (F10)).
    document_nodes : int, default=50
        Maximum number of nodes that a document selects.
    n_laps : int, default=10
        Maximum number of passes over the data. A pass ("lap" in names) visits every document once.
    batch_size : int or None, default=256
        Number of documents in a minibatch of `fit`. None: all documents at once.
    tolerance : float or None, default=1e-4
        Stop when a pass over all documents at once raises the objective by less than this, in nats per token. None:
        never. A fit in minibatches does all its passes.
    local_tolerance : float, default=1e-4
        A document ends when a sweep raises its part of the bound by less than this, in nats per token.
    local_sweeps : int, default=50
        Maximum number of sweeps over a document in one step (at most 1e6).
    learning_decay : float, default=0.6
        Step t of a stochastic fit has the size (t + learning_offset) ** -learning_decay.
    learning_offset : float or None, default=None
        A larger offset makes the first steps smaller. None: in `fit`, the value that makes the first step equal to the
        share of the documents that it sees; in a stream, 1.
    total_documents : int or None, default=None
        Number of documents in the whole stream, for `partial_fit`. None: those seen so far.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads. They work on the documents of a step. None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of nodes K with at least half an expected token at or below them. Each is a topic.
    topic_word_ : ndarray of shape (n_topics_, W)
        Expected word distribution of each node: level by level, children of one parent beside each other, the one with
        the most tokens at and below it first.
    topic_parents_ : ndarray of int of shape (n_topics_,)
        The parent of each node; -1 below the root.
    topic_levels_ : ndarray of int of shape (n_topics_,)
        The level of each node; 1 below the root.
    topic_documents_ : ndarray of shape (n_topics_,)
        Expected number of documents that selected each node.
    topic_tokens_ : ndarray of shape (n_topics_,)
        Expected number of tokens at each node itself.
    topic_shares_ : ndarray of shape (n_topics_,)
        Share of the tokens of the fit that each node has itself. They sum to one.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected weights of the nodes in a new document. The rest to one belongs to nodes that are not shown.
    tree_ : TreeNode
        The root of the tree, to walk from.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word at each node, plus its pseudo-counts.
    alpha_, gamma_ : float
        The concentrations of the fit.
    eta_ : float or ndarray of shape (W,)
        Pseudo-count of every word in the topics without a prior of their own.
    learned_ : list of str
        Always empty: no hyperparameter is learned.
    learning_offset_ : float
        The offset of the steps.
    objective_ : float
        Last entry of "objective" in `trace_`.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass, or for each call of `partial_fit`: "lap" (its number), "objective", "n_topics",
        "seconds", "moved" (always 0), "step_size" (of the last step), "n_steps", "sweeps" (of a document, on average),
        "nodes" (of a document, on average). The objective is the lower bound of the log-likelihood, in nats per token,
        for what the pass found of each document, under the topics at its end. In a stream it is an estimate from the
        minibatch before its step.
    n_laps_ : int
        Number of entries of the trace.
    n_steps_ : int
        Number of steps taken.
    n_documents_seen_ : int
        Number of documents of the fit, or of the stream so far.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        Whether the fit stopped by `tolerance`.
    stop_reason_ : str
        Why the fit ended.
    vocabulary_ : tuple of str
        The words.
    text_options_, text_column_ : TextOptions or None, str or None
        How the texts of the fit were counted, and their column in its data frame. None where it was given counts.

    References
    ----------
    J. Paisley, C. Wang, D. M. Blei, M. I. Jordan. Nested Hierarchical Dirichlet Processes. IEEE Transactions on Pattern
    Analysis and Machine Intelligence 37, 2015.

    Examples
    --------
    >>> from stickbreak_baselines import NestedHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = NestedHDP(branching=(5, 3), n_laps=3, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape == (50, model.n_topics_)
    True
    >>> [child.level for child in model.tree_.walk(depth=1)][:2]
    [0, 1]
    """

    _stream_only = ("total_documents",)
    _free = _stream_only

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FittedNestedHDP._parameter_constraints,
        **CONCENTRATIONS,
        **STEPS,
        "branching": [list, tuple, np.ndarray],
        "level_mean": [between(0.001, 0.999)],
        "level_scale": [between(0.01, 1e6)],
        **TOPIC_PRIORS,
        "document_nodes": [whole(1, MOST_DOCUMENT_NODES)],
        "batch_size": [None, whole(1)],
        "tolerance": [None, *TOLERANCES],
        "local_tolerance": [*TOLERANCES],
        "local_sweeps": [sweeps(1)],
    }

    def __init__(
        self,
        *,
        branching: Sequence[int] | NDArray = (20, 10, 5),
        alpha: float = 1.0,
        gamma: float = 5.0,
        level_mean: float = 0.35,
        level_scale: float = 1.0,
        eta: Any = 0.1,
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        document_nodes: int = 50,
        n_laps: int = 10,
        batch_size: int | None = 256,
        tolerance: float | None = 1e-4,
        local_tolerance: float = 1e-4,
        local_sweeps: int = 50,
        learning_decay: float = 0.6,
        learning_offset: float | None = None,
        total_documents: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.branching = branching
        self.alpha = alpha
        self.gamma = gamma
        self.level_mean = level_mean
        self.level_scale = level_scale
        self.eta = eta
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.document_nodes = document_nodes
        self.n_laps = n_laps
        self.batch_size = batch_size
        self.tolerance = tolerance
        self.local_tolerance = local_tolerance
        self.local_sweeps = local_sweeps
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.total_documents = total_documents
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_children(
            branching_of(self.branching), self._n_seeded, "seeds" if self.seeds is not None else "rows of eta"
        )

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        self._check_words_of_eta(documents.n_words)
        n_kept = documents.n_documents if self.batch_size is None else 0
        check_sizes(branching_of(self.branching), documents, n_kept, int(self.document_nodes))

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        return {"branching": list(branching_of(self.branching))}

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> NestedHDPLaps:
        size = documents.n_documents if self.batch_size is None else int(self.batch_size)
        rules = self._given_rules(documents, self._offset(min(1.0, size / documents.n_documents)), seed)
        batch_size = None if self.batch_size is None else size
        start = lambda: begin(documents, rules.tree, seed, 1.0, rules.pseudo)  # noqa: E731
        return NestedHDPLaps(Steps(rules, engine), documents, batch_size, start)

    def _offset(self, share: float) -> float:
        """Return the offset of the steps, the first of which sees this share of the documents."""
        given = self.learning_offset
        return offset_for(share, float(self.learning_decay)) if given is None else float(given)

    def _given_rules(self, documents: Corpus, offset: float, seed: int) -> Rules:
        """Return the rules of the parameters."""
        prior = self._word_prior(documents.words)
        return self._rules(float(self.alpha), float(self.gamma), prior, offset, seed)

    def _rules(self, alpha: float, gamma: float, prior: WordPrior, offset: float, seed: int) -> Rules:
        local = LocalSettings(
            alpha, float(self.level_mean), float(self.level_scale), float(self.local_tolerance), int(self.local_sweeps)
        )
        steps = float(self.learning_decay), offset, seed
        return Rules(self._whole(), local, gamma, prior.base, int(self.document_nodes), *steps, prior.pseudo)

    def _take(self, laps: NestedHDPLaps, documents: Corpus) -> None:
        self._take_rules(laps.steps.rules, laps.state)
        self.n_documents_seen_ = documents.n_documents

    def _take_rules(self, rules: Rules, state: Any) -> None:
        """Take state and hyperparameters of a fit or of the start of a stream."""
        self.alpha_, self.gamma_, self.eta_ = rules.local.alpha, rules.gamma, rules.eta
        self.learning_offset_, self._pseudo = rules.offset, rules.pseudo
        self._take_state(state, rules.seed)

    def _check_minibatch(self, minibatch: Corpus, *, first: bool) -> None:
        if first:
            check_tokens(minibatch)
            self._check_words_of_eta(minibatch.n_words)
            check_sizes(branching_of(self.branching), minibatch, 0, int(self.document_nodes))

    def _open_stream(self, minibatch: Corpus, total: int, engine: Engine, interruption: Interruption) -> None:
        seed, share = seed_from(self.random_state), total / minibatch.n_documents
        rules = self._given_rules(minibatch, self._offset(1.0), seed)
        self._take_rules(rules, begin(minibatch, rules.tree, seed, share, rules.pseudo))

    def _step(self, minibatch: Corpus, total: int, engine: Engine, start: None) -> Lap:
        prior = WordPrior(self.eta_, self._pseudo)
        rules = self._rules(self.alpha_, self.gamma_, prior, self.learning_offset_, self._seed)
        state = self._state.copy()
        lap = Steps(rules, engine).once(state, Minibatch.from_corpus(minibatch), total)
        self._take_state(state, self._seed)
        return lap
