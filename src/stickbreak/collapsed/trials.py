"""How many topics a fit has, or begins with: trials of few and of more say (math.md (C26), (C27)).

Words of documents stand beside words of all their topics, so that co-occurrence may show fewer topics than there are.
Its corners are rough topics all the same, and Gibbs sampling forms them. Documents that are set apart say whether more
of them predict better. The passes of a fit do this, one by one: the first ones where documents are long, all where they
are short.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.companions import Companions, are_shown, dimensions_of, enough_dimensions, n_corners
from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.plans import APART, may_form, plan_of
from stickbreak.collapsed.predictive import Drawn, is_due, predictive_alpha
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import scores
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.walking import Documents
from stickbreak.corpus import Corpus
from stickbreak.fitting.alive import alive
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Packed
from stickbreak.numerics.arrays import Float
from stickbreak.sparse_gibbs import priors as chain_priors
from stickbreak.sparse_gibbs.chain import SAMPLE_EVERY, Chain

MOST_TOKENS = 1 << 25  # of a collection, each of which has a topic
JUDGES = 20  # documents set apart, at least
SURE, FEW = 1 << 14, 200  # stored counts of theirs that say which number of topics is better, and documents, at least
ENOUGH = 1 << 13  # stored counts of theirs that say what alpha is
PART = 1 << 18  # tokens of a part, at least: threads sweep these


class Trial:
    """Topics that Gibbs sampling forms.

    Parameters
    ----------
    corpus : Corpus
        The documents that take part.
    n_topics : int
    priors : Priors
        Of the fit. Weights of topics are learned from alike ones on.
    seed : int
    n_parts : int
        Of the documents and of the words, which are swept side by side. math.md (L11)
    engine : Engine, optional
        The default is the present thread.
    keeps_alpha : bool
        Whether alpha stays as it is until it is judged, or follows from the draws.
    """

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        priors: Priors,
        seed: int,
        n_parts: int = 1,
        engine: Engine | None = None,
        *,
        keeps_alpha: bool = False,
    ) -> None:
        self._chain = Chain(corpus, n_topics, seed, averages=True, n_parts=n_parts, executor=engine)
        self._priors = chain_priors.Priors.even(n_topics, priors.alpha, priors.eta)
        self._given, self._n_parts, self.passes, self.objective = priors, n_parts, 0, 0.0
        self._keeps_alpha = keeps_alpha

    def begin(self, topics: Float, alpha: float | None = None) -> Self:
        """Give each token one of the topics that have its word, (K, W); begin with another alpha, if there is one."""
        self._chain.begin_near(topics)
        self._priors = self._priors if alpha is None else self._priors.with_total(alpha)
        return self

    def go_on(self) -> None:
        """Make a pass, whose objective is the mean log p of a token given all others.          math.md (L2), (L4)"""
        self.passes += 1
        self.objective = self._chain.lap(self.passes, self._priors)
        alpha, self._priors = self._priors.alpha, self._chain.with_weights(self._priors, self.passes)
        if self._keeps_alpha:
            self._priors = self._priors.with_total(alpha)

    def judge_alpha(self, judges: Sequence[Shard], seed: int, engine: Engine) -> None:
        """Take the alpha that best predicts the tokens held out of documents that are set apart.      math.md (C24)"""
        counts = self._chain.last()
        topics = Drawn(counts, counts.sum(axis=0), self.weights, self.priors)
        most = max(self._given.alpha, self._priors.alpha)
        self._priors = self._priors.with_total(predictive_alpha(topics, judges, most, seed, engine))

    @property
    def weights(self) -> Float:
        """Expected weights of the topics, a_k / alpha, (K,)."""
        weights: Float = self._priors.a / self._priors.alpha
        return weights

    @property
    def priors(self) -> Priors:
        """Priors of the fit with the alpha that was learned."""
        return replace(self._given, alpha=self._priors.alpha)

    @property
    def n_topics(self) -> int:
        """Number of topics that have tokens in the last pass."""
        return self._chain.in_use.size

    def topics(self) -> Float:
        """Return the mean counts of the topics that have tokens in the mean, and eta, (K, W).          math.md (L3)"""
        counts = self._chain.counts()
        return np.ascontiguousarray(counts[:, alive(counts.sum(axis=0))].T) + self._given.eta

    def counts(self) -> tuple[Float, Float]:
        """Return the mean counts (W, K) and the tables (K,) of the topics of the last pass.    math.md (L3), (L4)

        These have all tokens: what a word has in other topics, in the mean, is shared out as its tokens are.
        """
        counts, k = self._chain.counts(), self._chain.in_use
        total, kept = counts.sum(axis=1), np.ascontiguousarray(counts[:, k])
        kept *= (total / np.maximum(kept.sum(axis=1), np.finfo(np.float64).tiny))[:, None]
        return kept, self._chain.tables(self._priors)[k]

    def scores(self, judges: Sequence[Shard], seed: int, engine: Engine) -> Float:
        """Return the log probability of the tokens held out of each of some documents, (D',)."""
        return scores(judges, self._chain.counts(), self.weights, self.priors, seed, engine)

    def packed(self) -> Packed:
        """Return what the next passes depend on, as arrays and plain values."""
        arrays, values = self._chain.snapshot()
        more = {**self._priors.row(), "passes": self.passes, "objective": self.objective, "n_parts": self._n_parts}
        return {**arrays, "a": self._priors.a}, {**values, **more}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> Self:
        """Take up what `packed` returned; a ValueError for what cannot be."""
        self.passes, self.objective = whole_number("passes", values["passes"]), values["objective"]
        require(values.get("n_parts", 1) == self._n_parts, "its passes swept the documents in other parts")
        sound = isinstance(self.objective, float) and math.isfinite(self.objective)
        require(sound, "the objective of a trial is not a number")
        require(values["n_samples"] == self.passes // SAMPLE_EVERY, "a trial has other samples than passes")
        self._priors = self._priors.restored(arrays["a"], values)
        self._chain.restore(arrays, values)
        return self


@dataclass(frozen=True, slots=True)
class Compared:
    """A trial, and the log probability of the tokens held out of each document that is set apart."""

    trial: Trial
    scores: Float  # (D',)


class Forming:
    """Passes that form topics of the words beside as many words as predict best.              math.md (C26), (C27)

    Parameters
    ----------
    documents : Documents
        Those that are set apart have no part in the topics, and judge them.
    rules : Rules
    engine : Engine
    """

    trial: Trial  # the one that passes go on with

    def __init__(self, documents: Documents, rules: Rules, engine: Engine) -> None:
        self._documents, self._rules, self._engine = documents, rules, engine
        self._plan = plan_of(documents)
        turns = range(self._plan.halvings)
        halves = [list(documents.walk(engine, halved, rules.seed + turn).listed) for turn in turns]
        self._judges = [_some_of(shards, SURE, FEW) for shards in halves]
        self._judges_of_alpha = _some_of(self._judges[0], ENOUGH)
        self._corpus = documents.chosen(taking_part(documents, engine))
        self._found: Companions | None = None  # what was looked at last
        self._dimensions = 0  # of it
        self._numbers: list[int] = []  # topics of the trials, in their order
        self._n_judged = 0  # trials that have been compared
        self.has_all = False  # whether documents set apart take part, too
        self._best: Compared | None = None

    @classmethod
    def of(cls, documents: Documents, rules: Rules, engine: Engine) -> Forming | None:
        """Return what forms the topics of some documents, before its first pass.

        None where documents are few or very many, too few are set apart, counts are weights, or some topics are given;
        of short documents also where a fit asks for expected shares, or learns more than alpha, or where words show
        too few topics.
        """
        if not may_form(documents, rules):
            return None
        forming = cls(documents, rules, engine)
        return forming if forming._is_suited() and forming._begin() else None

    def _is_suited(self) -> bool:
        """Return whether there are judges, and the tokens can have a topic each."""
        n_judges = self._documents.n_documents - self._corpus.n_documents
        corpus = self._all if self._plan.joins else self._corpus
        return n_judges >= JUDGES and corpus.n_tokens <= MOST_TOKENS and not (corpus.counts.data % 1.0).any()

    @property
    def _all(self) -> Corpus:
        """All documents."""
        return self._documents.chosen(np.arange(self._documents.n_documents))

    def _begin(self) -> bool:
        """Begin the first trial; return whether words show topics to begin with."""
        found = self._companions(0)
        if found is None or (self.lasts and not are_shown(found, self._documents.n_documents)):
            return False
        most = min(self._many, found.n_words, n_corners(self._dimensions_for(self._many)))
        self._numbers = self._plan.numbers(min(found.n_shown, self._rules.max_topics), most)
        self.trial = self._begun()
        return True

    @property
    def _many(self) -> int:
        return min(round(self._plan.many * math.sqrt(self._documents.n_counts)), self._rules.max_topics)

    def _dimensions_for(self, n_topics: int) -> int:
        """Return in how many dimensions words are seen where a trial has this number of topics."""
        if not self.lasts:
            return 2 * self._many
        least = dimensions_of(self._documents.n_documents)
        return enough_dimensions(least, n_topics) if self._plan.widens else least

    def _companions(self, n_topics: int) -> Companions | None:
        """Return what stands beside the words of the documents; None where no word is in enough of them."""
        dimensions = self._dimensions_for(n_topics)
        if self._found is None or self._dimensions != dimensions:
            self._found = Companions.of(self._documents, dimensions, self._rules.seed, self._engine)
            self._dimensions = dimensions
        return self._found

    @property
    def is_over(self) -> bool:
        """Whether the topics are formed, and other passes follow."""
        return self.n_left == 0

    @property
    def lasts(self) -> bool:
        """Whether all passes of the fit are of this kind."""
        return self._plan.lasts

    @property
    def is_early(self) -> bool:
        """Whether topics have yet to form, so that the fit does not end by itself."""
        return not self.lasts or self.is_trying or self.trial.passes < self._plan.settled

    @property
    def is_trying(self) -> bool:
        """Whether another number of topics is to be tried, or is being tried."""
        return self._n_judged < len(self._numbers)

    @property
    def is_full(self) -> bool:
        """Whether a larger number of topics was not tried because there may not be more."""
        return not self.is_trying and APART * self._numbers[-1] > self._rules.max_topics

    @property
    def best(self) -> Trial:
        """The trial that predicted best, or the first one while it goes on."""
        return self.trial if self._best is None else self._best.trial

    @property
    def n_left(self) -> int | None:
        """Passes that are left, at most; None: all."""
        if self._plan.forming is None:
            return None
        n_trials = len(self._numbers) - self._n_judged  # with the present one
        return self._plan.forming - self.trial.passes + max(n_trials - 1, 0) * self._plan.passes

    def go_on(self) -> None:
        """Make a pass."""
        if self._plan.joins and not self.is_trying and not self.has_all:
            self._join()
        self.trial.go_on()
        if self._judges_alpha and is_due(self.trial.passes):
            self.trial.judge_alpha(self._judges_of_alpha, self._rules.seed, self._engine)
        if self.is_trying and self.trial.passes == self._plan.passes:
            self._compare()

    @property
    def _judges_alpha(self) -> bool:
        """Whether documents that are set apart say what alpha is."""
        return self._plan.judges_alpha and "alpha" in self._rules.learn

    def _begun(self) -> Trial:
        """Begin the next trial."""
        n_topics = self._numbers[self._n_judged]
        found = self._companions(n_topics)
        assert found is not None
        topics = found.topics(n_topics, self._rules.priors.eta)
        return self._trial_of(len(topics)).begin(topics)

    def _trial_of(self, n_topics: int) -> Trial:
        corpus = self._all if self.has_all else self._corpus
        n_parts = min(max(1, int(corpus.n_tokens) // PART), self._plan.parts)
        given = corpus, n_topics, self._rules.priors, self._rules.seed, n_parts, self._engine
        return Trial(*given, keeps_alpha=self._plan.judges_alpha or (self.lasts and "alpha" not in self._rules.learn))

    def _compare(self) -> None:
        """Let the documents set apart say whether this trial is better than the best of those before."""
        scores = [self.trial.scores(judges, self._rules.seed, self._engine) for judges in self._judges]
        now, best = Compared(self.trial, np.mean(scores, axis=0)), self._best
        is_better = best is None or float((now.scores - best.scores).sum()) > 0
        if is_better:
            self._n_judged += 1
        else:
            self._numbers = self._numbers[: self._n_judged]  # the last one is taken
        self._best = best = now if is_better or best is None else best
        if self._n_judged < len(self._numbers):
            self.trial = self._begun()
        else:
            self.trial, self._best, self._found = best.trial, None, None

    def _join(self) -> None:
        """Let all documents take part, with the topics that were taken."""
        topics, alpha, self.has_all = self.trial.topics(), self.trial.priors.alpha, True
        self.trial = self._trial_of(len(topics)).begin(topics, alpha)

    def packed(self) -> Packed:
        """Return what the next passes depend on, as arrays and plain values."""
        arrays, values = _named("trial", self.trial.packed())
        if self._best is not None:
            more, plain = _named("best", self._best.trial.packed())
            arrays, values = {**arrays, **more, "best.scores": self._best.scores}, {**values, **plain}
        own = {"n_judged": self._n_judged, "numbers": list(self._numbers), "has_all": self.has_all}
        return arrays, {**values, **own}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `packed` returned.

        Raises
        ------
        KeyError, ValueError
            If it cannot be of these documents.
        """
        self._n_judged, numbers = whole_number("n_judged", values["n_judged"]), values["numbers"]
        require(isinstance(numbers, list) and bool(numbers), "it has no trials")
        self._numbers = [whole_number("number of topics", n) for n in numbers]
        most, ordered = self._rules.max_topics, self._plan.are_ordered(self._numbers)
        require(ordered and all(1 <= n <= most for n in self._numbers), "the topics of its trials cannot be")
        require(self._n_judged <= len(numbers), "it has compared too many trials")
        self.has_all = values.get("has_all", False)  # checkpoints of before do not say it
        require(self.has_all in (False, self._plan.joins and not self.is_trying), "its documents cannot take part")
        suited = may_form(self._documents, self._rules) and self._is_suited()
        require(suited, "Gibbs sampling forms no topics of these documents")
        self.trial, self._best = self._restored("trial", arrays, values), None
        least, last = self._bounds
        require(least <= self.trial.passes <= last, "its trial has made other passes than it can have")
        if 0 < self._n_judged < len(numbers):
            before, n_apart = arrays["best.scores"], sum(shard.indptr.size - 1 for shard in self._judges[0])
            require(is_table(before, n_apart), "the scores of its trial are not those of its documents")
            self._best = Compared(self._restored("best", arrays, values), before.copy())
            require(
                self._best.trial.passes == self._plan.passes, "its best trial has made other passes than it can have"
            )

    @property
    def _bounds(self) -> tuple[float, float]:
        """Passes that the present trial has made, at least and at most."""
        of_trial = self._plan.passes
        if self.is_trying:
            return 0, of_trial - 1
        if self._plan.joins:
            return (1, math.inf) if self.has_all else (of_trial, of_trial)
        return of_trial, self._plan.forming or math.inf

    def _restored(self, name: str, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> Trial:
        """Return a trial that was saved."""
        own, plain = _of_name(name, arrays), _of_name(name, values)
        n_topics = own["a"].size
        require(1 <= n_topics <= max(self._numbers), "it has trials of more topics than there can be")
        return self._trial_of(n_topics).restore(own, plain)


def _some_of(shards: list[Shard], n_counts: int, n_documents: int = 1) -> list[Shard]:
    """Return shards at equal steps, with about as many stored counts and documents or more; all if there are less."""
    counts, documents = sum(shard.word.size for shard in shards), sum(shard.indptr.size - 1 for shard in shards)
    return shards[:: max(1, min(counts // n_counts, documents // n_documents))]


def _named(name: str, packed: Packed) -> Packed:
    """Return what is packed under names that begin with this one."""
    arrays, values = packed
    return {f"{name}.{key}": part for key, part in arrays.items()}, {f"{name}.{k}": v for k, v in values.items()}


def _of_name(name: str, packed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is packed under names that begin with this one."""
    return {key.removeprefix(f"{name}."): part for key, part in packed.items() if key.startswith(f"{name}.")}
