"""The face that both online HDPs share: their starts, laps and streams."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.fitting.constraints import CONCENTRATIONS, STEPS, TOLERANCES, TOPIC_PRIORS, sweeps, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import Executor
from stickbreak.fitting.laps import Callback, Lap, Stop
from stickbreak.fitting.loop import Interruption
from stickbreak.fitting.requirements import check_memory, check_tokens
from stickbreak.initialization import STARTS, check_init, sample_bytes
from stickbreak.initialization.streams import RANDOM, finds_topics, offset_after
from stickbreak.model.given_topics import number_given
from stickbreak.model.topic_model import TopicEstimator
from stickbreak.model.word_prior import base_of
from stickbreak.numerics.streams import seed_from
from stickbreak_baselines.minibatch import MOST_SHARDS, Minibatch
from stickbreak_baselines.online.fitted import FittedOnline
from stickbreak_baselines.online.laps import OnlineLaps, Rules, Steps
from stickbreak_baselines.online.starts import begin
from stickbreak_baselines.online.state import OnlineState

LDA = "lda"


class OnlineEstimator(FittedOnline):
    """Base of the online HDPs: a method says what its steps are, and how many tables a document has."""

    _stream_only = ("total_documents",)
    _free = _stream_only

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FittedOnline._parameter_constraints,
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

    @abstractmethod
    def _steps(self, rules: Rules, executor: Executor) -> Steps:
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
        return self.starting_topics(corpus) if isinstance(self.init, str) else number_given(self.init)

    def _check_documents(self, documents: Corpus) -> None:
        self._check_start(documents, int(self.batch_size))

    def _laps(self, documents: Corpus, seed: int, executor: Engine) -> OnlineLaps:
        offset = offset_after(self, min(1.0, self.batch_size / documents.n_documents))
        rules = self._given_rules(documents, offset, seed)
        return OnlineLaps(
            self._steps(rules, executor),
            documents,
            int(self.batch_size),
            lambda report, stop: self._begin(documents, rules, 1.0, executor, report, stop),
        )

    def _begin(
        self, documents: Corpus, rules: Rules, share: float, executor: Engine, report: Callback, stop: Stop
    ) -> OnlineState:
        """Return the state at the start."""
        n_topics, n_tables = self._starting_columns(documents), self._tables_of_document(documents)
        return begin(self, documents, n_topics, rules.seed, share, n_tables, executor, report, stop, rules.pseudo)

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

    def _open_stream(self, minibatch: Corpus, total: int, executor: Engine, interruption: Interruption) -> None:
        seed, share = seed_from(self.random_state), total / minibatch.n_documents
        rules = self._given_rules(minibatch, offset_after(self, 1.0), seed)
        state = self._begin(minibatch, rules, share, executor, lambda event: None, interruption.give_up_start)
        self._take_rules(rules, state)

    def _step(self, minibatch: Corpus, total: int, executor: Engine, start: None) -> Lap:
        steps = float(self.learning_decay), self.learning_offset_, self._seed
        rules = Rules(self.alpha_, self.gamma_, self.eta_, *steps, self._pseudo)
        state = self._state.copy()
        lap = self._steps(rules, executor).once(state, Minibatch.from_corpus(minibatch), total)
        self._take_state(state, self._seed)
        return lap

    def _given_rules(self, documents: Corpus, offset: float, seed: int) -> Rules:
        """Return the rules of the parameters."""
        pseudo = self._word_prior(documents.words).pseudo
        priors = float(self.alpha), float(self.gamma), base_of(self.eta)
        return Rules(*priors, float(self.learning_decay), offset, seed, pseudo)
