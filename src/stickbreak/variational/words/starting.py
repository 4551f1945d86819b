"""Where a variational fit to words begins: its likelihood, the topics of its start, and what is known of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.laps import Callback, Stop
from stickbreak.fitting.loop import Interruption
from stickbreak.fitting.requirements import adapted_topics, check_names
from stickbreak.initialization import STARTS, StartSettings, check_init, make_start, start_from_topics
from stickbreak.model.word_prior import base_of
from stickbreak.variational.moves import Proposals
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.words.fitted import FittedHDP
from stickbreak.variational.words.observed import sees_cells, settled, starting_parameters
from stickbreak.variational.words.proposals import word_proposals


class StartedHDP(FittedHDP):
    """The side of `VariationalHDP` that begins a fit."""

    init: Any
    init_sweeps: int
    learn: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("learn", self.learn or (), LEARNABLE)
        check_init(self.init, STARTS)
        self._check_start_of_seeds("lda")
        if not isinstance(self.likelihood, str) or self.likelihood != "multinomial":
            self._refuse_topics("a likelihood other than 'multinomial'")

    def _settle(self, documents: Corpus) -> None:
        """Set the likelihood, and the pseudo-counts of the topics that are known, for documents of a first fit."""
        prior = self._word_prior(documents.words)
        self._pseudo = prior.pseudo
        self.likelihood_ = settled(self.likelihood, documents, prior.base)

    @property
    def _finds_topics(self) -> bool:
        return isinstance(self.init, str)

    def _to_learn(self) -> tuple[str, ...]:
        """Return the hyperparameters that the laps of the memoized schedule learn."""
        if self.learn is None:
            return ("eta",) if "eta" in self.likelihood_.hyperparameters else ()
        if "eta" in self.learn and "eta" not in self.likelihood_.hyperparameters:
            raise InputError(f"learn names 'eta', which {type(self.likelihood_).__name__} lacks; leave it out.")
        return tuple(self.learn)

    def _proposals(self, documents: Corpus, seed: int) -> dict[str, Proposals]:
        """Return what births and refinements propose topics by; Gibbs sampling is for tokens."""
        if sees_cells(self.likelihood_):
            return {}
        n_topics, usual = self.starting_topics(documents), adapted_topics(self.default_topics, documents)
        fresh = self._finds_topics and (self.init != "lda" or n_topics < usual)
        return word_proposals(self._start_settings(max(n_topics, usual), seed) if fresh else None)

    def _start_settings(self, n_topics: int, seed: int) -> StartSettings:
        priors = self.alpha, self.gamma, base_of(self.eta)
        return StartSettings(n_topics + self._n_kept, *priors, seed, self.init_sweeps, pseudo=self._pseudo)

    def _begin(self, corpus: Corpus, seed: int, engine: Engine, report: Callback, stop: Stop) -> GlobalParameters:
        """Return the global parameters at the start."""
        settings = replace(
            self._start_settings(self.starting_topics(corpus), seed),
            progress=lambda done, total: report({"stage": "init", "done": done, "total": total}),
            engine=engine,
            stop=stop,
        )
        if isinstance(self.init, str):
            start = make_start(self.init, corpus, settings)
        else:
            start = start_from_topics(self.init, corpus)
        return starting_parameters(start, self.likelihood_, self.gamma, corpus.n_documents)

    def _open_stream(
        self, minibatch: Corpus, total: int, executor: Engine, interruption: Interruption
    ) -> GlobalParameters:
        self._settle(minibatch)
        return super()._open_stream(minibatch, total, executor, interruption)
