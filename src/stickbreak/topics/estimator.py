"""`TopicModel`: the default."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus, TextOptions
from stickbreak.corpus.alignment import in_columns, only_numbered
from stickbreak.corpus.text_columns import as_frame, columns_of, is_frame, kept_columns
from stickbreak.corpus.tokens import refuse_fractions
from stickbreak.exceptions import InputError
from stickbreak.fitting.batch_store import scratch_folder
from stickbreak.fitting.checkpoint import check_learned, is_table, require, seed_of_fit, whole_number
from stickbreak.fitting.checks import check_bytes, check_memory, check_names, check_start, check_tokens
from stickbreak.fitting.constraints import CONCENTRATION, TOLERANCES, TOPIC_PRIORS, whole
from stickbreak.fitting.engine import Engine, threads_and_workers, workers_now
from stickbreak.fitting.hyperparameters import PRIOR
from stickbreak.fitting.loop import Callback, logger
from stickbreak.fitting.run import Identity, Run, at_work
from stickbreak.model.document_labels import column_named, given_labels, label_probabilities, predict_labels
from stickbreak.model.estimator import all_or_nothing, cached
from stickbreak.model.input_documents import counted, counted_with_new
from stickbreak.model.seeds import Seeds, base_of, plain_seeds
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, widened
from stickbreak.numerics.ranges import MOST_TOPICS, are_sums, is_concentration
from stickbreak.path.joining_topics import pooled
from stickbreak.prediction.document_weights import weights_and_rest
from stickbreak.sparse_gibbs.chain import EarlierDocuments
from stickbreak.sparse_gibbs.columns import log_weights, weights_of
from stickbreak.sparse_gibbs.priors import STRENGTH, SUM_TOLERANCE, Priors
from stickbreak.storage.checksums import checksum
from stickbreak.storage.places import PathLike
from stickbreak.topics.laps import TopicLaps, TopicSettings, n_starting_topics
from stickbreak.topics.prevalence import Prevalence, are_effects_of, columns_in, prevalence_effects

LEARNABLE = ("alpha", "eta")


class DirichletTopics(TopicEstimator):
    """The side of `TopicModel` and `LDA` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "topic_prior_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicEstimator._fitted_values,
        "alpha_",
        "eta_",
        "n_documents_seen_",
    )
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    objective_name: ClassVar[str] = "log-likelihood"

    topic_prior_: Float
    alpha_: float
    eta_: Eta
    n_documents_seen_: int

    @property
    def topic_weights_(self) -> Float:
        """Expected weights of the topics in a document, a_k / alpha, (K,)."""
        check_is_fitted(self)
        return self.topic_prior_ / self.topic_prior_.sum()

    @cached
    def _document_prior(self) -> Float:
        """Return a, and 0 for further topics, (K + 1,)."""
        return np.append(self.topic_prior_, 0.0)

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]."""
        self.components_ = pooled(self._expected_counts()[0], to) + self.eta_
        self.topic_prior_ = pooled(self.topic_prior_, to)
        if (to < 0).any():
            self.alpha_ = float(self.topic_prior_.sum())
        self._forget_labels()

    def _take_topics(self, S: Float, priors: Priors) -> Int:
        """Copy counts (W, K) and priors into the fitted attributes: topics that are known, then the largest first.

        Return this order, (K,).
        """
        n_kept, sizes = priors.n_kept, S.sum(axis=0)
        order = np.append(np.arange(n_kept), n_kept + np.argsort(-sizes[n_kept:], kind="stable"))
        self.components_ = np.ascontiguousarray(S[:, order].T) + priors.eta
        if priors.pseudo is not None:
            self.components_[:n_kept] += priors.pseudo.T.toarray()
        self.alpha_, self.eta_, self._pseudo = priors.alpha, priors.eta, priors.pseudo
        self.topic_prior_ = priors.a[order]
        return order

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        check_learned(self, LEARNABLE)
        a = self.topic_prior_
        require(are_sums(self.components_), "its topics hold a number that is negative or too large")
        require(is_table(a, len(self.components_)) and float(a.min()) > 0.0, "its priors are not those of its topics")
        whole_number("n_documents_seen_", self.n_documents_seen_)
        require(
            math.isclose(a.sum(), self.alpha_, rel_tol=SUM_TOLERANCE), "the priors of its topics do not sum to alpha_"
        )


SMALLEST_COUNT = 1e-9  # what rounding leaves of no token
MOST_FOUND = 1000  # topics at the start, unless max_topics says otherwise
TABLES = 4.0  # of words and topics: those of a pass, the mean before and after it, and the topics that are shown
TOKEN_BYTES = 40.0  # of a token: its topic, its list, an entry of a list, its places in a round of merges (33 measured)
FILE_BYTES = 15.0  # of a token where most of that is in files (12 measured)
TERM_BYTES = 40.0  # of a topic and two terms of prevalence: five tables while effects are drawn
LABEL_BYTES = 64.0  # of a token of documents with labels, while it is found which topics it may have


class TopicModel(DirichletTopics):
    """Topics and how many there are, by one sparse Gibbs sampler whose topics merge. `stickbreak fit` uses it.

    The model is an HDP with at most as many topics as the fit begins with: the weights of a document have a Dirichlet
    prior with a parameter a_k for each topic, which is learned, and the topics have a symmetric one. A fit begins with
    many topics, each of the words that occur together with one word. Each pass draws the topic of every token, given
    all others. From pass 40 on two topics become one where one explains the words of both better than two do. Then all
    topics are cut in halves, and those halves merge again that do not differ, as long as this leads to more topics by a
    tenth: so the number hardly follows the start. The topics of the model are the mean over passes (docs/math (L12) to
    (L15), (L20)). At the end alpha is set so that it predicts documents that had no part in the topics (L21). With
    `n_topics` nothing merges: then this is LDA with a learned asymmetric prior.

    Parameters
    ----------
    n_topics : int or None, default=None
        Number of topics, those of labels and seeds among them. None: it is found.
    max_topics : int or None, default=None
        Most topics that a fit has at any time, where the number is found. None: 1000, or one more than are known before
        the fit. It cannot be given together with `n_topics`.
    alpha : float, default=5.0
        Concentration of the topic weights of a document: the sum of a_k over all topics, which are equal to begin with.
        If it is learned, this is its initial value.
    eta : float or array-like of shape (W,) or (K, W), default=0.05
        Pseudo-count of every word in every topic. If it is learned, this is its initial value. An array, which is not
        learned, has a pseudo-count for each word, in all topics alike, or a row for each of the first topics: these
        keep their numbers, and other topics have its smallest number for every word.
    learn : sequence of {"alpha", "eta"}, default=("alpha",)
        Hyperparameters that are learned, in every fifth pass from pass 10 on: alpha with a value for each topic, eta as
        one. Their priors are Gamma(1, 1). With bursts their strength is always learned.
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They come first, in this order, and each keeps
        its number and its name, as its label: others may join it, and it joins none. Words that the documents lack are
        left out, and a warning names them.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (L17)).
    bursts : bool, default=False
        Whether a token may repeat its document: a word that a document has then comes again more easily, and topics
        count the tokens that do not repeat (docs/math (L22)). How much topics weigh is learned; documents whose words
        come again predict better. Fewer topics are found.
    prevalence : str, optional
        What the topics of a document depend on: the right side of a formula over columns beside the documents, such as
        "year + source", as `effects` takes it. The columns are those of a data frame that is fitted, or of
        `Corpus.metadata`. Then a_k of a document is exp(x^T lambda_k), with x the terms of the formula and lambda_k
        learned (docs/math (L27)); after the passes of the fit, 120 more draw these. New documents get their weights by
        their columns; without these by the mean prior.
        It needs the package formulaic: ``pip install "stickbreak[effects]"``.
    n_laps : int, default=1000
        Maximum number of passes over the data. A pass ("lap" in names) visits every token once.
    tolerance : float or None, default=1e-4
        Stop when a pass raises the objective by less than this, in nats per token. The mean of ten passes is compared
        with the mean of the next ten, once the merges have ended and the mean over passes has its least number of
        passes. None: never.
    scratch : path-like or None, default=None
        Folder for the topics of the tokens, for fits that are larger than memory: a fit then holds a quarter of them
        for each thread, besides the tables of words and topics. The numbers are the same. None: memory, or the scratch
        folder of the cluster that is in use.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`, `scratch` and cluster.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics.
    topic_word_ : ndarray of shape (n_topics_, W)
        Word distribution of each topic. Topics of labels and seeds come first, then the others, the largest first.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected weights a_k / alpha of the topics in a document.
    topic_prior_ : ndarray of shape (n_topics_,)
        a_k, the Dirichlet parameter of each topic in the prior of a document; with `prevalence` the mean over the
        documents of the fit.
    prevalence_weights_ : ndarray of shape (n_topics_, 1 + n_terms)
        lambda_k: log a_k at the mean of all terms, then what each term adds, in units of its standard deviation (a term
        of only 0 and 1: of 1). Without `prevalence` it has no column.
    effects_ : ndarray of shape (3, n_topics_, n_terms)
        Estimates, errors and degrees of freedom of the effects in these units, from which `prevalence_effects` makes
        intervals.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word in each topic, plus eta and the pseudo-tokens of seeds. With bursts those that
        repeat their document do not count.
    alpha_, eta_ : float
        The hyperparameters at the end, learned or given: alpha as it predicts best, which may be more than in the last
        pass. `eta_` is an array (W,) where one was given, and the smallest number of a table.
    strength_ : float or None
        With bursts: how many tokens of a document its topics are worth, learned. A document of n tokens repeats one of
        them with probability n / (n + strength_). None without bursts.
    started_ : int
        Number of topics that the fit began with.
    labels_ : dict of int to str
        Labels of topics: those of seeds and of labelled documents, and what `label` gave.
    label_names_ : list of str
        The labels of the documents of the fit: label k is topic k. Empty without labels.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    objective_ : float
        Last entry of "objective" in `trace_`.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass: "lap" (its number), "objective", "n_topics", "seconds", "moved" (1 while it is too
        early to stop), "alpha", "eta" (unless it is an array), "strength" (with bursts). The objective is in
        nats per token: each token given all others.
    n_laps_ : int
        Number of passes done.
    n_documents_seen_ : int
        Number of documents of the fit and its updates.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        Whether the fit stopped by `tolerance`.
    stop_reason_ : str
        Why the fit ended, and how the number of topics was found.
    vocabulary_ : tuple of str
        The words.
    text_options_, text_column_ : TextOptions or None, str or None
        How the texts of the fit were counted, and their column in its data frame. None where it was given counts.

    Raises
    ------
    InputError
        From `fit`, for counts that are not whole numbers: `VariationalHDP` takes weights.

    References
    ----------
    Y. W. Teh, M. I. Jordan, M. J. Beal, D. M. Blei. Hierarchical Dirichlet Processes. JASA 2006.

    L. Yao, D. Mimno, A. McCallum. Efficient Methods for Topic Model Inference on Streaming Document Collections.
    KDD 2009.

    H.-F. Yu, C.-J. Hsieh, H. Yun, S. V. N. Vishwanathan, I. S. Dhillon. A Scalable Asynchronous Distributed Algorithm
    for Topic Modeling. WWW 2015.

    S. Jain, R. M. Neal. A Split-Merge Markov Chain Monte Carlo Procedure for the Dirichlet Process Mixture Model.
    JCGS 2004.

    H. M. Wallach, D. Mimno, A. McCallum. Rethinking LDA: Why Priors Matter. NIPS 2009.

    G. Doyle, C. Elkan. Accounting for Burstiness in Topic Models. ICML 2009.

    D. Ramage, D. Hall, R. Nallapati, C. D. Manning. Labeled LDA: A Supervised Topic Model for Credit Attribution in
    Multi-labeled Corpora. EMNLP 2009.

    Examples
    --------
    >>> from stickbreak import TopicModel
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=500, seed=0)
    >>> TopicModel(n_topics=10, n_laps=20, random_state=0).fit(corpus).transform(corpus).shape
    (500, 10)
    """

    _fitted_arrays: ClassVar[tuple[str, ...]] = (*DirichletTopics._fitted_arrays, "prevalence_weights_", "effects_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *DirichletTopics._fitted_values,
        "label_names_",
        "label_curve_",
        "started_",
        "strength_",
        "_digamma_gain",
        "_factor",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DirichletTopics._parameter_constraints,
        "n_topics": [None, whole(1, MOST_TOPICS)],
        "max_topics": [None, whole(1, MOST_TOPICS)],
        "alpha": CONCENTRATION,
        **TOPIC_PRIORS,
        "learn": [list, tuple],
        "prevalence": [None, str],
        "tolerance": [None, *TOLERANCES],
        "bursts": ["boolean"],
        "scratch": [None, str, os.PathLike],
    }

    _takes_labels = True

    started_: int
    strength_: float | None
    prevalence_weights_: Float
    effects_: Float
    _prevalence: Prevalence | None = None
    _digamma_gain: float  # what the documents say of alpha beside the tables, for updates
    _factor: float  # alpha_ divided by the alpha of the last pass

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        max_topics: int | None = None,
        alpha: float = 5.0,
        eta: Any = 0.05,
        learn: Sequence[str] = ("alpha",),
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        bursts: bool = False,
        prevalence: str | None = None,
        n_laps: int = 1000,
        tolerance: float | None = 1e-4,
        scratch: PathLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.max_topics = max_topics
        self.alpha = alpha
        self.eta = eta
        self.learn = learn
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.bursts = bursts
        self.prevalence = prevalence
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.scratch = scratch
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _strength(self) -> float:
        """How many tokens of a document the topics are worth; infinite without bursts.        docs/math (L22)"""
        return math.inf if self.strength_ is None else self.strength_

    def starting_topics(self, X: Any) -> int:
        """Return the most topics that a fit to these documents begins with.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        int
            `n_topics`. If that is None: more the more documents and words there are, and those of seeds besides
            (docs/math (L12)). A fit with labels has a topic for each besides.
        """
        if self.n_topics is not None:
            return int(self.n_topics)
        return self._n_at_start(Corpus.from_counts(counted(self, X, reset=True)), self._n_steered)

    def _n_at_start(self, documents: Corpus, n_kept: int) -> int:
        """Return the most topics of a fit or an update that begins with `n_kept` known ones."""
        n_topics, most = self._number_and_most(n_kept)
        if n_topics is not None:
            return n_topics
        return n_kept + n_starting_topics(documents.counts.nnz, documents.n_documents, most - n_kept)

    def _number_and_most(self, n_kept: int) -> tuple[int | None, int]:
        """Return the number of topics beside `n_kept` known ones, None if it is found, and how many there may be."""
        most = self.max_topics or max(MOST_FOUND, min(n_kept + 1, MOST_TOPICS))
        n_topics = n_kept if self.n_topics is None and n_kept == most else self.n_topics
        return None if n_topics is None else int(n_topics), most

    label_probabilities = label_probabilities
    predict_labels = predict_labels
    prevalence_effects = prevalence_effects

    # Documents with columns.

    def _corpus(self, X: Any, *, reset: bool = False) -> Corpus:
        X, fitted = as_frame(X), None if self._prevalence is None else self._prevalence.memory["formula"]
        return self._with_columns(super()._corpus(X, reset=reset), X, self.prevalence if reset else fitted)

    def _counted_for_fit(self, X: Any, text: Hashable | None, options: TextOptions | None) -> Corpus:
        return self._with_columns(super()._counted_for_fit(X, text, options), X, self.prevalence)

    def _with_columns(self, corpus: Corpus, X: Any, formula: str | None) -> Corpus:
        """Return documents with the columns that a formula names, if they were given as a data frame."""
        if formula is None or self.text_column_ is None or not is_frame(X):
            return corpus
        names = columns_in(formula, columns_of(X), self.text_column_)
        return replace(corpus, metadata=kept_columns(X, names, self.text_column_)) if names else corpus

    def _bare_documents(self, corpus: Corpus) -> Corpus:
        bare = super()._bare_documents(corpus)
        if self._prevalence is None or corpus.metadata is None:
            return bare
        names = columns_in(self._prevalence.memory["formula"], list(corpus.metadata.column_names), None)
        return replace(bare, metadata=corpus.metadata.select(names) if names else None)

    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last, as other families do.

        With `prevalence`, the prior of a document depends on its columns (docs/math (L27)).

        Parameters
        ----------
        X : texts, data frame, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        if self._prevalence is None:
            return super().expected_weights(X)
        corpus = self._corpus(X)  # which workers would not see with its columns
        with threads_and_workers(self.n_jobs) as engine:
            return weights_and_rest(corpus, self._words_in_topics(), self._prior_of_documents(corpus), engine)

    def _prior_of_documents(self, corpus: Corpus) -> Float:
        """Return a and 0 for further topics, (K + 1,); with columns those of each document, (D, K + 1)."""
        if self._prevalence is None or not len(corpus):
            return self._document_prior()
        x = self._prevalence.of_documents(corpus)
        if x is None:
            logger.warning("the documents lack a column of prevalence: they get the mean prior of the fit")
            return self._document_prior()
        a = weights_of(np.column_stack([np.ones(len(x)), x]), self.prevalence_weights_)
        return np.column_stack([a, np.zeros(len(a))])

    def _identity(self, documents: Corpus, seed: int) -> Identity:
        identity = super()._identity(documents, seed)
        if self.prevalence is not None:
            design = Prevalence.of(documents, self.prevalence)[1]
            identity["columns"] = [checksum(design.x, design.row)]
        return identity

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        described = super()._description(arrays)
        return described if self._prevalence is None else {**described, "prevalence": self._prevalence.plain()}

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        model = super()._from_description(parameters, arrays, meta)
        if "prevalence" in meta:
            model._prevalence = Prevalence.from_plain(meta["prevalence"])
        return model

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("learn", self.learn, LEARNABLE)
        if self.n_topics is not None and self.max_topics is not None:
            raise InputError(
                f"max_topics is {self.max_topics} and n_topics is {self.n_topics}, but with n_topics the number stays; "
                "give one of them."
            )
        if self.prevalence is not None and "alpha" not in self.learn:
            raise InputError(
                f"prevalence is {self.prevalence!r}, which is learned with alpha, but learn is {list(self.learn)!r}; "
                "add 'alpha' to learn."
            )
        if self.prevalence is not None and self.bursts:
            raise InputError("bursts and prevalence do not go together; give one of them.")
        if self.bursts and self.n_topics == MOST_TOPICS:
            raise InputError(
                f"n_topics is {MOST_TOPICS} and bursts is True, which needs one number for itself; give n_topics of "
                f"{MOST_TOPICS - 1} at most."
            )

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        self._check_words_of_eta(documents.n_words)
        if self.n_topics is not None:
            check_start(documents, int(self.n_topics))
        n_kept, (name, room) = self._n_steered, self._room
        if n_kept + (self.n_topics is None) > room:
            besides = "" if self.n_topics is not None else ", and one more is found at least"
            more = f"a larger {name}, or " if room < MOST_TOPICS else ""
            raise InputError(
                f"seeds, labels and rows of eta are {n_kept} topics{besides}, but the fit has {room} at most; give "
                f"{more}fewer of these."
            )
        self._check_fit(documents, n_kept)

    @property
    def _room(self) -> tuple[str, int]:
        """The most topics that a fit may have, and the parameter that says it."""
        if self.n_topics is not None:
            return "n_topics (--topics)", int(self.n_topics)
        return "max_topics (--set max_topics=...)", self.max_topics or MOST_TOPICS

    def _check_fit(self, documents: Corpus, n_kept: int) -> None:
        """Refuse counts that are not whole, labels beside prevalence, and what the memory cannot carry."""
        refuse_fractions(documents)
        if self.prevalence is not None and self._document_labels is not None:
            raise InputError(
                "labels say which topics a document has, and prevalence what its topics depend on; give one of them."
            )
        n_topics = self._n_at_start(documents, n_kept)
        of_token = TOKEN_BYTES if self.scratch is None and workers_now() is None else FILE_BYTES
        of_token += LABEL_BYTES if self._document_labels is not None else 0.0
        needed = 8.0 * TABLES * documents.n_words * n_topics
        if self.n_topics is not None:
            check_memory(n_topics, documents.n_words, needed)
        else:
            what = f"a start of {n_topics} topics with {documents.n_words} words"
            check_bytes(what, needed, "give a smaller max_topics (--set max_topics=...) or fewer words")
        what = f"a fit of {documents.n_documents} documents of {documents.n_tokens:.12g} tokens"
        advice = (
            "keep the topics of its tokens in files with scratch (--scratch), fit a sample, or take HybridHDP "
            "(--method hybrid), which reads documents in minibatches"
        )
        check_bytes(what, needed + of_token * float(documents.n_tokens), advice)

    def _check_labelled_fit(self) -> None:
        """Any parameters allow labels."""

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> TopicLaps:
        prior = self._behind_labels(self._word_prior(documents.words), documents.n_words)
        strength = STRENGTH if self.bursts else math.inf
        priors = Priors(np.zeros(0), float(self.alpha), base_of(self.eta), prior.pseudo, strength)
        self._prevalence, design = None, None
        if self.prevalence is not None:
            self._prevalence, design = Prevalence.of(documents, self.prevalence, warns=True)
            n_topics, n_terms = self._n_at_start(documents, priors.n_kept), design.x.shape[1] - 1
            what = f"prevalence has {n_terms} terms, which with {n_topics} topics"
            check_bytes(what, TERM_BYTES * n_topics * n_terms**2, "give fewer terms or fewer topics")
        return TopicLaps(
            documents, replace(self._rules(priors, seed), design=design), engine, scratch_folder(self.scratch, None)
        )

    def _n_tokens_in_topics(self, documents: Corpus) -> float:
        return float(self._seen_tokens().sum())  # with bursts not those that repeat their document

    def _run(self, laps: Any, report: Callback, *arguments: Any, **options: Any) -> Run:
        laps.report = report
        return super()._run(laps, report, *arguments, **options)

    def _rules(self, priors: Priors, seed: int, past: EarlierDocuments | None = None) -> TopicSettings:
        """Return what a fit goes by that knows what `priors` say of the first topics."""
        n_topics, most = self._number_and_most(priors.n_kept)
        return TopicSettings(n_topics, most, priors, tuple(self.learn), seed, self._rows_of_labels, past)

    def _take(self, laps: TopicLaps, documents: Corpus) -> None:
        self._take_laps(laps, documents.n_documents)
        self._take_curve(documents, laps.seed)

    def _take_laps(self, laps: TopicLaps, n_documents: int) -> None:
        """Copy topics into the fitted attributes, and say how their number was found."""
        expected = 1.0 if laps.settings.past is None else self._factor
        priors, self._factor, effects = laps.priors, expected, None
        try:
            if self._prevalence is not None and not self.stop_reason_.startswith("interrupted"):
                priors, effects = laps.effects()
            self._factor = laps.predictive_factor(priors, expected)
        except KeyboardInterrupt:  # the fit is complete without these steps
            self.stop_reason_ += " Its alpha was not set to predict best, as it was interrupted."
        if self._prevalence is not None and effects is None:
            self.stop_reason_ += " Its effects were not drawn, as it was interrupted."
        a = self._factor * laps.chain.mean_weights(priors)
        order = self._take_topics(laps.chain.mean(), priors.with_weights(a))
        self._take_effects(priors, effects, order)
        self.started_, self.n_documents_seen_ = laps.started, n_documents
        self.strength_ = laps.priors.strength if laps.priors.bursts else None
        self._digamma_gain = laps.chain.digamma_gain(laps.priors)
        if self.n_topics is None:
            self.stop_reason_ += f" It began with {laps.started} topics and ended with {self.n_topics_}."

    def _take_effects(self, priors: Priors, effects: Float | None, order: Int) -> None:
        """Copy what columns do to the topics, in the order of these, into the fitted attributes."""
        if priors.effects is None:
            self.prevalence_weights_, self.effects_ = np.zeros((order.size, 0)), np.zeros((3, order.size, 0))
            return
        self.prevalence_weights_ = log_weights(priors)[order]
        self.prevalence_weights_[:, 0] += math.log(self._factor)
        self.effects_ = np.zeros((3, *priors.effects.shape)) if effects is None else effects[:, order]

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]: effects become their mean, by the weights of the topics."""
        if self._prevalence is not None:
            a, (_, error, freedom) = np.exp(self.prevalence_weights_[:, :1]), self.effects_
            joined = pooled(a, to)
            mean = pooled(a * self.prevalence_weights_[:, 1:], to) / joined
            error = np.sqrt(pooled((a * error) ** 2, to)) / joined
            freedom = np.stack([freedom[to == k].min(axis=0) for k in range(len(joined))])
            self.prevalence_weights_, self.effects_ = (
                np.hstack([np.log(joined), mean]),
                np.stack([mean, error, freedom]),
            )
        else:
            self.prevalence_weights_, self.effects_ = (
                np.zeros((int(to.max()) + 1, 0)),
                np.zeros((3, int(to.max()) + 1, 0)),
            )
        super()._join_topics(to)

    @all_or_nothing
    def update(
        self,
        X: Any,
        y: Any = None,
        *,
        labels: Any = None,
        callback: Callback | None = None,
        checkpoint: PathLike | None = None,
        resume: bool = False,
    ) -> Self:
        """Go on with new documents: topics keep their numbers and labels, and new topics come after them.

        What the topics know of the documents of before stays as it is, as pseudo-counts (docs/math (L16)). The new
        documents add to it. Beside the topics of the model a fit to the new documents begins with topics of theirs, and
        those that the topics of the model explain better join them. Afterwards `trace_` is that of the new documents,
        and the model cannot `continue_fit`.

        Parameters
        ----------
        X : texts, data frame, Corpus, sparse matrix or array of shape (D, W)
            New documents alone. Words that the model does not know join its words if X is texts or names its words.
        y : ignored
        labels : str or sequence of length D, optional
            As in `fit`, of the labels that the model knows.
        callback : callable, optional
            As in `fit`.
        checkpoint : path-like, optional
            As in `fit`; `resume` needs the model of before, not one that was updated.
        resume : bool, default=False
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the labels are not those of the model, the checkpoint belongs to another update, or the model has
            `prevalence`: then fit all documents.
        InvalidCorpus
            If the documents hold no token.
        """
        check_is_fitted(self)
        if self._prevalence is not None or self.prevalence is not None:
            raise InputError(
                "a model with prevalence cannot be updated; fit it to all documents, those of before and the new ones."
            )
        fitted_with = self.strength_ is not None
        if self.bursts != fitted_with:
            raise InputError(
                f"bursts is {self.bursts}, but this model was fitted with bursts={fitted_with}, which an update keeps; "
                f"call set_params(bursts={fitted_with}) first, or fit all documents again."
            )
        name, room = self._room
        if self.n_topics_ > room:
            raise InputError(
                f"the model has {self.n_topics_} topics, which an update keeps, but {name} is {room}; call "
                f"set_params({name.split()[0]}={self.n_topics_}) first, or with a larger number for new topics."
            )
        X = as_frame(X)
        documents = self._with_new_words(X)
        check_tokens(documents)
        self._take_known_labels(documents, column_named(X, labels))
        self._check_fit(documents, self.n_topics_)
        n_seen, digamma_gain, names, pseudo = (
            self.n_documents_seen_,
            self._digamma_gain,
            self.label_names_,
            self._pseudo,
        )
        seed, (priors, past) = seed_of_fit(self.random_state, checkpoint, resume=resume), self._known(documents.n_words)
        assert priors.pseudo is not None
        identity = self._identity(documents, seed) | {"topics": checksum(priors.pseudo.data, past.tables)}
        with at_work(self, callback) as (report, engine):
            laps = TopicLaps(documents, self._rules(priors, seed, past), engine, scratch_folder(self.scratch, None))
            run = self._run(laps, report, identity, self.n_laps, checkpoint=checkpoint, resume=resume)
            self.start_seconds_ = run.start_seconds
            self._take_words(documents)
            self.converged_, self.stop_reason_ = run.outcome
            self._record(run.trace)
            self._take_laps(laps, n_seen + documents.n_documents)
        self._digamma_gain += digamma_gain
        self._pseudo = None if pseudo is None else _widened(pseudo, documents.n_words)
        self.label_names_, self._document_labels, self._kept = names, None, None
        # Topics keep their numbers, so all labels stay. A copy counts as new labels, which nothing compares with words.
        self._labels = dict(self._labels or {})
        return self

    def _check_fitted_state(self) -> None:
        super()._check_fitted_state()
        require(len(self.label_names_) <= len(self.components_), "its labels have no topics")
        whole_number("started_", self.started_)
        n_terms = 0 if self._prevalence is None else len(self._prevalence.terms)
        n_columns = 0 if self._prevalence is None else 1 + n_terms
        require(
            is_table(self.prevalence_weights_, len(self.components_), n_columns),
            "its effects are not those of its topics",
        )
        require(are_effects_of(self.effects_, len(self.components_), n_terms), "its effects are not those of its terms")
        require(is_concentration(self._factor), "the factor of its alpha is out of its range")
        require(self.strength_ is None or is_concentration(self.strength_), "its strength_ is out of its range")
        require(
            isinstance(self._digamma_gain, float) and 0.0 <= self._digamma_gain < math.inf,
            "its documents say nothing of alpha",
        )

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        """Return nothing: a number of topics that is found is not one that was given."""
        return {}

    def _known(self, n_words: int) -> tuple[Priors, EarlierDocuments]:
        """Return what the topics of the model say of a fit to new documents with these words.        docs/math (L16)"""
        counts = np.zeros((n_words, self.n_topics_))
        counts[: self.n_features_in_] = (self.components_ - self.eta_).T
        counts[counts < SMALLEST_COUNT] = 0.0
        eta, a = widened(self.eta_, n_words), self.topic_prior_ / self._factor
        past = EarlierDocuments(a * (PRIOR.rate + self._digamma_gain), self._digamma_gain)
        return Priors(a, float(a.sum()), eta, sparse.csr_array(counts), self._strength), past

    def _take_known_labels(self, documents: Corpus, labels: Any) -> None:
        """Take labels of new documents, which the model must know."""
        self._document_labels = None
        if labels is None:
            return
        if not self.label_names_:
            raise InputError(
                "labels are given, but the model was fitted without; fit it with labels, or leave them out."
            )
        self._document_labels = given_labels(documents, labels, self.label_names_)

    def _with_new_words(self, X: Any) -> Corpus:
        """Return documents in the words of the model and in new ones, which come last.

        Words are found by name where both sides have names. Texts are counted as those of the fit were.
        """
        X = counted_with_new(self, X)
        named = isinstance(X, Corpus) and not only_numbered(X, self.vocabulary_)
        if not named:
            return self._corpus(X)
        words = (*self.vocabulary_, *sorted(set(X.words) - set(self.vocabulary_)))
        place = {word: w for w, word in enumerate(words)}
        return in_columns(X, np.array([place[word] for word in X.words]), words)

    def _take_words(self, documents: Corpus) -> None:
        """Take the words of documents, those of the model first, for those of the model."""
        if documents.n_words > self.n_features_in_:
            self.vocabulary_, self.n_features_in_ = documents.words, documents.n_words
            if hasattr(self, "feature_names_in_"):
                self.feature_names_in_ = np.array(documents.words, dtype=object)


def _widened(pseudo: sparse.csr_array, n_words: int) -> sparse.csr_array:
    """Return pseudo-counts over more words, of which the new ones have none."""
    indptr = np.append(pseudo.indptr, np.full(n_words - pseudo.shape[0], pseudo.indptr[-1]))
    return sparse.csr_array((pseudo.data, pseudo.indices, indptr), shape=(n_words, pseudo.shape[1]))
