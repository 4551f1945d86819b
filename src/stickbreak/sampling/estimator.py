"""`GibbsHDP`: the face of the samplers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.constraints import CONCENTRATIONS, TOPIC_PRIORS, one_of, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback, Stop
from stickbreak.initialization import Start, StartSettings
from stickbreak.model.documents import counted
from stickbreak.model.initial_topics import number_given
from stickbreak.model.seeds import Seeds, plain_seeds
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.sampling.chain import ChainSettings
from stickbreak.sampling.fitted import FittedGibbs
from stickbreak.sampling.known import whole_tokens, with_known
from stickbreak.sampling.laps import GibbsLaps, Sampling, chain_seeds
from stickbreak.sampling.requirements import (
    REPRESENTATIONS,
    SAMPLERS,
    TOPIC_MODEL,
    check_known,
    check_labelled,
    check_limit,
    check_memory,
    check_parameters,
)
from stickbreak.sampling.samples import ESTIMATES
from stickbreak.sampling.starts import chain_starts
from stickbreak.sampling.state import Concentrations


class GibbsHDP(FittedGibbs):
    """Topics of a collection and their number, by Markov chain Monte Carlo for the HDP.

    The model is that of `VariationalHDP`. Word distributions and document weights are integrated out. The chain visits
    assignments of tokens to topics (and tables), and its distribution converges to the posterior. There are three
    representations of the same model, and two kinds of moves that split or merge whole topics. Concentrations can be
    sampled too. Tokens are sampled one by one, so counts must be whole numbers.

    Parameters
    ----------
    n_topics : int or None, default=None
        Number of topics to start with. Only some starts need it: "random", and those that find topics. None: 1 for
        init="topic-model", 100 for the others. If the documents hold fewer tokens, the fit starts with one topic for
        each token.
    alpha : float, default=1.0
        Concentration of the topic weights of a document. If it is learned, this is its initial value.
    gamma : float, default=1.0
        Concentration of the topic weights of the corpus. If it is learned, this is its initial value.
    eta : float or array-like of shape (W,) or (K, W), default=0.03
        Pseudo-count of every word in every topic. If it is learned, this is its initial value. An array, which is not
        learned, has one for each word, or a row for each of the first K topics: these keep their numbers as those of
        seeds do, and other topics have its smallest number for every word, from which rows differ by whole numbers.
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They come first, in this order, and keep their
        numbers and names. Chains start with them and with `n_topics` others, and never split or merge them.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (L17)). Here
        each word has a whole number of them (docs/math (G15)).
    learn : sequence of {"alpha", "gamma", "eta"}, default=("alpha", "gamma")
        Hyperparameters that are learned from the data. They are sampled after each sweep, under Gamma priors.
    alpha_prior : (float, float), default=(1.0, 1.0)
        Shape and rate of the Gamma prior of alpha. They matter only if alpha is learned.
    gamma_prior : (float, float), default=(1.0, 1.0)
        Shape and rate of the Gamma prior of gamma. They matter only if gamma is learned.
    eta_prior : (float, float), default=(1.0, 1.0)
        Shape and rate of the Gamma prior of eta. They matter only if eta is learned.
    representation : {"indicator", "franchise", "partially-collapsed"}, default="indicator"
        What the chain keeps of the tables of each document. "indicator": their numbers (table indicators, Chen, Du and
        Buntine 2011; the fastest); "franchise": the table of every token (Chinese restaurant franchise, Teh, Jordan,
        Beal and Blei 2006); "partially-collapsed": corpus weights, and topics that are drawn at the beginning of each
        sweep. Documents are then independent, so threads share the work on one chain (after Terenin, Magnusson and
        Jonsson 2020; it needs more sweeps), and documents may have labels. All have the same posterior.
    sampler : {"sparse", "dense"}, default="sparse"
        How table indicators draw the topic of a token. "sparse": from the topics of its word and of its document first;
        "dense": by computing all topics one by one, as the original algorithm does (slower, for comparisons). Both have
        the same distribution.
    subtopic_trials : int, default=20
        Number of sub-topic trials after each sweep. A trial proposes either to split a topic into two sub-topics or to
        merge two topics, and draws all their tokens again. In half of the trials the two sides settle first (after Jain
        and Neal 2004, and Chang and Fisher 2014). The posterior stays exact. 0 means none.
    subtopic_passes : int, default=30
        Largest number of passes over the tokens of a sub-topic trial in which its two sides settle.
    split_merge_trials : int, default=0
        Number of split-merge trials of Wang and Blei after each sweep. They move whole tables.
    split_merge_sweeps : int or None, default=50
        Number of sweeps, from the first, in which the trials of Wang and Blei run. None: in all sweeps. (Paper: 50.)
    split_merge_scans : int, default=0
        Number of restricted Gibbs scans in a proposal of Wang and Blei (Jain and Neal 2004). 0 means sequential
        allocation, as in the paper.
    max_topics : int or None, default=None
        The chain never has more topics than this, and no start has more. Topics of seeds and labels count. The chain
        then has the posterior given that no more topics have tokens (docs/math (G6)). Not with
        representation="partially-collapsed". None: any number.
    init : {"topic-model", "random", "sequential", "single", "lda", "near-uniform", "documents", "anchors"} or topics
        Where the topics start. "topic-model" finds topics and their number first, by Gibbs sampling with merges (see
        `TopicModel`), and draws the tokens from them.
        "random" puts each token in one of `n_topics` topics at random. "sequential", the paper's start, assigns the
        tokens one after the other, each given those before it. "single" puts all tokens in one topic. "lda",
        "near-uniform", "documents" and "anchors" find topics first (see `VariationalHDP`) and draw the tokens from
        them. You can also give topics: word distributions, expected counts, or a fitted model of topics over the same
        words.
    init_sweeps : int, default=50
        Number of sweeps of the starts "topic-model" and "lda".
    n_laps : int, default=200
        Maximum number of passes over the data. A pass ("lap" in names) is one sweep over all tokens. The fit does all
        of them unless you interrupt it. From the default start the default predicts well. To study the posterior
        itself, run longer chains from several starts.
    burn_in : int or None, default=None
        Number of sweeps before the first sample. None: half of `n_laps`; a fit that goes on keeps its first value.
    thin : int, default=10
        Number of sweeps from one sample to the next. Samples are taken after burn-in, for estimate="average".
    n_chains : int, default=1
        Number of independent chains, of which the best is kept. The best is the chain whose best sweep after burn-in
        has the highest joint log-likelihood, at its own hyperparameters. This is not evidence for its number of topics.
        The trace has all chains.
    estimate : {"last", "best", "average"}, default="average"
        Where topics and weights come from. "last": the last sweep; "best": the sweep with the highest joint
        log-likelihood after burn-in; "average": the mean over the samples. For the mean, the topics of each sample are
        matched to those of the best sample so that most tokens agree; topics without a match are left out, and so are
        topics that fewer than half of the samples have.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs` and cluster.
    n_jobs : int or None, default=None
        Number of threads. They work on chains, so a single chain uses one, unless representation is
        "partially-collapsed". None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics K. With estimate="average" these are the topics that at least half of the samples have. With
        the other estimates they are all topics of one sweep, also those of a few tokens. `trace_["n_topics"]` counts
        all topics of every sweep.
    topic_word_ : ndarray of shape (K, W)
        Expected word distribution of each topic, the topic with the most tokens first.
    topic_shares_ : ndarray of shape (K,)
        Share of the tokens of the fit that each topic has. They sum to one.
    topic_weights_ : ndarray of shape (K,)
        Expected corpus weights M_k / (M + gamma). They sum to less than one; the rest belongs to unseen topics. They
        follow the tables, not the tokens, so they need not descend.
    components_ : ndarray of shape (K, W)
        Tokens of each word in each topic, plus eta.
    tables_ : ndarray of shape (K,)
        Number of tables M_k of each topic; of a label as many as give it its expected weight (docs/math (G16)).
    alpha_, gamma_, eta_ : float
        The hyperparameters that belong to the topics: those of their sweep, or means over the samples.
    objective_ : float
        Joint log-likelihood log p(words, topics, tables) of the sweep that the topics come from (the mean over the
        samples), with all constants, in nats per token.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each sweep of the chain that was kept: "lap" (its number), "objective", "n_topics", "n_tables",
        "seconds", "moved" (whether the number of topics changed or a move was accepted), "alpha", "gamma", "eta",
        "split_tried", "split_accepted", "merge_tried", "merge_accepted". With several chains, chain c has the same
        columns with "_c" at the end of their names.
    chain_ : int
        The chain that was kept.
    n_chains_ : int
        Number of chains.
    labels_ : dict of int to str
        Labels of topics: those of seeds and of labelled documents, and what `label` gave.
    label_names_ : list of str
        The labels of the documents of the fit: label k is topic k. Empty without labels.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit: sampled together with the topics.
    burn_in_ : int
        Number of sweeps before the first sample.
    n_laps_ : int
        Number of passes done (sweeps).
    n_tokens_ : int
        Number of tokens in the documents.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        Always False: whether a chain has converged is for you to judge (`to_arviz`).
    stop_reason_ : str
        Why the fit ended, and whether it ended before its first sample.
    vocabulary_ : tuple of str
        The words.
    text_options_, text_column_ : TextOptions or None, str or None
        How the texts of the fit were counted, and their column in its data frame. None where it was given counts.

    References
    ----------
    Y. W. Teh, M. I. Jordan, M. J. Beal, D. M. Blei. Hierarchical Dirichlet Processes. JASA 101, 2006.

    C. Chen, L. Du, W. Buntine. Sampling Table Configurations for the Hierarchical Poisson-Dirichlet Process. ECML 2011.

    D. Ramage, D. Hall, R. Nallapati, C. D. Manning. Labeled LDA. EMNLP 2009.

    C. Wang, D. M. Blei. A Split-Merge MCMC Algorithm for the Hierarchical Dirichlet Process. 2012.

    J. Chang, J. W. Fisher III. Parallel Sampling of HDPs using Sub-Cluster Splits. NIPS 2014.

    A. Terenin, M. Magnusson, L. Jonsson. Sparse Parallel Training of Hierarchical Dirichlet Process Topic Models. EMNLP
    2020.

    Examples
    --------
    >>> from stickbreak import GibbsHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = GibbsHDP(n_laps=10, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape[0]
    50
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FittedGibbs._parameter_constraints,
        **CONCENTRATIONS,
        **TOPIC_PRIORS,
        "n_topics": [None, whole(1)],
        "learn": [list, tuple],
        "alpha_prior": [list, tuple],
        "gamma_prior": [list, tuple],
        "eta_prior": [list, tuple],
        "representation": [one_of(REPRESENTATIONS)],
        "sampler": [one_of(SAMPLERS)],
        "subtopic_trials": [whole(0)],
        "subtopic_passes": [whole(1)],
        "split_merge_trials": [whole(0)],
        "split_merge_sweeps": [None, whole(1)],
        "split_merge_scans": [whole(0)],
        "max_topics": [None, whole(1)],
        "init": [str, "array-like", TopicEstimator],
        "init_sweeps": [whole(1)],
        "burn_in": [None, whole(0)],
        "thin": [whole(1)],
        "n_chains": [whole(1)],
        "estimate": [one_of(ESTIMATES)],
    }

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        alpha: float = 1.0,
        gamma: float = 1.0,
        eta: float | NDArray = 0.03,
        learn: Sequence[str] = ("alpha", "gamma"),
        alpha_prior: Sequence[float] = (1.0, 1.0),
        gamma_prior: Sequence[float] = (1.0, 1.0),
        eta_prior: Sequence[float] = (1.0, 1.0),
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        representation: str = "indicator",
        sampler: str = "sparse",
        subtopic_trials: int = 20,
        subtopic_passes: int = 30,
        split_merge_trials: int = 0,
        split_merge_sweeps: int | None = 50,
        split_merge_scans: int = 0,
        max_topics: int | None = None,
        init: str | NDArray = "random",
        init_sweeps: int = 50,
        n_laps: int = 200,
        burn_in: int | None = None,
        thin: int = 10,
        n_chains: int = 1,
        estimate: str = "average",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.gamma = gamma
        self.eta = eta
        self.learn = learn
        self.alpha_prior = alpha_prior
        self.gamma_prior = gamma_prior
        self.eta_prior = eta_prior
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.representation = representation
        self.sampler = sampler
        self.subtopic_trials = subtopic_trials
        self.subtopic_passes = subtopic_passes
        self.split_merge_trials = split_merge_trials
        self.split_merge_sweeps = split_merge_sweeps
        self.split_merge_scans = split_merge_scans
        self.max_topics = max_topics
        self.init = init
        self.init_sweeps = init_sweeps
        self.n_laps = n_laps
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.estimate = estimate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self)
        check_known(self, self._n_seeded)

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        self._check_words_of_eta(documents.n_words)
        n_topics = self.starting_topics(documents) if isinstance(self.init, str) else number_given(self.init)
        check_limit(self, n_topics, self._n_steered)
        check_memory(self, documents, n_topics + self._n_steered)

    def _check_labelled_fit(self) -> None:
        super()._check_labelled_fit()
        check_labelled(self)

    def starting_topics(self, X: Any) -> int:
        """Return the number of topics that a fit to these documents starts with, if the start needs a number.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        int
            `n_topics`, or its default, or the number of tokens if that is smaller.
        """
        n_topics = self._default_topics(stream=False) if self.n_topics is None else int(self.n_topics)
        return min(n_topics, int(Corpus.from_counts(counted(self, X, reset=True)).n_tokens))

    def _default_topics(self, *, stream: bool) -> int:
        if isinstance(self.init, str) and self.init == TOPIC_MODEL:
            return 1
        room = self.default_topics if self.max_topics is None else int(self.max_topics) - self._n_steered
        return max(1, min(self.default_topics, room))

    def _laps(self, documents: Corpus, seed: int, executor: Engine) -> GibbsLaps:
        of_words = whole_tokens(self._word_prior(documents.words), of_seeds=self.seeds is not None)
        prior, labels = self._behind_labels(of_words, documents.n_words), self._rows_of_labels
        self._pseudo = prior.pseudo
        burn_in = self.n_laps // 2 if self.burn_in is None else self.burn_in
        concentrations = Concentrations(float(self.alpha), float(self.gamma), prior.base)
        sampling = Sampling(self.estimate, int(burn_in), int(self.thin))
        seeds, settings = chain_seeds(seed, self.n_chains), ChainSettings.of(self, prior, labels)

        def starts(report: Callback, stop: Stop) -> tuple[Sequence[str | Start], int]:
            n_topics = self.starting_topics(documents)
            values = self.alpha, self.gamma, prior.base, seed, self.init_sweeps
            start = StartSettings(
                n_topics + prior.n_kept,
                *values,
                engine=executor,
                stop=stop,
                pseudo=prior.pseudo,
                labels=labels,
                max_topics=self.max_topics,
            )
            return chain_starts(self.init, documents, start, seeds, report), n_topics

        corpus = with_known(documents, prior)
        source = executor.source(corpus) if executor.workers and len(seeds) > 1 else None
        tokens = Tokens.from_corpus(corpus, prior.n_kept)
        return GibbsLaps(tokens, settings, concentrations, sampling, seeds, executor, starts, source)

    def _take(self, laps: GibbsLaps, documents: Corpus) -> None:
        super()._take(laps, documents)
        self._take_curve(documents, laps.seed)

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        return {}  # a start of fewer topics follows from the tokens
