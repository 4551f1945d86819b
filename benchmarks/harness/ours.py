"""Our families as systems of the harness: their own defaults but for K at the start, seed and threads.

`work` learns a unit at a time and yields its processor seconds; `answer` is what a system has learned by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.harness.records import Record
from benchmarks.harness.units import Answer, Float, processor_seconds
from stickbreak import BackoffTreeTopics, GibbsHDP, HybridHDP, TopicModel, VariationalHDP
from stickbreak.corpus import Corpus
from stickbreak_baselines import (
    LDA,
    HierarchicalPachinko,
    NestedCRP,
    NestedHDP,
    OnlineHDP,
    Pachinko,
    SplitMergeOnlineHDP,
)

# Where a system has no concentration.
TOTAL_ALPHA = 5.0
CHUNK = 10
FIRST_ENDS = (2, 5)
MEMORY = Path("/dev/shm")


def looks(n_laps: int) -> list[int]:
    """Return the laps after which a fit can be looked at: early ones, then every tenth, then the last."""
    early = [lap for lap in FIRST_ENDS if lap < n_laps]
    return [*early, *range(CHUNK, n_laps, CHUNK), n_laps]


def own_prior(model: Any) -> Float:
    """Return a model's own concentrations, given or learned."""
    return model.alpha_ * model.topic_weights_


def usual_prior(model: Any) -> Float:
    """Return concentrations where a model has none."""
    return TOTAL_ALPHA * model.topic_weights_


class _Ours:
    """One of our estimators.

    Parameters
    ----------
    corpus : Corpus
    key : dict
        "K", "seed", and if need be "threads" and "settings" (parameters of the estimator).
    """

    kind: Callable[..., Any]
    given: Record = {}  # noqa: RUF012  (never changed)
    prior = staticmethod(own_prior)

    def __init__(self, corpus: Corpus, key: Record) -> None:
        self.passes = 0.0
        self._corpus = corpus
        common = {"random_state": key["seed"], "n_jobs": key.get("threads", 1)}
        self._settings = {**self.topics(key["K"]), **common, **self.given, **key.get("settings", {})}
        self.model: Any = None

    def topics(self, n_topics: int) -> Record:
        """Return the parameters for the number of topics at the start."""
        return {"n_topics": n_topics}

    def answer(self) -> Answer:
        return self.model.topic_word_, self.prior(self.model)


class _FromCheckpoints(_Ours):
    """Stops after some laps and goes on from its checkpoint, to the same bits; the checkpoints are on the clock.

    They are kept in memory where that has a folder (Linux), so that the clock does not show how fast a disk is.
    """

    def work(self) -> Iterator[float]:
        with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
            for n_laps in looks(self.kind(**self._settings).n_laps):
                self.model = self.kind(**{**self._settings, "n_laps": n_laps})
                fit = partial(self.model.fit, self._corpus, checkpoint=Path(place) / "fit", resume=True)
                seconds = processor_seconds(fit)
                self.passes = self.model.n_laps_
                yield seconds
                if self.model.converged_:
                    return


class Variational(_FromCheckpoints):
    """`VariationalHDP` by the memoized schedule."""

    kind = VariationalHDP


class VariationalStochastic(Variational):
    """`VariationalHDP` by the stochastic schedule."""

    given = {"schedule": "stochastic"}  # noqa: RUF012


class Hybrid(_FromCheckpoints):
    """`HybridHDP` in laps over minibatches."""

    kind = HybridHDP


class _Continued(_Ours):
    """Goes on with `continue_fit`, to the same bits."""

    laps = "n_laps"

    def work(self) -> Iterator[float]:
        n_laps, done = getattr(self.kind(**self._settings), self.laps), 0
        for end in looks(n_laps):
            if self.model is None:
                self.model = self.kind(**{**self._settings, **self.until(0, end, n_laps), self.laps: end})
                learn = partial(self.model.fit, self._corpus)
            else:
                further = {self.laps: end - done, **self.until(done, end, n_laps)}
                learn = partial(self.model.continue_fit, self._corpus, **further)
            seconds = processor_seconds(learn)
            self.passes = done = self.model.n_laps_
            yield seconds
            if self.model.converged_:
                return

    def until(self, done: int, end: int, n_laps: int) -> Record:
        """Return arguments of a unit of work, from one lap until another, that depend on all the laps to come."""
        return {}


class Default(_Continued):
    """`TopicModel`: it finds the number of topics, unless the setting "n_topics" gives it."""

    kind = TopicModel

    def topics(self, n_topics: int) -> Record:
        return {}


class Gibbs(_Continued):
    """`GibbsHDP`: the average over samples after burn-in; before that, over those of the last unit of work."""

    kind = GibbsHDP

    def until(self, done: int, end: int, n_laps: int) -> Record:
        given = self._settings.get("burn_in")
        burn_in = n_laps // 2 if given is None else given
        if end <= burn_in:
            return {"burn_in": done or None}
        return {"burn_in": burn_in if done <= burn_in else None}


class LatentDirichlet(_Continued):
    """`LDA` by variational inference."""

    kind = LDA

    @staticmethod
    def prior(model: Any) -> Float:
        return model.topic_prior_


class BackoffTree(_Continued):
    """`BackoffTreeTopics` of at least K leaves, as plain topics: its leaves, with shares of tokens as weights."""

    kind = BackoffTreeTopics
    prior = staticmethod(usual_prior)


class OnlineFranchise(_Continued):
    """`OnlineHDP` in laps over minibatches."""

    kind = OnlineHDP


class SplitMergeOnline(_Continued):
    """`SplitMergeOnlineHDP` in laps over minibatches, from one topic to at most K."""

    kind = SplitMergeOnlineHDP

    def topics(self, n_topics: int) -> Record:
        return {"n_topics": 1, "max_topics": n_topics}


class PachinkoAllocation(_Continued):
    """`Pachinko` as plain topics: without what super-topics know of topics that occur together."""

    kind = Pachinko
    prior = staticmethod(usual_prior)


class HierarchicalPachinkoAllocation(PachinkoAllocation):
    """`HierarchicalPachinko` as plain topics, those of the root and of super-topics among them."""

    kind = HierarchicalPachinko


class _OfNodes(_Continued):
    """A tree whose nodes are taken for plain topics; it has no K to start with."""

    prior = staticmethod(usual_prior)

    def topics(self, n_topics: int) -> Record:
        return {}


class NestedRestaurant(_OfNodes):
    """`NestedCRP`."""

    kind = NestedCRP


class NestedFranchise(_OfNodes):
    """`NestedHDP` in laps over minibatches."""

    kind = NestedHDP
