"""Streams: `partial_fit` of `CollapsedHDP`, and what its steps go by."""

from __future__ import annotations

from collections.abc import Sequence

from stickbreak.collapsed.laps import columns_of
from stickbreak.collapsed.requirements import check_tables
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.steered import SteeredCollapsed
from stickbreak.collapsed.streaming import StepRules, Topics, begin, learned, offset_for, step
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Lap
from stickbreak.fitting.loop import Interruption
from stickbreak.fitting.requirements import check_tokens
from stickbreak.fitting.steps import step_size
from stickbreak.model.given_topics import given_counts, number_given
from stickbreak.model.word_prior import base_of
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.streams import seed_from


class StreamedCollapsed(SteeredCollapsed):
    """The side of `CollapsedHDP` that follows a stream."""

    alpha: float
    gamma: float
    learn: Sequence[str]
    smallest_share: float
    local_sweeps: int
    init_sweeps: int
    learning_decay: float
    learning_offset: float | None

    def _check_minibatch(self, minibatch: Corpus, *, first: bool) -> None:
        if first:
            check_tokens(minibatch)
            self._check_words_of_eta(minibatch.n_words)
            check_tables(minibatch, self._settled_topics(minibatch, stream=True), float(self.smallest_share), 0)

    def _open_stream(
        self, minibatch: Corpus, total: int, executor: Engine, interruption: Interruption
    ) -> tuple[Topics, float]:
        self._seed, self.final_passes_ = seed_from(self.random_state), "expected"
        self.learning_offset_ = offset_for(self.learning_offset, float(self.learning_decay), 1.0)
        random = isinstance(self.init, str)
        n_topics = self._starting_topics(minibatch, stream=True) if random else number_given(self.init)
        self._document_labels, steering = None, self._steering(minibatch)
        sweeps = n_topics + steering.n_kept, int(self.init_sweeps)
        share, given, stop = total / minibatch.n_documents, self._given(minibatch), interruption.give_up_start
        rules = self._priors(), self._step_rules()
        return begin(minibatch, *sweeps, *rules, share, executor, given, stop, steering)

    def _step(self, minibatch: Corpus, total: int, executor: Engine, start: tuple[Topics, float] | None) -> Lap:
        rules = self._step_rules()
        if start is not None:  # the sweeps of the start are the first step
            priors, (topics, log_p) = self._priors(), start
        else:
            priors, topics = Priors(self.alpha_, self.gamma_, self.eta_), self._topics
            if self.learning_offset_ is None:
                of_all = minibatch.n_documents / (self.n_documents_seen_ + minibatch.n_documents)
                self.learning_offset_ = offset_for(self.learning_offset, float(self.learning_decay), of_all)
            size = step_size(topics.n_steps + 1, float(self.learning_decay), self.learning_offset_)
            share = total / minibatch.n_documents
            topics, log_p = step(topics, minibatch, priors, rules, share, size, executor)
        priors = learned(topics, priors, rules.learn)
        self._take_topics(topics, priors, self._seed)
        return Lap(log_p / float(minibatch.n_tokens), topics.shown().size, False, columns_of(priors))

    def _given(self, corpus: Corpus) -> Float | None:
        """Return the expected counts of given topics, (K, W)."""
        return None if isinstance(self.init, str) else given_counts(self.init, corpus)

    def _priors(self) -> Priors:
        """Return the hyperparameters that were given."""
        return Priors(float(self.alpha), float(self.gamma), base_of(self.eta))

    def _step_rules(self) -> StepRules:
        """Return what the steps of a stream have in common."""
        return StepRules(float(self.smallest_share), int(self.local_sweeps), tuple(self.learn), self._seed)
