"""`SplitMergeOnlineHDP`: the face of online variational inference with splits and merges in minibatches."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.constraints import between, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback, Stop
from stickbreak.model.seeds import Seeds, plain_seeds
from stickbreak.numerics.ranges import LARGEST
from stickbreak_baselines.online.direct.steps import DirectSteps, Settings
from stickbreak_baselines.online.estimator import OnlineEstimator
from stickbreak_baselines.online.laps import Rules
from stickbreak_baselines.online.state import OnlineState


class SplitMergeOnlineHDP(OnlineEstimator):
    """The online inference with splits and merges of Bryant and Sudderth (2012), to compare with.

    Tokens have topics directly, and the corpus weights are a point estimate. After each minibatch topics merge or split
    where the bound of this minibatch, scaled up to all documents, rises by it. A minibatch is taken for all documents,
    so that moves are accepted too easily: the number of topics grows to `max_topics` on some collections, and stays
    small on others. For work of your own take `TopicModel`, which finds their number, or
    `VariationalHDP`, whose moves all documents decide.

    Parameters
    ----------
    n_topics : int or None, default=None
        Number of topics to start with. None: 1.
    max_topics : int, default=200
        Number of topics to which splits lead at most.
    split_trials : int, default=10
        Number of topics that are tried to be split after each step. 0: none.
    merge_trials : int, default=10
        Number of pairs of topics that are tried to be merged after each step, those that occur together most. 0: none.
    alpha : float, default=0.5
        Concentration of the topic weights of a document.
    gamma : float, default=10.0
        Concentration of the topic weights of the corpus, at least 1: the point estimate of the weights needs that.
    eta : float or array-like of shape (W,) or (K, W), default=0.1
        Pseudo-count of every word in every topic. An array has one for each word, or a row for each of the first K
        topics: these keep their numbers as those of seeds do, and other topics have its smallest number for every word.
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They come first, in this order, and keep their
        numbers and names. The fit starts with them and with `n_topics` others. The start is "random" or "lda".
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (O16)).
    init : {"random", "lda", "near-uniform", "documents", "anchors"} or given topics, default="random"
        Where the topics start. "random" draws every topic from a Dirichlet distribution. The others find topics first
        (see `VariationalHDP`). You can also give topics: word distributions, expected counts, or a fitted model of
        topics over the same words.
    init_sweeps : int, default=50
        Number of sweeps of the start "lda".
    n_laps : int, default=5
        Maximum number of passes over the data. A pass ("lap" in names) visits every document once. The fit does all of
        them unless you interrupt it.
    batch_size : int, default=256
        Number of documents in a minibatch of `fit`.
    local_tolerance : float, default=1e-4
        A document ends when no expected count of a topic changes by more.
    local_sweeps : int, default=100
        Maximum number of sweeps over a document in one step (at most 1e6).
    learning_decay : float, default=0.5
        Step t of a stochastic fit has the size (t + learning_offset) ** -learning_decay.
    learning_offset : float or None, default=None
        A larger offset makes the first steps smaller. None: chosen by the start. It is 1 after a random start, which
        holds nothing worth keeping. If topics are found or given, `fit` chooses the value that makes the first step
        equal to the share of the documents that it sees.
    total_documents : int or None, default=None
        Number of documents in the whole stream, for `partial_fit`. None: those seen so far.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads. They work on the documents of a minibatch. None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics with at least half an expected token.
    topic_word_ : ndarray of shape (n_topics_, W)
        Expected word distribution of each topic, the largest topic first.
    topic_shares_ : ndarray of shape (n_topics_,)
        Share of the tokens of the fit that each topic has. They sum to one.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected corpus weights M_k / (M + gamma). They sum to less than one; the rest belongs to topics that are not
        shown or unseen.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word in each topic, plus its pseudo-counts.
    tables_ : ndarray of shape (n_topics_,)
        Expected number of tables of each topic, one more of those of seeds.
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
        "seconds", "moved" (whether topics split or merged), "step_size" (of the last step), "n_steps", "sweeps" (of a
        document, on average), "split_tried", "split_accepted", "merge_tried", "merge_accepted". The objective is an
        estimate of the bound, in nats per token, from each minibatch before its step; of a pass, the mean.
    n_laps_ : int
        Number of entries of the trace.
    n_steps_ : int
        Number of steps taken.
    n_documents_seen_ : int
        Number of documents of the fit, or of the stream so far.
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
    M. Bryant, E. B. Sudderth. Truly Nonparametric Online Variational Inference for Hierarchical Dirichlet Processes.
    NIPS 2012.

    Examples
    --------
    >>> from stickbreak_baselines import SplitMergeOnlineHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = SplitMergeOnlineHDP(n_laps=3, batch_size=25, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape[0]
    50
    """

    default_topics = 1

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OnlineEstimator._parameter_constraints,
        "max_topics": [whole(1)],
        "split_trials": [whole(0)],
        "merge_trials": [whole(0)],
        "gamma": [between(1.0, LARGEST)],
    }

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        max_topics: int = 200,
        split_trials: int = 10,
        merge_trials: int = 10,
        alpha: float = 0.5,
        gamma: float = 10.0,
        eta: Any = 0.1,
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        init: str | NDArray = "random",
        init_sweeps: int = 50,
        n_laps: int = 5,
        batch_size: int = 256,
        local_tolerance: float = 1e-4,
        local_sweeps: int = 100,
        learning_decay: float = 0.5,
        learning_offset: float | None = None,
        total_documents: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.max_topics = max_topics
        self.split_trials = split_trials
        self.merge_trials = merge_trials
        self.alpha = alpha
        self.gamma = gamma
        self.eta = eta
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.init = init
        self.init_sweeps = init_sweeps
        self.n_laps = n_laps
        self.batch_size = batch_size
        self.local_tolerance = local_tolerance
        self.local_sweeps = local_sweeps
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.total_documents = total_documents
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _steps(self, rules: Rules, engine: Engine) -> DirectSteps:
        trials = int(self.split_trials), int(self.merge_trials), int(self.max_topics)
        settings = Settings(float(self.local_tolerance), int(self.local_sweeps), *trials)
        return DirectSteps(rules, settings, engine)

    def _begin(
        self, documents: Corpus, rules: Rules, share: float, engine: Engine, report: Callback, stop: Stop
    ) -> OnlineState:
        """Return the state at the start, in which each topic with pseudo-counts has a table more.   docs/math (O16)"""
        state = super()._begin(documents, rules, share, engine, report, stop)
        state.tables[: rules.n_kept] += 1.0
        return state

    def _tables_of_document(self, corpus: Corpus) -> float:
        return 1.0
