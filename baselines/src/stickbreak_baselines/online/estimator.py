"""The face that both online HDPs share: their starts, laps and streams."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import check_learned, require, saved_seed, whole_number
from stickbreak.fitting.checks import check_memory, check_tokens
from stickbreak.fitting.constraints import CONCENTRATIONS, STEPS, TOLERANCES, TOPIC_PRIORS, sweeps, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.loop import Callback, Interruption, Lap, Packed, Stop
from stickbreak.initialization import STARTS, check_init, sample_bytes
from stickbreak.initialization.start import RANDOM, finds_topics, offset_after
from stickbreak.model.estimator import KeptState, cached
from stickbreak.model.initial_topics import n_initial_topics
from stickbreak.model.seeds import base_of
from stickbreak.model.streaming import partial_fit
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import by_word
from stickbreak.numerics.ranges import LARGEST_OFFSET
from stickbreak.numerics.streams import seed_from
from stickbreak.path.joining_topics import pooled
from stickbreak.prediction.document_weights import WordRows, prior_and_rest
from stickbreak_baselines.minibatch import MOST_SHARDS, Minibatch
from stickbreak_baselines.online.laps import OnlineLaps, Rules, Steps
from stickbreak_baselines.online.starts import begin
from stickbreak_baselines.online.state import OnlineState

LDA = "lda"


class OnlineEstimator(TopicEstimator):
    """Base of the online HDPs: a method says what its steps are, and how many tables a document has."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ()
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicEstimator._fitted_values,
        "alpha_",
        "gamma_",
        "eta_",
        "learning_offset_",
        "n_documents_seen_",
    )
    _stream_only = ("total_documents",)
    _free = _stream_only

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicEstimator._parameter_constraints,
        **CONCENTRATIONS,
        **TOPIC_PRIORS,
        **STEPS,
        "n_topics": [None, whole(1)],
        "init": [str, "array-like", TopicEstimator],
        "init_sweeps": [whole(1)],
        "batch_size": [whole(1)],
        "local_tolerance": [*TOLERANCES],
        "local_sweeps": [sweeps(1)],
    }

    alpha: float
    gamma: float
    init: Any
    init_sweeps: int
    batch_size: int
    learning_decay: float
    learning_offset: float | None
    alpha_: float
    gamma_: float
    learning_offset_: float
    n_documents_seen_: int
    n_steps_: int
    _state: OnlineState
    _seed: int

    partial_fit = partial_fit

    @abstractmethod
    def _steps(self, rules: Rules, engine: Engine) -> Steps:
        """Return the method under these rules."""

    @abstractmethod
    def _tables_of_document(self, corpus: Corpus) -> float:
        """Return how many tables a document has at the start."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_init(self.init, (RANDOM, *STARTS))
        self._check_start_of_seeds(RANDOM, LDA)

    @property
    def _finds_topics(self) -> bool:
        return finds_topics(self.init)

    def _check_start(self, corpus: Corpus, batch_size: int, *, stream: bool = False) -> None:
        """Refuse what does not fit the documents or the memory."""
        check_tokens(corpus)
        self._check_words_of_eta(corpus.n_words)
        n_topics, entries = (
            self._starting_columns(corpus) + self._n_seeded,
            int(np.diff(corpus.counts.indptr).max(initial=0)),
        )
        rows = corpus.n_words + (MOST_SHARDS + 3) * min(corpus.n_words, entries * min(batch_size, corpus.n_documents))
        start = sample_bytes(corpus) if isinstance(self.init, str) and self.init == LDA else 0.0
        check_memory(n_topics, corpus.n_words, start + 8.0 * n_topics * rows)
        self._settled_topics(corpus, stream=stream)

    def _starting_columns(self, corpus: Corpus) -> int:
        """Return the number of topics that a start has."""
        return self.starting_topics(corpus) if isinstance(self.init, str) else n_initial_topics(self.init)

    def _check_documents(self, documents: Corpus) -> None:
        self._check_start(documents, int(self.batch_size))

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> OnlineLaps:
        offset = offset_after(self, min(1.0, self.batch_size / documents.n_documents))
        rules = self._given_rules(documents, offset, seed)
        return OnlineLaps(
            self._steps(rules, engine),
            documents,
            int(self.batch_size),
            lambda report, stop: self._begin(documents, rules, 1.0, engine, report, stop),
        )

    def _begin(
        self, documents: Corpus, rules: Rules, share: float, engine: Engine, report: Callback, stop: Stop
    ) -> OnlineState:
        """Return the state at the start."""
        n_topics, n_tables = self._starting_columns(documents), self._tables_of_document(documents)
        return begin(self, documents, n_topics, rules.seed, share, n_tables, engine, report, stop, rules.pseudo)

    def _take(self, laps: OnlineLaps, documents: Corpus) -> None:
        self._take_rules(laps.steps.rules, laps.state)
        self.n_documents_seen_ = documents.n_documents

    def _take_rules(self, rules: Rules, state: OnlineState) -> None:
        """Take state and hyperparameters of a fit or of the start of a stream."""
        self.alpha_, self.gamma_, self.eta_ = rules.alpha, rules.gamma, rules.eta
        self.learning_offset_, self._pseudo = rules.offset, rules.pseudo
        self._take_state(state, rules.seed)

    def _check_minibatch(self, minibatch: Corpus, *, first: bool) -> None:
        if first:
            self._check_start(minibatch, minibatch.n_documents, stream=True)

    def _open_stream(self, minibatch: Corpus, total: int, engine: Engine, interruption: Interruption) -> None:
        seed, share = seed_from(self.random_state), total / minibatch.n_documents
        rules = self._given_rules(minibatch, offset_after(self, 1.0), seed)
        state = self._begin(minibatch, rules, share, engine, lambda event: None, interruption.give_up_start)
        self._take_rules(rules, state)

    def _step(self, minibatch: Corpus, total: int, engine: Engine, start: None) -> Lap:
        steps = float(self.learning_decay), self.learning_offset_, self._seed
        rules = Rules(self.alpha_, self.gamma_, self.eta_, *steps, self._pseudo)
        state = self._state.copy()
        lap = self._steps(rules, engine).once(state, Minibatch.from_corpus(minibatch), total)
        self._take_state(state, self._seed)
        return lap

    def _given_rules(self, documents: Corpus, offset: float, seed: int) -> Rules:
        """Return the rules of the parameters."""
        pseudo = self._word_prior(documents.words).pseudo
        priors = float(self.alpha), float(self.gamma), base_of(self.eta)
        return Rules(*priors, float(self.learning_decay), offset, seed, pseudo)

    # The fitted side reads the state.

    @property
    def components_(self) -> Float:  # type: ignore[override]  # other families store them
        """Expected tokens of each word in each topic, plus eta, (K, W)."""
        check_is_fitted(self)
        return self._counts_of(slice(None)).T + self.eta_

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

    def _counts_of(self, words: NDArray[np.integer] | slice) -> Float:
        """Return the expected tokens of words in the topics that are shown, without eta, (n, K)."""
        state = self._state
        return state.scale * state.counts[words][:, state.alive()]

    def _words_in_topics(self) -> WordRows:
        return self._word_rows

    def _word_rows(self, words: NDArray[np.integer] | slice) -> Float:
        """Return the probabilities of words in the topics, (n, K)."""
        return (self._counts_of(words) + by_word(self.eta_, words)) / self._totals()

    @cached
    def _totals(self) -> Float:
        """Return what the expected counts of each topic, with eta, sum to, (K,)."""
        return np.asarray(self.components_.sum(axis=1))

    @cached
    def _document_prior(self) -> Float:
        return prior_and_rest(self.alpha_, self.topic_weights_)

    def _topic_tokens(self) -> Float:
        return self._state.tokens[self._state.alive()]

    def _seen_tokens(self) -> Float:
        tokens = self._topic_tokens().copy()
        if self._pseudo is not None:
            tokens[: self._n_kept] = np.maximum(tokens[: self._n_kept] - self._pseudo.sum(axis=0), 0.0)
        return tokens

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k], the largest first; what is not shown comes after them."""
        state, shown = self._state, self._state.alive()
        others = np.setdiff1d(np.arange(state.n_topics), shown)
        joined = [
            np.concatenate([pooled(table[shown], to), table[others]])
            for table in (state.counts.T, state.tokens, state.tables)
        ]
        self._pseudo = None  # a joined topic has no prior of its own
        self._state = OnlineState(np.ascontiguousarray(joined[0].T), state.scale, joined[1], joined[2], state.n_steps)

    def _take_state(self, state: OnlineState, seed: int) -> None:
        """Take a state for that of the model."""
        self._state, self._seed, self.n_steps_ = state, seed, state.n_steps

    def _kept_state(self) -> Packed:
        arrays, values = self._state.packed()
        identity = None if self._kept is None else self._kept.identity
        return arrays, {**values, "seed": self._seed, "identity": identity}

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        self._take_state(OnlineState.unpacked(arrays, values, self.n_features_in_), saved_seed(values["seed"]))
        identity = values["identity"]
        self._kept = None if identity is None else KeptState(dict(arrays), values, identity)

    def _check_fitted_state(self) -> None:
        super()._check_fitted_state()
        check_learned(self, LEARNABLE)
        whole_number("n_documents_seen_", self.n_documents_seen_)
        offset = self.learning_offset_
        require(isinstance(offset, float) and 0 <= offset <= LARGEST_OFFSET, "the offset of its steps cannot be")
