"""`OnlineHDP`: the face of online variational inference for the HDP with tables."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.constraints import one_of, share, whole
from stickbreak.fitting.engine import Engine
from stickbreak.model.seeds import Seeds, plain_seeds
from stickbreak_baselines.online.estimator import OnlineEstimator
from stickbreak_baselines.online.franchise.local_step import EVEN, TOPICS, LocalSettings
from stickbreak_baselines.online.franchise.steps import FranchiseSteps
from stickbreak_baselines.online.laps import Rules


class OnlineHDP(OnlineEstimator):
    """The online variational inference of Wang, Paisley and Blei (2011), to compare with.

    Each document has tables, each table one topic, and each token one table: the Chinese restaurant franchise as
    two levels of sticks. Mean field over both finds poorer topics than the methods that give tokens topics directly,
    and costs more. For work of your own take `TopicModel`, or `VariationalHDP` for a bound, or `HybridHDP` for
    streams. Here are the start and the steps of the paper, at the speed of the others.

    Parameters
    ----------
    n_topics : int or None, default=None
        Number of topics to start with. There are never more: it is the truncation K of the corpus. None: 100, or a
        quarter of the tokens if the start finds topics first in documents with fewer than 100 tokens.
    n_tables : int, default=15
        Number of tables of each document, the truncation T of the paper.
    alpha : float, default=1.0
        Concentration of the sticks of a document.
    gamma : float, default=1.0
        Concentration of the sticks of the corpus.
    eta : float or array-like of shape (W,) or (K, W), default=0.01
        Pseudo-count of every word in every topic. An array has one for each word, or a row for each of the first K
        topics: these keep their numbers as those of seeds do, and other topics have its smallest number for every word.
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They come first, in this order, and keep their
        numbers and names. The fit starts with them and with `n_topics` others. The start is "random" or "lda".
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (O16)).
    init : {"random", "lda", "near-uniform", "documents", "anchors"} or given topics, default="random"
        Where the topics start. "random", the paper's start, draws every topic from a Dirichlet distribution. The others
        find topics first (see `VariationalHDP`). You can also give topics: word distributions, expected counts, or a
        fitted model of topics over the same words.
    init_sweeps : int, default=50
        Number of sweeps of the start "lda".
    table_start : {"topics", "even"}, default="topics"
        Where the tables of a document start. "topics": with the topics that the document has most of. "even": every
        word at all tables alike, as in the code of the paper, from where tables hardly come apart.
    merge_threshold : float or None, default=None
        Cosine of the word distributions from which two topics merge, after each pass. None: topics never merge.
    n_laps : int, default=5
        Maximum number of passes over the data. A pass ("lap" in names) visits every document once. The fit does all of
        them unless you interrupt it.
    batch_size : int, default=256
        Number of documents in a minibatch of `fit`.
    local_tolerance : float, default=1e-4
        A document ends when a sweep raises its part of the bound by less than this, in nats per token.
    local_sweeps : int, default=100
        Maximum number of sweeps over a document in one step (at most 1e6).
    learning_decay : float, default=0.6
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
        Expected number of tables of each topic; a document has `n_tables`, empty ones among them.
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
        "seconds", "moved" (whether topics merged), "step_size" (of the last step), "n_steps", "sweeps" (of a document,
        on average), "merges". The objective is the lower bound of the log-likelihood, in nats per token, for what the
        pass found of each document, under the topics at its end. In a stream it is an estimate from the minibatch
        before its step.
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
    C. Wang, J. Paisley, D. M. Blei. Online Variational Inference for the Hierarchical Dirichlet Process. AISTATS 2011.

    Examples
    --------
    >>> from stickbreak_baselines import OnlineHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = OnlineHDP(n_topics=20, n_laps=3, batch_size=10, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape[0]
    50
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OnlineEstimator._parameter_constraints,
        "n_tables": [whole(1)],
        "table_start": [one_of((TOPICS, EVEN))],
        "merge_threshold": [None, share(zero=False)],
    }

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        n_tables: int = 15,
        alpha: float = 1.0,
        gamma: float = 1.0,
        eta: Any = 0.01,
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        init: str | NDArray = "random",
        init_sweeps: int = 50,
        table_start: str = TOPICS,
        merge_threshold: float | None = None,
        n_laps: int = 5,
        batch_size: int = 256,
        local_tolerance: float = 1e-4,
        local_sweeps: int = 100,
        learning_decay: float = 0.6,
        learning_offset: float | None = None,
        total_documents: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.n_tables = n_tables
        self.alpha = alpha
        self.gamma = gamma
        self.eta = eta
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.init = init
        self.init_sweeps = init_sweeps
        self.table_start = table_start
        self.merge_threshold = merge_threshold
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

    def _steps(self, rules: Rules, engine: Engine) -> FranchiseSteps:
        tolerance, most = float(self.local_tolerance), int(self.local_sweeps)
        settings = LocalSettings(int(self.n_tables), self.table_start, tolerance, most)
        threshold = None if self.merge_threshold is None else float(self.merge_threshold)
        return FranchiseSteps(rules, settings, threshold, engine)

    def _tables_of_document(self, corpus: Corpus) -> float:
        return float(self.n_tables)
