"""`HybridHDP`: the face of the hybrid of variational inference and Gibbs sampling, its checks and its starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.corpus.csr import row_blocks
from stickbreak.corpus.tokens import Tokens, refuse_fractions
from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import check_learned, require, saved_seed, whole_number
from stickbreak.fitting.checks import check_bytes, check_memory, check_names, check_tokens
from stickbreak.fitting.constraints import CONCENTRATIONS, STEPS, TOPIC_PRIORS, one_of, sweeps, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.loop import Callback, Interruption, Lap, Packed
from stickbreak.hybrid.document_sampler import SAMPLERS, SweepSettings
from stickbreak.hybrid.global_step import LEAST_TOKENS, check_columns
from stickbreak.hybrid.laps import (
    HybridLaps,
    HybridSteps,
    StepDocuments,
    StepScratch,
    StepSettings,
    packed,
    row_of,
    unpacked,
)
from stickbreak.hybrid.state import TRUNCATED, UNBOUNDED, HybridState, KnownTopics, Priors, WordTopics
from stickbreak.hybrid.word_weights import G_WEIGHTS, WEIGHTS
from stickbreak.initialization import STARTS, Start, check_init, make_start, sample_bytes, start_from_topics
from stickbreak.initialization.start import RANDOM, finds_topics, is_random, offset_after, settings_of
from stickbreak.model.estimator import KeptState, cached
from stickbreak.model.initial_topics import n_initial_topics
from stickbreak.model.input_documents import counted, counted_with_new
from stickbreak.model.seeds import Seeds, base_of, plain_seeds
from stickbreak.model.streaming import partial_fit
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import by_word
from stickbreak.numerics.ranges import LARGEST_OFFSET, MEAN_FIELD_ETA
from stickbreak.numerics.stirling import LONGEST_BYTES
from stickbreak.numerics.streams import seed_from, stream
from stickbreak.path.joining_topics import pooled
from stickbreak.prediction.document_weights import WordRows, prior_and_rest
from stickbreak.prediction.words import NamedColumns, check_same_words, no_documents


class HybridHDP(TopicEstimator):
    """Topics of a stream, or of a collection: sampled inside documents, variational above them.

    The model is that of `VariationalHDP`. The topics and their weights in the corpus have Dirichlet distributions.
    Inside each document, topics and tables are sampled, which is less biased than mean field. After every minibatch the
    corpus takes a step towards these samples (Burkhardt and Kramer 2017). A token costs a fifth more with 1,000 topics
    than with 100. Counts must be whole numbers.

    Parameters
    ----------
    n_topics : int or None, default=None
        Number of topics to start with. With a truncated top level there are never more (the truncation K), and topics
        that find no tokens are not shown. If the start finds topics first (see `init`), nearly all of them are kept:
        more than there are groups of documents. None: 100, or a quarter of the tokens if the start finds topics first
        in documents with fewer than 100 tokens.
    top_level : {"truncated", "unbounded"}, default="truncated"
        Whether new topics can open during the fit. "truncated": no, `n_topics` topics share gamma. "unbounded": yes,
        gamma is for topics that do not exist yet. Every minibatch may then open a new topic, and topics that vanish are
        dropped. From few topics, growth takes many steps; larger steps (learning_decay=0.3), gamma=5 or more and
        g_weight="ratio" speed it up.
    alpha : float, default=5.0
        Concentration of the topic weights of a document. (b1 in the paper.)
    gamma : float, default=1.0
        Concentration of the topic weights of the corpus. (b0 in the paper.)
    eta : float or array-like of shape (W,) or (K, W), default=0.02
        Pseudo-count of every word in every topic. An array has one for each word, or a row for each of the first K
        topics: these keep their numbers as those of seeds do, and other topics have its smallest number for every word.
    learn : sequence of {"alpha", "gamma", "eta"}, default=()
        Hyperparameters that are learned from the data. They are learned from the samples after each step (eta less
        often), under Gamma(1, 1) priors; `alpha`, `gamma` and `eta` are then the initial values. Over many passes over
        the same documents alpha falls, eta grows, and the predictions become worse. A gamma learned from one or two
        topics stays too small for more to come.
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They come first, in this order, and keep their
        numbers and names. The fit starts with them and with `n_topics` others.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (L17)).
    sampler : {"sparse", "dense"}, default="sparse"
        How topics outside the document are drawn. "sparse": by rejection from tables of the words; "dense": by
        computing all topics one by one. Both have the same distribution.
    g_weight : {"mean_field", "ratio", "printed"}, default="mean_field"
        How a document weighs the corpus weights of the topics. "mean_field": by exp(E log G0); "ratio": by E G0;
        "printed": by the paper's approximation of the first.
    phi_weight : {"ratio", "mean_field"}, default="ratio"
        How a document weighs the words of a topic. "ratio": by E phi; "mean_field": by exp(E log phi), which gives
        little weight to the rare words of a topic. From a random start "mean_field" stays with poor topics; over many
        passes over the same documents it does better.
    init : {"random", "lda", "near-uniform", "documents", "anchors"} or given topics, default="lda"
        Where the topics start. "lda", "near-uniform", "documents" and "anchors" find topics first (see
        `VariationalHDP`). "random", the paper's start, puts tokens in random topics; it costs nothing but needs more
        passes, and suits very many topics. You can also give topics: word distributions, expected counts, or a fitted
        model of topics over the same words.
    init_sweeps : int, default=50
        Number of sweeps of the start "lda".
    n_laps : int, default=5
        Maximum number of passes over the data. A pass ("lap" in names) visits every document once. The fit does all of
        them unless you interrupt it.
    batch_size : int, default=100
        Number of documents in a minibatch of `fit`.
    batches_at_once : int, default=1
        Number of minibatches of `fit` that are sampled at the same topics, before a step towards all of them. Workers
        of a cluster are given one each.
    burn_in_sweeps : int, default=5
        Number of sweeps over a document before the first that counts (at most 1e6).
    saved_sweeps : int, default=5
        Number of sweeps over a document that count (at most 1e6).
    learning_decay : float, default=0.6
        Step t of a stochastic fit has the size (t + learning_offset) ** -learning_decay.
    learning_offset : float or None, default=None
        A larger offset makes the first steps smaller. None: chosen by the start. It is 1 after a random start, which
        holds nothing worth keeping. If topics are found or given, `fit` chooses the value that makes the first step
        equal to the share of the documents that it sees.
    total_documents : int or None, default=None
        Number of documents in the whole stream, for `partial_fit`. None: those seen so far.
    grow_vocabulary : bool, default=False
        Whether new words in a later minibatch of `partial_fit` join the model. They are added at the end of
        `vocabulary_`, with eta in every topic. Words are then matched by name: a minibatch may list them in any order
        and need not list all. `transform` and `score` leave out words that the model does not know.
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
        Expected tokens of each word in each topic, plus eta.
    tables_ : ndarray of shape (n_topics_,)
        Expected number of tables of each topic.
    alpha_, gamma_, eta_ : float
        The hyperparameters at the end, learned or given.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    learning_offset_ : float
        The offset of the steps.
    objective_ : float
        Last entry of "objective" in `trace_`.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass, or for each call of `partial_fit`: "lap" (its number), "objective", "n_topics",
        "seconds", "moved" (0), "step_size" (of the last step), "n_steps", "alpha", "gamma", "eta". The objective is
        predictive, in nats per token: it scores the documents of a minibatch before their step, each word given those
        before it in its document. (In later passes of a fit the model has seen these documents.)
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
        The words. Those that joined last are at the end.
    text_options_, text_column_ : TextOptions or None, str or None
        How the texts of the fit were counted, and their column in its data frame. None where it was given counts.

    References
    ----------
    S. Burkhardt, S. Kramer. Online Sparse Collapsed Hybrid Variational-Gibbs Algorithm for Hierarchical Dirichlet
    Process Topic Models. ECML PKDD 2017.

    Examples
    --------
    >>> from stickbreak import HybridHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = HybridHDP(n_topics=20, n_laps=3, batch_size=10, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape[0]
    50
    """

    objective_name: ClassVar[str] = "predictive log-likelihood"
    _fitted_arrays: ClassVar[tuple[str, ...]] = ()
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicEstimator._fitted_values,
        "alpha_",
        "gamma_",
        "eta_",
        "learning_offset_",
        "n_documents_seen_",
    )
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    _changed_by_steps: ClassVar[tuple[str, ...]] = (*TopicEstimator._changed_by_steps, "_state")
    _stream_only = ("total_documents", "grow_vocabulary")
    _free = _stream_only

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicEstimator._parameter_constraints,
        **CONCENTRATIONS,
        **TOPIC_PRIORS,
        **STEPS,
        "n_topics": [None, whole(1)],
        "top_level": [one_of((TRUNCATED, UNBOUNDED))],
        "learn": [list, tuple],
        "sampler": [one_of(SAMPLERS)],
        "g_weight": [one_of(G_WEIGHTS)],
        "phi_weight": [one_of(WEIGHTS)],
        "init": [str, "array-like", TopicEstimator],
        "init_sweeps": [whole(1)],
        "batch_size": [whole(1)],
        "batches_at_once": [whole(1)],
        "burn_in_sweeps": [sweeps(0)],
        "saved_sweeps": [sweeps(1)],
        "grow_vocabulary": ["boolean"],
    }

    alpha_: float
    gamma_: float
    learning_offset_: float
    _state: HybridState
    _seed: int
    _columns: NamedColumns | None = None  # of `vocabulary_`, made when it is asked for
    _room: StepScratch | None = None  # of the last step of a stream, for the next
    n_documents_seen_: int
    n_steps_: int

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        top_level: str = TRUNCATED,
        alpha: float = 5.0,
        gamma: float = 1.0,
        eta: float | NDArray = 0.02,
        learn: Sequence[str] = (),
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        sampler: str = "sparse",
        g_weight: str = "mean_field",
        phi_weight: str = "ratio",
        init: str | NDArray = "lda",
        init_sweeps: int = 50,
        n_laps: int = 5,
        batch_size: int = 100,
        batches_at_once: int = 1,
        burn_in_sweeps: int = 5,
        saved_sweeps: int = 5,
        learning_decay: float = 0.6,
        learning_offset: float | None = None,
        total_documents: int | None = None,
        grow_vocabulary: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.top_level = top_level
        self.alpha = alpha
        self.gamma = gamma
        self.eta = eta
        self.learn = learn
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.sampler = sampler
        self.g_weight = g_weight
        self.phi_weight = phi_weight
        self.init = init
        self.init_sweeps = init_sweeps
        self.n_laps = n_laps
        self.batch_size = batch_size
        self.batches_at_once = batches_at_once
        self.burn_in_sweeps = burn_in_sweeps
        self.saved_sweeps = saved_sweeps
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.total_documents = total_documents
        self.grow_vocabulary = grow_vocabulary
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    partial_fit = partial_fit

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self)
        self._check_start_of_seeds("lda")

    @property
    def _finds_topics(self) -> bool:
        return finds_topics(self.init)

    def _check_start(self, corpus: Corpus, batch_size: int, *, stream: bool = False) -> None:
        """Refuse what does not fit the documents or the memory."""
        check_tokens(corpus)
        self._check_words_of_eta(corpus.n_words)
        check_sizes(self, corpus, self._starting_columns(corpus) + self._n_seeded, batch_size)
        self._settled_topics(corpus, stream=stream)

    def _starting_columns(self, corpus: Corpus) -> int:
        """Return the number of topics that a start has."""
        return self.starting_topics(corpus) if isinstance(self.init, str) else n_initial_topics(self.init)

    def _check_documents(self, documents: Corpus) -> None:
        refuse_fractions(documents)  # before the first minibatch: rows have their numbers here
        self._check_start(documents, int(self.batch_size) * int(self.batches_at_once))

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> HybridLaps:
        offset = offset_after(self, min(1.0, self.batch_size * self.batches_at_once / documents.n_documents))
        steps = HybridSteps(self._rules(self._given_priors(), offset, seed), engine, StepScratch())
        n_topics, pseudo = self._starting_columns(documents), self._lasting_pseudo(documents)
        return HybridLaps(
            steps,
            engine.source(documents),
            documents.counts.shape,
            int(self.batch_size),
            int(self.batches_at_once),
            lambda report, stop: begin(self, documents, n_topics, seed, 1.0, engine, report, stop, pseudo),
        )

    def _take(self, laps: HybridLaps, documents: Corpus) -> None:
        self._take_state(laps.state, laps.priors, laps.rules.seed)
        self.learning_offset_, self.n_documents_seen_ = laps.rules.offset, documents.n_documents

    def _minibatch(self, X: Any, *, first: bool) -> Corpus:
        return super()._minibatch(X, first=True) if first else self._joining(X)

    def _check_minibatch(self, minibatch: Corpus, *, first: bool) -> None:
        refuse_fractions(minibatch)
        if first:
            self._check_start(minibatch, minibatch.n_documents, stream=self.top_level == TRUNCATED)
        else:
            self._learn_words(minibatch)

    def _open_stream(self, minibatch: Corpus, total: int, engine: Engine, interruption: Interruption) -> None:
        seed, share, n_topics = (
            seed_from(self.random_state),
            total / minibatch.n_documents,
            self._starting_columns(minibatch),
        )
        told = (lambda event: None), interruption.give_up_start, self._lasting_pseudo(minibatch)
        state = begin(self, minibatch, n_topics, seed, share, engine, *told)
        self._take_state(state, self._given_priors(), seed)
        self.learning_offset_ = offset_after(self, 1.0)

    def _step(self, minibatch: Corpus, total: int, engine: Engine, start: None) -> Lap:
        state, priors = (
            self._state,
            Priors(self.alpha_, self.gamma_, self.eta_, self.g_weight, self.phi_weight),
        )
        room = self._room or StepScratch()
        steps = HybridSteps(self._rules(priors, self.learning_offset_, self._seed), engine, room)
        log_p, n_tokens = steps.learn(state, StepDocuments.of(minibatch), total)
        self._take_state(state, steps.rules.priors_of(state), self._seed)
        self._room = room if room.small else None
        return Lap(log_p / n_tokens, state.alive().size, False, row_of(state, steps))

    def _lasting_pseudo(self, documents: Corpus) -> sparse.csr_array | None:
        """Return the pseudo-counts of the topics that are known."""
        return lasting(self._word_prior(documents.words).pseudo, of_seeds=self.seeds is not None)

    def _given_priors(self) -> Priors:
        """Return the hyperparameters that were given."""
        return Priors(float(self.alpha), float(self.gamma), base_of(self.eta), self.g_weight, self.phi_weight)

    def _rules(self, priors: Priors, offset: float, seed: int) -> StepSettings:
        """Return what the steps have in common."""
        sweeps = SweepSettings(int(self.burn_in_sweeps), int(self.saved_sweeps), self.sampler)
        return StepSettings(priors, sweeps, float(self.learning_decay), offset, seed, tuple(self.learn))

    # The fitted side reads the state.

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_room"}

    @property
    def components_(self) -> Float:  # type: ignore[override]  # other families store them
        """Expected tokens of each word in each topic, plus eta, (K, W)."""
        check_is_fitted(self)
        return self._state.pairs.dense(self._state.alive()) + self.eta_

    @property
    def tables_(self) -> Float:
        """Expected number of tables of each topic, (K,)."""
        check_is_fitted(self)
        return self._state.tables[self._state.alive()]

    @property
    def topic_weights_(self) -> Float:
        """Expected corpus weights M_k / (M + gamma), (K,). They follow the tables, so they need not descend."""
        check_is_fitted(self)
        return self.tables_ / (self._state.tables.sum() + self.gamma_)

    @property
    def n_topics_(self) -> int:
        """Number of topics with at least half an expected token."""
        check_is_fitted(self)
        return int(self._state.alive().size)

    def _words_in_topics(self) -> WordRows:
        return self._word_rows

    def _word_rows(self, words: NDArray[np.integer] | slice) -> Float:
        """Return the probabilities of words in the topics, (n, K)."""
        counts = self._state.pairs.of_words(words, self._state.alive())
        return (counts + by_word(self.eta_, words)) / self._totals()

    @cached
    def _totals(self) -> Float:
        """Return what the expected counts of each topic, with eta, sum to, (K,)."""
        return np.asarray(self.components_.sum(axis=1))

    @cached
    def _document_prior(self) -> Float:
        return prior_and_rest(self.alpha_, self.topic_weights_)

    def _corpus(self, X: Any, *, reset: bool = False) -> Corpus:
        X = counted(self, X, reset=reset)
        if not reset and self.grow_vocabulary and (isinstance(X, Corpus) or hasattr(X, "columns")):
            empty = not isinstance(X, Corpus) and not len(X)
            return (
                no_documents(self.vocabulary_) if empty else self._columns_as_they_are().restrict(Corpus.from_counts(X))
            )
        return super()._corpus(X, reset=reset)

    def _joining(self, X: Any) -> Corpus:
        """Check a minibatch and make it a Corpus over the words of the model, and new ones if they may join."""
        self._check_whole()
        if self.grow_vocabulary:
            return self._named_columns().joined(Corpus.from_counts(counted_with_new(self, X)))
        if isinstance(X, Corpus):
            check_same_words(self, X, otherwise=", or set grow_vocabulary=True")
        return self._corpus(X)

    def _undoing(self) -> Callable[[], None]:
        """Take back new words and new room; after a step that has begun to write the model refuses to go on."""
        undo_others, state = super()._undoing(), self.__dict__.get("_state")
        if state is None:
            return undo_others
        pairs, n_words, tokens, tables, n_steps = (
            state.pairs, state.n_words, state.tokens, state.tables, state.n_steps
        )  # fmt: skip

        def undo() -> None:
            undo_others()
            self.__dict__.pop("_room", None)  # what a failed step worked in may not be cleared
            if state.n_steps != n_steps:
                state.whole = False
            if self._columns is not None and self._columns.words is not self.vocabulary_:
                del self._columns
            if state.whole:
                state.pairs, state.tokens, state.tables = pairs, tokens, tables
                pairs.shrink(n_words)

        return undo

    def _check_whole(self) -> None:
        """Refuse to go on with, or to save, what a step has left half done."""
        if not self._state.whole:
            raise InputError(
                "a step of this model failed while it changed the counts, so the model is incomplete; "
                "load a saved copy, or fit again."
            )

    def _learn_words(self, minibatch: Corpus) -> None:
        """Let new words of a minibatch join, without tokens."""
        if minibatch.n_words == self.n_features_in_:
            return
        columns = self._named_columns()
        columns.add(minibatch.words)
        self._state.pairs.grow(minibatch.n_words)
        self.vocabulary_, self.n_features_in_ = columns.words, minibatch.n_words
        if hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.array(columns.words, dtype=object)

    def _named_columns(self) -> NamedColumns:
        """Return where the words of the model stand."""
        if self._columns is None or self._columns.words is not self.vocabulary_:
            self._columns = NamedColumns(self.vocabulary_)
        return self._columns

    @cached
    def _columns_as_they_are(self) -> NamedColumns:
        """Return where the words stand, for documents that change nothing of the model."""
        known = self._columns
        return known if known is not None and known.words is self.vocabulary_ else NamedColumns(self.vocabulary_)

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k], in the columns of the largest; the other columns are free."""
        self._check_whole()
        state, shown = self._state, self._state.alive()
        column = shown[: int(to.max()) + 1]
        # topics of the same size are shown by their columns
        column = column[np.lexsort((column, -pooled(state.tokens[shown], to)))]
        parts = []
        for table in (state.pairs.dense(np.arange(state.n_topics)), state.tokens, state.tables):
            sums, of_all = pooled(table[shown], to), table.copy()
            of_all[shown] = 0.0
            of_all[column] = sums
            parts.append(of_all)
        pairs = WordTopics.from_dense(parts[0].T)
        # a joined topic has no prior of its own
        self._state = replace(state, pairs=pairs, tokens=parts[1], tables=parts[2], known=None)

    def _topic_tokens(self) -> Float:
        return self._state.tokens[self._state.alive()]

    def _seen_tokens(self) -> Float:
        tokens, known = self._topic_tokens(), self._state.known
        if known is not None:
            tokens = tokens.copy()
            tokens[: known.n_topics] = np.maximum(tokens[: known.n_topics] - known.tokens, 0.0)
        return tokens

    @property
    def _n_kept(self) -> int:
        return self._state.n_kept

    def _take_state(self, state: HybridState, priors: Priors, seed: int) -> None:
        """Copy a state into the fitted attributes."""
        self._state, self._seed, self.n_steps_ = state, seed, state.n_steps
        self.alpha_, self.gamma_, self.eta_ = priors.alpha, priors.gamma, priors.eta

    def _kept_state(self) -> Packed:
        self._check_whole()
        arrays, values = packed(self._state)
        identity = None if self._kept is None else self._kept.identity
        return arrays, {**values, "seed": self._seed, "identity": identity}

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        self._state = unpacked(arrays, values, self.n_features_in_)
        self._seed, self.n_steps_ = saved_seed(values["seed"]), self._state.n_steps
        identity = values["identity"]
        self._kept = (
            None
            if identity is None
            else KeptState({name: array.copy() for name, array in arrays.items()}, values, identity)
        )

    def _check_fitted_state(self) -> None:
        super()._check_fitted_state()
        check_learned(self, LEARNABLE)
        whole_number("n_documents_seen_", self.n_documents_seen_)
        offset = self.learning_offset_
        require(isinstance(offset, float) and 0 <= offset <= LARGEST_OFFSET, "the offset of its steps cannot be")


TOKEN_BYTES = 24.0  # of a token of a minibatch: its word and topic, and their order
START_BYTES = 28.0  # of a word and a topic at the end of a start: two tables of counts, and the list of pairs


def check_parameters(given: HybridHDP) -> None:
    """Refuse what no fit could make sense of, whatever its documents."""
    if np.ndim(given.eta) == 1:
        _check_eta_by_word(given)
    if given.phi_weight == "mean_field" and np.min(given.eta) < MEAN_FIELD_ETA:
        raise InputError(
            f"eta is {np.min(given.eta):g}, for which exp(psi(eta)) is too small to be represented; "
            f"give {MEAN_FIELD_ETA} or more, or set phi_weight='ratio'."
        )
    check_names("learn", given.learn, LEARNABLE)
    check_init(given.init, (RANDOM, *STARTS))


def _check_eta_by_word(given: HybridHDP) -> None:
    """Refuse what an eta for each word does not go with."""
    if given.grow_vocabulary:
        raise InputError(
            "eta is one for each word, but grow_vocabulary lets words join that have none; give a number, or the whole "
            "vocabulary and grow_vocabulary=False."
        )
    if given.top_level == UNBOUNDED and given.phi_weight == "mean_field":
        raise InputError(
            "eta is one for each word and top_level is 'unbounded', but a new topic has one weight for all words under "
            "phi_weight='mean_field'; set phi_weight='ratio' or top_level='truncated'."
        )


def lasting(pseudo: sparse.csr_array | None, *, of_seeds: bool) -> sparse.csr_array | None:
    """Return pseudo-counts that no step rounds away: words of seeds have the least that is kept, at least.

    Raises InputError if a row of eta is above its smallest number by less.
    """
    if pseudo is None:
        return None
    found = sparse.csr_array(pseudo, copy=True)
    if not of_seeds and (found.data < LEAST_TOKENS).any():
        raise InputError(
            f"a number of eta is {found.data.min():.3g} above its smallest, but HybridHDP keeps no pseudo-count below "
            f"{LEAST_TOKENS}; give rows whose numbers differ by more, or not at all."
        )
    found.data = np.maximum(found.data, LEAST_TOKENS)
    return found


def check_sizes(given: HybridHDP, corpus: Corpus, n_topics: int, batch_size: int) -> None:
    """Refuse more topics, or longer documents, than the memory can carry."""
    longest = float(np.max(corpus.document_lengths))
    tokens = LONGEST_BYTES * longest + TOKEN_BYTES * min(float(corpus.n_tokens), longest * batch_size)
    check_bytes(f"a document of {longest:.12g} tokens", tokens, "cut long documents into parts, or scale counts down")
    most_words = int(np.diff(corpus.counts.indptr).max(initial=0))  # of a document
    n_words = min(corpus.n_words, most_words * min(batch_size, corpus.n_documents))
    n_columns = n_topics * (1 + (given.top_level == UNBOUNDED))  # as many again for topics to come
    check_columns(n_words, n_columns, f"n_topics is {n_topics}")
    if isinstance(given.init, str) and given.init == "lda":
        check_memory(n_topics, corpus.n_words, sample_bytes(corpus) + START_BYTES * corpus.n_words * n_topics)


_BLOCK = 1 << 18  # entries of the corpus that are written out at once, some 40 bytes a token


def begin(
    given: HybridHDP,
    corpus: Corpus,
    n_topics: int,
    seed: int,
    share: float,
    engine: Engine,
    report: Callback,
    stop: Callable[[], bool],
    pseudo: sparse.csr_array | None = None,
) -> HybridState:
    """Return the globals at the start.

    `corpus`: the documents, or the first minibatch of them. `share`: documents of all to those of `corpus`. `engine`:
    where a start that finds topics runs. `report`: told of each sweep of a start that finds topics. `stop`: whether it
    is to end early; asked only while some of its work is left. `pseudo` (W, n_kept): pseudo-counts of topics that come
    before the others.
    """
    unbounded = given.top_level == UNBOUNDED
    if not isinstance(given.init, str):
        return state_from_topics(start_from_topics(given.init, corpus), corpus, share, unbounded=unbounded)
    if is_random(given.init):
        return random_state(corpus, n_topics, seed, share, unbounded=unbounded)
    settings = settings_of(given, n_topics, seed, engine, report, stop, pseudo)
    start = make_start(given.init, corpus, settings)
    if pseudo is None:
        return state_from_topics(start, corpus, share, unbounded=unbounded)
    return known_beside(start, pseudo, corpus, share, unbounded=unbounded)


def known_beside(
    start: Start, pseudo: sparse.csr_array, corpus: Corpus, share: float, *, unbounded: bool
) -> HybridState:
    """Start from topics whose counts hold pseudo-counts, which are not scaled; their topics have a table more."""
    n_kept, entries, counts = int(pseudo.shape[1]), pseudo.tocoo(), start.counts.copy()
    word, topic = entries.row.astype(np.int64), entries.col.astype(np.int64)
    counts[word, topic] = np.maximum(counts[word, topic] - entries.data, 0.0)
    state = state_from_topics(Start(counts, start.weights), corpus, share, unbounded=unbounded)
    known = KnownTopics(word, topic, entries.data.astype(np.float64), n_kept)
    table = state.pairs.dense(np.arange(state.n_topics)).T
    table[word, topic] += known.count
    state.pairs, state.known = WordTopics.from_dense(table), known
    state.tokens[:n_kept] += known.tokens
    state.tables[:n_kept] += 1.0
    return state


def random_state(corpus: Corpus, n_topics: int, seed: int, share: float, *, unbounded: bool = False) -> HybridState:
    """Start from tokens that are assigned to topics at random.

    Every topic then has many tables: under g_weight="mean_field" one without tables would never come back.

    `corpus`: the documents, or a minibatch of them. `share`: documents of all to those of `corpus`. `unbounded`:
    whether topics may be added.
    """
    rng, tables = stream(seed, "random start"), np.zeros(n_topics)
    found, times = np.zeros((2, 0), np.int64)  # pairs (word, topic) as one number each, increasing; their tokens
    for block in row_blocks(corpus.counts, _BLOCK):  # a corpus may be on disk, and larger than the memory
        tokens = Tokens.from_corpus(corpus[block])
        z = rng.integers(n_topics, size=tokens.word.size)
        found, times = _tally(found, times, tokens.word.astype(np.int64) * n_topics + z)
        document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
        tables += np.bincount(np.unique(document * n_topics + z) % n_topics, minlength=n_topics)
    size, topic = np.bincount(found // n_topics, minlength=corpus.n_words), (found % n_topics).astype(np.int32)
    pairs = WordTopics.from_pairs(size, topic, share * times.astype(np.float64), n_topics)
    return HybridState(pairs, pairs.sums(), share * tables, 0, unbounded)


def _tally(found: Int, times: Int, further: Int) -> tuple[Int, Int]:
    """Count further numbers among those that were found before, increasing, and how often each was."""
    numbers, n = np.unique(further, return_counts=True)
    place = np.searchsorted(found, numbers)
    known = np.append(found, -1)[place] == numbers
    times[place[known]] += n[known]
    new = ~known
    return np.insert(found, place[new], numbers[new]), np.insert(times, place[new], n[new])


def state_from_topics(start: Start, corpus: Corpus, share: float, *, unbounded: bool = False) -> HybridState:
    """Start from given topics, scaled to all tokens, with a table for each topic that a document would have."""
    counts = np.asarray(start.counts, dtype=np.float64) * (share * corpus.n_tokens / start.counts.sum())
    lengths = corpus.document_lengths.astype(np.float64)
    weights = start.weights / start.weights.sum()
    tables = share * np.array([float(np.sum(-np.expm1(lengths * np.log1p(-min(w, 1.0 - 1e-12))))) for w in weights])
    return HybridState(WordTopics.from_dense(counts), counts.sum(axis=0), tables, 0, unbounded)
