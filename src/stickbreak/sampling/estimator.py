"""`GibbsHDP`: the face of the samplers."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import check_learned, is_table, require, whole_number
from stickbreak.fitting.checks import check_whole
from stickbreak.fitting.constraints import CONCENTRATIONS, TOPIC_PRIORS, one_of, whole
from stickbreak.fitting.engine import Engine, threads_and_workers
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.loop import Callback, Stop
from stickbreak.initialization import Start, StartSettings
from stickbreak.model.document_labels import label_probabilities, predict_labels
from stickbreak.model.estimator import all_or_nothing, cached
from stickbreak.model.initial_topics import n_initial_topics
from stickbreak.model.input_documents import counted
from stickbreak.model.seeds import Seeds, base_of, plain_seeds
from stickbreak.model.topic_estimator import TopicEstimator, on_workers
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import SMALLEST, are_sums, are_tables
from stickbreak.path.joining_topics import pooled
from stickbreak.prediction.document_weights import collapsed_weights
from stickbreak.sampling.chain import ChainSettings
from stickbreak.sampling.checks import (
    REPRESENTATIONS,
    SAMPLERS,
    TOPIC_MODEL,
    check_continuation,
    check_known_topics,
    check_labelled,
    check_limit,
    check_memory,
    check_parameters,
)
from stickbreak.sampling.known_topics import whole_tokens, with_known
from stickbreak.sampling.laps import COLUMNS, GibbsLaps, SamplePlan, best_chain, chain_seeds, show_chain
from stickbreak.sampling.samples import ESTIMATES
from stickbreak.sampling.starts import chain_starts
from stickbreak.sampling.state import Concentrations


class GibbsHDP(TopicEstimator):
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

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "tables_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicEstimator._fitted_values,
        "label_names_",
        "label_curve_",
        "alpha_",
        "gamma_",
        "eta_",
        "chain_",
        "burn_in_",
        "n_chains_",
        "n_tokens_",
    )

    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    _takes_labels = True
    objective_name: ClassVar[str] = "joint log-likelihood"

    components_: Float
    tables_: Float
    alpha_: float
    gamma_: float
    eta_: Eta
    chain_: int
    burn_in_: int
    n_chains_: int
    n_tokens_: int

    label_probabilities = label_probabilities
    predict_labels = predict_labels

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicEstimator._parameter_constraints,
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
        check_known_topics(self, self._n_seeded)

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        self._check_words_of_eta(documents.n_words)
        n_topics = self.starting_topics(documents) if isinstance(self.init, str) else n_initial_topics(self.init)
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

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> GibbsLaps:
        of_words = whole_tokens(self._word_prior(documents.words), of_seeds=self.seeds is not None)
        prior, labels = self._behind_labels(of_words, documents.n_words), self._rows_of_labels
        self._pseudo = prior.pseudo
        burn_in = self.n_laps // 2 if self.burn_in is None else self.burn_in
        concentrations = Concentrations(float(self.alpha), float(self.gamma), prior.base)
        sampling = SamplePlan(self.estimate, int(burn_in), int(self.thin))
        seeds, settings = chain_seeds(seed, self.n_chains), ChainSettings.of(self, prior, labels)

        def starts(report: Callback, stop: Stop) -> tuple[Sequence[str | Start], int]:
            n_topics = self.starting_topics(documents)
            values = self.alpha, self.gamma, prior.base, seed, self.init_sweeps
            start = StartSettings(
                n_topics + prior.n_kept,
                *values,
                engine=engine,
                stop=stop,
                pseudo=prior.pseudo,
                labels=labels,
                max_topics=self.max_topics,
            )
            return chain_starts(self.init, documents, start, seeds, report), n_topics

        corpus = with_known(documents, prior)
        source = engine.source(corpus) if engine.workers and len(seeds) > 1 else None
        tokens = Tokens.from_corpus(corpus, prior.n_kept)
        return GibbsLaps(tokens, settings, concentrations, sampling, seeds, engine, starts, source)

    def _take(self, laps: GibbsLaps, documents: Corpus) -> None:
        columns, burn_in = self._trace.columns, laps.sampling.burn_in
        self.n_chains_ = len(laps.chains)
        self.chain_ = best_chain(columns, self.n_chains_, burn_in)
        show_chain(columns, self.chain_)
        sample = laps.estimate(self.chain_)
        now = sample.concentrations
        sizes, n_kept = np.asarray(sample.counts.sum(axis=1)).ravel(), self._n_kept
        order = np.append(np.arange(n_kept), n_kept + np.argsort(-sizes[n_kept:], kind="stable"))
        self.alpha_, self.gamma_ = float(now.alpha), float(now.gamma)
        self.eta_ = base_of(self.eta) if np.ndim(self.eta) == 1 else float(np.mean(now.eta))
        self.components_ = sample.counts[order].toarray()
        self.components_ += self.eta_
        self.tables_ = sample.tables[order]
        self.n_tokens_ = laps.n_tokens
        self.objective_ = sample.log_joint / self.n_tokens_
        self.burn_in_ = burn_in
        if self.max_topics is not None and columns["n_topics"][-1] >= self.max_topics:
            self.stop_reason_ += f" The number of topics reached max_topics={self.max_topics}: more may predict better."
        if self.n_laps_ <= burn_in:
            self.stop_reason_ += (
                f" No sample yet: burn-in takes {burn_in} sweeps. The topics are those of the last sweep."
            )
        self._take_curve(documents, laps.seed)

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        return {}  # a start of fewer topics follows from the tokens

    # The fitted model.

    @on_workers
    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last.

        The topics stay fixed. The weights are (N_dk + alpha beta_k) / (N_d + alpha) at the fixed point of zero-order
        collapsed inference. The inactive rest is a topic that gives every word the same probability.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        corpus = self._corpus(X)
        with threads_and_workers(self.n_jobs) as engine:
            return collapsed_weights(corpus, self._word_rows, self._document_prior(), engine)

    def _word_rows(self, words: NDArray[np.integer] | slice) -> Float:
        """Return the probabilities of words in the topics, that in the inactive rest last, (n, K + 1)."""
        active = (self.components_[:, words] / self._totals()).T
        return np.column_stack([active, self.rest_word_[words]])

    @cached
    def _totals(self) -> Float:
        """Return what each topic sums to, (K, 1)."""
        return np.asarray(self.components_.sum(axis=1, keepdims=True))

    def _document_prior(self) -> Float:
        """Return alpha times the expected corpus weights, the inactive rest last, (K + 1,)."""
        rest = self.gamma_ / (self.tables_.sum() + self.gamma_)
        return self.alpha_ * np.append(self.topic_weights_, rest)

    @property
    def topic_weights_(self) -> Float:
        """Expected corpus weights M_k / (M + gamma), (K,). They follow the tables, so they need not descend."""
        check_is_fitted(self)
        return self.tables_ / (self.tables_.sum() + self.gamma_)

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]: counts and tables add up."""
        counts, eta = self._expected_counts()
        self.components_, self.tables_ = pooled(counts, to) + eta, pooled(self.tables_, to)
        self._forget_labels()

    def to_arviz(self, *, thin: int = 1) -> Any:
        """Return the sweeps of all chains after burn-in, for ArviZ, which has R-hat, effective sample sizes and plots.

        The result holds quantities that do not depend on the labels of topics: the numbers of topics and tables, the
        joint log-likelihood, and the learned hyperparameters.

        R-hat needs several chains from different starts. Chains with the same kind of start may all stay near it, which
        R-hat cannot detect. Fit models with different `init`, and join their data along the dimension chain.

        Parameters
        ----------
        thin : int, default=1
            Number of sweeps from one returned sweep to the next. The model's parameter `thin` does not matter here.

        Returns
        -------
        arviz.InferenceData, from ArviZ 1.0 on xarray.DataTree
            Group "posterior" has "log_joint" (nats), "n_topics", "n_tables" and the learned hyperparameters. Group
            "sample_stats" has what the split-merge moves did. All have the dimensions chain and draw.

        Raises
        ------
        ImportError
            If ArviZ is not installed (`pip install 'stickbreak[arviz]'`).
        InputError
            If the fit ended before its burn-in was over, or `thin` is not a positive whole number.
        """
        check_is_fitted(self)
        check_whole("thin", thin, 1)
        return arviz_samples(
            self.trace_,
            burn_in=self.burn_in_,
            thin=int(thin),
            n_chains=self.n_chains_,
            n_tokens=self.n_tokens_,
            learned=self.learned_,
        )

    @all_or_nothing
    def continue_fit(
        self, X: Any, *, n_laps: int, callback: Callback | None = None, burn_in: int | None = None
    ) -> Self:
        """Continue the chains of this model, which may have been saved and loaded.

        The result equals that of one fit with all the sweeps and the same burn-in.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)
            The documents of the fit.
        n_laps : int
            Number of further sweeps.
        callback : callable, optional
            As in `fit`.
        burn_in : int, optional
            Number of sweeps before the first sample, counted from the beginning of the chains: at least as many as are
            done (`n_laps_`). The samples of these are then forgotten (for the topics, the choice of the chain and
            `to_arviz`). None keeps the former burn-in.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the documents or parameters are not those of the fit, the model has forgotten its state, `n_laps` is
            not a positive whole number, or `burn_in` is less than the sweeps done or leaves no sample.
        """
        check_is_fitted(self)
        check_continuation(n_laps, burn_in, done=self.n_laps_, burn_in_before=self.burn_in_)
        change = None if burn_in is None else lambda laps: laps.change_burn_in(int(burn_in))
        return self._go_on(X, n_laps, callback, change)

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        K = self.components_.shape[0]
        tables = self.tables_
        if not is_table(tables, K) or not are_tables(tables) or (tables <= 0).any():
            raise ValueError(f"tables_ does not hold a positive number for each of {K} topics")
        if not (self.components_ >= SMALLEST).all() or not are_sums(self.components_):
            raise ValueError("components_ holds a number that is not positive, or too large")
        check_learned(self, LEARNABLE)
        for name in ("chain_", "n_chains_", "burn_in_", "n_tokens_"):
            whole_number(name, getattr(self, name))
        require(self.n_chains_ <= len(self.trace_), f"its trace is not that of {self.n_chains_} chains")
        chains = range(self.n_chains_) if self.n_chains_ > 1 else ()
        missing = {*COLUMNS, *(f"{name}_{c}" for name in COLUMNS for c in chains)} - self.trace_.keys()
        if missing:
            raise ValueError(f"its trace lacks the column {min(missing)}")
        require(self.chain_ < self.n_chains_, "the chain that was kept cannot be")


_NUMBERS = ("n_topics", "n_tables")
_STATISTICS = ("split_tried", "split_accepted", "merge_tried", "merge_accepted")


def arviz_samples(
    trace: Mapping[str, NDArray], *, burn_in: int, thin: int, n_chains: int, n_tokens: int, learned: Collection[str]
) -> Any:
    """Return the samples in a trace: an `arviz.InferenceData`, from ArviZ 1.0 on an `xarray.DataTree`."""
    try:
        import arviz
    except ImportError:
        raise ImportError(
            "to_arviz needs ArviZ, which is not installed; install it by pip install 'stickbreak[arviz]'."
        ) from None
    done = trace["lap"].size
    if done <= burn_in:
        raise InputError(
            f"the fit did {done} sweeps and its burn-in takes {burn_in}, so there is no sample; call continue_fit."
        )
    unknowns = (*_NUMBERS, *(name for name in LEARNABLE if name in learned))
    samples = {name: _draws(trace, name, n_chains)[:, burn_in::thin] for name in ("objective", *unknowns, *_STATISTICS)}
    groups = {
        "posterior": {
            "log_joint": samples["objective"] * n_tokens,
            **{name: samples[name] for name in unknowns},
        },
        "sample_stats": {name: samples[name] for name in _STATISTICS},
    }
    gather: Any = arviz.from_dict
    if "posterior" in inspect.signature(gather).parameters:  # before ArviZ 1.0
        return gather(**groups)
    return gather(groups)


def _draws(trace: Mapping[str, NDArray], name: str, n_chains: int) -> NDArray:
    """Return a column of the trace for all chains, (chains, sweeps)."""
    return np.stack([trace[name if n_chains == 1 else f"{name}_{c}"] for c in range(n_chains)])
